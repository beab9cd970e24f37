"""The audit of printed figures: each is computed again from the figures that it depends on, and judged.

`checks.check_figure` is the entry; `tables` shows the results as rows.
"""
