"""What the companion notebook carries with it: blanks, data, checks and timings."""
