"""Recordings and measured tables of public data, made again."""
