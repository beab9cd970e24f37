"""Measures: records in, typed results out."""
