"""The digits that the companion notebook finds."""
