"""Statistics that were weighed and are not shown: how often they are wrong is measured beside those that are.

What a command, a table or a notebook shows is in `analysis.stats`.
"""
