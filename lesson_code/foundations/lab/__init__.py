"""The foundations' lab: annotated sources of what learners write, and what they are given."""
