"""What runs of the reflexive loop write."""
