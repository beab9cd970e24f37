"""Attempts to get out of a sandbox, and the table of which sandbox stops which: `python -m benchmarks escapes`."""
