"""A training loop in time: who works, who waits, and for whom."""
