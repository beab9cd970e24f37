"""The audit of printed figures: each is worked out again from the figures that it depends on, and judged.

`checks.check_figure` is the way in; `tables` shows what was found as rows.
"""
