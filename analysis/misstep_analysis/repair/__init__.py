"""Attempts to repair cases: how many are solved, what that takes, and which setting is better."""
