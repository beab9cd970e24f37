"""Figures, drawn from the same rows as the tables: inline SVG with a text alternative, ready for `show_figure`.

Every mark has its label beside it, so that grey print loses nothing.
"""

from misstep_analysis.plots.drawing import can_draw
from misstep_analysis.plots.points import confusion, crossed, curves, funnel, heat_map
from misstep_analysis.plots.rows import bars, forest, small_multiples

__all__ = ["bars", "can_draw", "confusion", "crossed", "curves", "forest", "funnel", "heat_map", "small_multiples"]
