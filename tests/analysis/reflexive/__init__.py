"""Measures of the reflexive loop."""
