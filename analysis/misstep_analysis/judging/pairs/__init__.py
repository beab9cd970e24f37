"""Runs of judges compared with each other or with themselves."""
