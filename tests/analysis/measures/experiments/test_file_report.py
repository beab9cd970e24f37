"""A user's CSV to tables."""
