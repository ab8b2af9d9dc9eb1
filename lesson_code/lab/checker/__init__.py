"""Grades a learner's file, TODO by TODO, in a process of its own that can be stopped."""
