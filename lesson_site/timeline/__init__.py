"""The timeline: a training loop in time, drawn and told for what a reader chooses."""
