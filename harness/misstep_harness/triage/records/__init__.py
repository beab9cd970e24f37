"""What runs of triage write."""
