"""Figures, drawn from the same rows as the tables: inline SVG with a text alternative, ready for `show_figure`.

Every mark has its label beside it, so that grey print loses nothing. A figure's module is imported when it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from misstep_analysis.plots.drawing import can_draw
    from misstep_analysis.plots.points import confusion, crossed, curves, funnel, heat_map
    from misstep_analysis.plots.rows import bars, forest, small_multiples

__all__ = ["bars", "can_draw", "confusion", "crossed", "curves", "forest", "funnel", "heat_map", "small_multiples"]

_MODULES = {"can_draw": "drawing", "bars": "rows", "forest": "rows", "small_multiples": "rows"}


if not TYPE_CHECKING:  # a type checker would take any name for one that is here

    def __getattr__(name: str) -> object:
        """Return a figure, whose module is imported now."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'points')}"), name)
