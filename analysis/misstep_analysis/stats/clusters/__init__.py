"""Shares and differences of clustered items."""
