"""The reflexive harness: the failure modes' figures and the run tables, printed and recomputed.

The document describes failure modes of an agent that hardens a system rule by rule; its project prints each run in a
journal. No log of a run is available: only the agreement of the printed figures can be checked.
"""

from collections.abc import Sequence

from misstep_analysis.audit.tables import CheckedFigure, checked_figure, checked_rows, finding, recomputed_rows
from misstep_analysis.published import load_paper
from misstep_analysis.tables import FAILED, Status, Table, TableHead, made_by_this
from misstep_analysis.tables.wording import with_interval

RUNS = {
    "before": "Before the time budget",
    "planned": "As planned",
    "v2": "v2",
    "v3": "v3",
    "run1": "Run 1",
    "run2": "Run 2",
    "run3": "Run 3",
    "run4": "Run 4",
    "backfill": "Backfill of lessons",
    "run5": "Run 5",
    "run6": "Run 6",
    "cve_smoke": "Advisories, first trial",
    "cve_stock": "Advisories, stock system",
    "cve_hardened": "Advisories, hardened system",
}
"""Key of a run in the published figures → its name in a table, in the order of time."""

_FIX_RATES = {
    "v2": "remediated.share",
    "v3": "remediated.share",
    "run1": "remediated.share",
    "run2": "fix_rate",
    "run3": "aggregate_fix_rate",
    "run4": "aggregate_fix_rate",
    "run5": "scorecard.fix_rate",
    "run6": "scorecard.fix_rate",
}

FIXED = "Rules fixed"
_SLUG = "reflexive"


_FIX_RATES_TABLE = TableHead(
    "fix_rates",
    _SLUG,
    "Rules fixed, run by run (reflexive harness, run tables)",
    (
        "What a share is of changes from run to run: rules attempted, processed, or fixed and escalated.",
        "Each run is one run, and its rules are not independent of each other: the intervals are too narrow.",
    ),
)


@made_by_this
def fix_rate_table() -> Table:
    """Return the share of rules that each run fixed, as printed and from its counts."""
    paper = load_paper(_SLUG)
    rates = [
        checked_figure(paper, paper[f"runs.{key}.{part}"], FIXED, RUNS[key], with_count=True)
        for key, part in _FIX_RATES.items()
    ]
    fixed = {one.heading: one.share for one in rates if one.share.value is not None}
    least, most = (pick(fixed, key=lambda run: fixed[run].value or 0) for pick in (min, max))
    return _FIX_RATES_TABLE.table(
        (
            f"{finding(rates, 'the shares of rules fixed').rstrip('.')}; the share goes from "
            f"{with_interval(fixed[least], 'share')} in {least} to {with_interval(fixed[most], 'share')} in {most}."
        ),
        checked_rows(rates),
        drawn=recomputed_rows(one for one in rates if one.share.value is not None),
    )


_FAILURE_MODES = TableHead(
    "failure_modes",
    _SLUG,
    "Figures of the six failure modes (Failure Modes in Reflexive Agent Harnesses)",
    ("Only figures that another printed figure says something about are here.",),
)


@made_by_this
def failure_modes_table() -> Table:
    """Return the figures of the document itself that other printed figures give."""
    paper = load_paper(_SLUG)
    figures = [
        checked_figure(paper, figure, heading=figure.place)
        for figure in paper.figure
        if figure.derivations and not figure.id.startswith("runs.")
    ]
    return _FAILURE_MODES.table(finding(figures, "the document's own figures"), checked_rows(figures))


_CONTRADICTIONS = TableHead(
    "contradictions",
    _SLUG,
    "What does not fit together in the run tables (reflexive harness)",
    (
        "Differs: no values inside the rounding of the inputs print so. Impossible: no whole counts do.",
        "A suggestion is a small repair that would make the figures fit; only the authors can know.",
    ),
)


@made_by_this
def contradictions_table() -> Table:
    """Return the figures of the run tables that contradict other printed ones, the worst first."""
    figures = [figure for status in FAILED for figure in _run_figures((status,))]
    return _CONTRADICTIONS.table(finding(figures, "the run tables that failed"), checked_rows(figures))


_RUNS = TableHead(
    "runs",
    _SLUG,
    "What fits together in the run tables, and what cannot be told (reflexive harness)",
    (
        "Places are pages of the project's journal; a figure printed on two pages is compared with itself.",
        "A range comes from the rounding of printed inputs, such as hours with one decimal, not from sampling.",
    ),
)


@made_by_this
def runs_table() -> Table:
    """Return the figures of the run tables that others give or leave open, run by run."""
    figures = _run_figures(("reproduced", "underdetermined"))
    return _RUNS.table(finding(figures, "the run tables that did not fail"), checked_rows(figures))


def _run_figures(statuses: Sequence[Status]) -> list[CheckedFigure]:
    paper = load_paper(_SLUG)
    shown_before = {f"runs.{key}.{part}" for key, part in _FIX_RATES.items()}
    figures = [
        checked_figure(
            paper, figure, f"{_without_run(figure.row)}, {figure.column} ({figure.place})", name, statuses=statuses
        )
        for key, name in RUNS.items()
        for figure in paper.figure
        if figure.id.startswith(f"runs.{key}.") and figure.id not in shown_before and figure.derivations
    ]
    return [one for one in figures if one.checks]


def _without_run(row: str) -> str:
    return row.partition(": ")[2] or row
