"""The checks of the foundations' lab: a module for each step; the answer is the learner's folder.

Each TODO is a point of the lists on the lab's page, in its words.
"""
