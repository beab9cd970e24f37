"""Figures from whole counts alone: the same as from the records that were counted, wherever these lie."""

from misstep.analysis.measures.counted.report import CountedReport, counted_report

__all__ = ["CountedReport", "counted_report"]
