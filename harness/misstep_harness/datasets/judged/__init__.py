"""Data sets in which people or judges labelled runs."""
