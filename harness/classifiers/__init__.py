"""A finished run → a category: one module a misbehaviour."""
