"""Runs of the repair agent: on cases, from instructions, on a repository."""
