"""What `misstep report` does with runs of `classify`: two compared, two groups of one compared, or one by groups."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from misstep.options.common import write_page
from misstep_harness.journal.opened import OpenRun

if TYPE_CHECKING:
    from misstep_analysis.sessions.session_rates import Grouping
    from misstep_analysis.stats.estimate import Estimate


def report_sessions(
    runs: Sequence[OpenRun],
    by: "Grouping | None",
    groups: tuple[str, str] | None,
    out: Path | None,
    again: str,
    *,
    json: bool,
) -> "dict[str, Estimate]":
    """Compare two runs of `classify`, or two groups of one, or show one by groups; gives the changes for limits."""
    from misstep_analysis.sessions.comparison_report import (
        changes_of,
        compared_groups,
        compared_runs,
        comparison_json,
        comparison_page,
        rates_json,
        rates_page,
    )

    first, compared = runs[0], None
    if by is not None and groups is None:
        name, figures = f"by_{by}.html", partial(rates_json, first, by)
        page = partial(rates_page, first, by, again)
    else:
        compared = compared_groups(first, by, groups) if by is not None and groups else compared_runs(runs)
        name, figures = "comparison.html", partial(comparison_json, compared)
        page = partial(comparison_page, compared, runs, again)
    if out or not json:
        write_page("--out", out or first.folder / name, page())
    print(figures() if json else f"{out or first.folder / name}\n", end="")
    return changes_of(compared) if compared else {}
