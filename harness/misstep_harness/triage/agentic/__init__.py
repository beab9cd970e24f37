"""Judges of triage cases that ask a model: by one prompt, or as an investigator with commands, as the access allows."""
