"""The foundations track: one module for each idea, named like its page."""
