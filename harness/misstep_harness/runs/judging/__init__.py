"""Runs of judges: their benchmarks, items and verdicts, asked or imported."""
