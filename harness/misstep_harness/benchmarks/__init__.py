"""Benchmark folders: found or built, what tells one version from another, the runs in them, and what a judge saw."""
