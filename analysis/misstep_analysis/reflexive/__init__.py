"""Runs of the reflexive loop measured: what the events of its log say, and what each mechanism changes."""
