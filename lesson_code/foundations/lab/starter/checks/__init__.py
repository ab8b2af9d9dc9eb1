"""What `check.py` runs: one module a step, one or more checks a point."""
