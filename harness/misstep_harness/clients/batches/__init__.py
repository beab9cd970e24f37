"""Requests that a server answers as one batch."""
