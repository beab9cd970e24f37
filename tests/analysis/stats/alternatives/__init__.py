"""Statistics that only reference values and comparisons in tests need."""
