"""Pages: one self-contained HTML file each, readable without scripts.

A notebook calls `show(table)` and `show_figure(svg, caption)`; a command calls `page(...)`.
"""

from analysis.report.display import Shown, show, show_figure
from analysis.report.foot import Foot
from analysis.report.page import page
from analysis.report.table_html import table_html
from analysis.report.table_text import table_text

__all__ = ["Foot", "Shown", "page", "show", "show_figure", "table_html", "table_text"]
