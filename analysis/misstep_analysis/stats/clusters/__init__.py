"""Shares and differences of items that hang together."""
