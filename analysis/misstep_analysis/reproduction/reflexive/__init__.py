"""Runs of the reflexive loop: their reports, their recording, and the studies of its mechanisms."""
