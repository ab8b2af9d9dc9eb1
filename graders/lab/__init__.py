"""What is asked of an answer: one module an exercise, one or more checks a TODO."""
