"""What public harnesses leave of their runs."""
