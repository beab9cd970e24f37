"""Figures from whole counts."""
