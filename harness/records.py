"""Rows out and in: the seam between what runs and what counts."""
