"""Pages of the reflexive loop."""
