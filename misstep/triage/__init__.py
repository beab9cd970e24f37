"""`misstep triage`."""
