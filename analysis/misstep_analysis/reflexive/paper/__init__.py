"""Failure modes in reflexive harnesses: runs and mechanisms."""
