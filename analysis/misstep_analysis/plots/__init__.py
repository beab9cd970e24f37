"""Figures, drawn from the same rows as the tables: inline SVG with a text alternative, ready for `show_figure`.

Every mark has its label beside it, so that grey print loses nothing.
"""
