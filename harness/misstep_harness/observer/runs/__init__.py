"""Runs of the observer over recorded sessions."""
