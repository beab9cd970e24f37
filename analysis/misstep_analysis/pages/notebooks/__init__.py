"""Notebooks as pages, with the origin of each figure and the index."""
