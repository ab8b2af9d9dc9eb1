"""What the mission's page shows: its model's numbers and texts, as data and as tables."""
