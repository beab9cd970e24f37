"""Pages: one self-contained HTML file each, readable without scripts.

A notebook calls `show(table)` and `show_figure(svg, caption)`; a command calls `page(...)`.
"""

from misstep_analysis.pages.page import Foot, Section, Shown, page, show, show_figure, table_html
from misstep_analysis.tables.text import table_text

__all__ = ["Foot", "Section", "Shown", "page", "show", "show_figure", "table_html", "table_text"]
