"""What runs of the repair agent write."""
