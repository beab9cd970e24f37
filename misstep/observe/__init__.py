"""`misstep observe`."""
