"""What a training step costs on a GPU that is not here: counted, and forecast from the counts."""
