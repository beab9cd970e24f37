"""What notebooks, `reproduce` and reports ask for: named runs over named data."""
