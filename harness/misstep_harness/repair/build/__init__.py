"""Benchmarks of repair cases: planted in released packages, or taken from the history of a repository."""
