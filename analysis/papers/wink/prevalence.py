"""Wink's prevalence tables: printed figures beside what their own counts give.

Table 1 prints counts and shares, so that each share can be worked out again. Table 2 prints shares alone and the
text three p-values: what they imply for the size of the arms is computed, under the assumption that both arms
were equal.
"""

import math
from collections.abc import Sequence

from msgspec import structs

from analysis.audit.arm_sizes import ArmSize, implied_arm_size
from analysis.audit.checks import check_figure
from analysis.audit.tables import recomputed_row, with_interval
from analysis.measures.prevalence import count_patterns, prevalence
from analysis.measures.validity import JudgedSet
from analysis.published import Figure, Paper, load_paper, published_row
from analysis.tables import Row, Table, estimate_row, made_by_this
from analysis.tables.wording import number_text

CATEGORIES = {
    "loops": "Infinite loops",
    "dnf": "Did not follow instructions",
    "uc": "Unrequested changes",
    "tcf": "Tool call failure",
}
"""The key of a category in the published figures → its name in a table."""

_ROWS = {**CATEGORIES, "any": "Any of the four"}

TABLE_1 = tuple(_ROWS.values())
"""The rows of table 1."""

_ANY = "any misbehaviour"


@made_by_this
def prevalence_table() -> Table:
    """Wink's table 1: share of trajectories a misbehaviour was detected in, printed and recomputed."""
    paper = load_paper("wink")
    n = int(paper["prevalence.n.caption"].number)
    shares = {name: paper[f"prevalence.{key}.share"] for key, name in _ROWS.items()}
    repeats = {
        f"Any of the four, {where}": paper[f"prevalence.any.share.{key}"]
        for key, where in (("text", "in the text"), ("abstract", "in the abstract"))
    }
    rows = [row for name, share in (shares | repeats).items() for row in share_rows(paper, share, name)]
    total = paper["prevalence.n.text"]
    for name, share in shares.items():
        other = structs.replace(share, inputs=share.inputs | {"n": total.id})
        printed, computed = share_rows(paper, other, name, f"with the text's total, {int(total.number):,}")
        # What does not fit here is the text's total: the share follows from the caption's.
        rows += [printed, structs.replace(computed, figures=total.named)]
    judged = [row.status for row in rows if row.status and not row.group]
    overall = next(row for row in rows if row.quantity == _ROWS["any"] and row.status)
    return Table(
        name="prevalence",
        paper="wink",
        title="Prevalence of misbehaviour in production trajectories (Wink, table 1)",
        finding=(
            f"{number_text(overall.value, 'share')} of {n:,} trajectories showed a misbehaviour (95% interval "
            f"{number_text(overall.low, 'share')} to {number_text(overall.high, 'share')}); "
            f"{judged.count('reproduced')} of {len(judged)} printed shares follow from the counts printed with them."
        ),
        rows=tuple(rows),
        notes=(
            "Recomputed: count over the caption's total, which is printed as “42,807k” and read as 42,807.",
            "A classifier whose own errors are not printed made the counts: the intervals are of sampling alone.",
            "The text gives another total, 42,920; the last rows show what the counts would print with it.",
        ),
    )


def share_rows(paper: Paper, share: Figure, name: str, group: str = "") -> list[Row]:
    """A printed share, and what the first way to work it out gives, with its count, n and interval."""
    recomputed = recomputed_row(share, check_figure(paper, share, share.derivations[0]), name, group)
    with_count = with_interval(paper, share, recomputed)
    return [published_row(share, name, n=with_count.n, group=group), with_count]


@made_by_this
def models_table() -> Table:
    """Wink's table 2: prevalence under two models, and the arm sizes that the printed p-values imply."""
    paper = load_paper("wink")
    rows: list[Row] = []
    p_values = [paper[f"models.{key}.p"] for key in CATEGORIES]
    for (key, name), p_value in zip(CATEGORIES.items(), p_values, strict=True):
        rows += [
            published_row(paper[f"models.{key}.sonnet"], "Sonnet 4.5", group=name),
            published_row(paper[f"models.{key}.opus"], "Opus 4.5", group=name),
            published_row(p_value, "p-value", group=name),
            arm_size_row(paper, p_value, name),
        ]
    return Table(
        name="models",
        paper="wink",
        title="Prevalence under two models (Wink, table 2)",
        finding=(
            "The shares of table 2 cannot be recomputed, since no counts are printed; taken as equal, "
            f"{_together(paper, p_values)}."
        ),
        rows=tuple(rows),
        notes=(
            "A two-sided pooled z test with equal arms is assumed; the paper names no test for this table.",
            "A range comes from the rounding of the printed shares and p-value, not from sampling.",
        ),
    )


def arm_size_row(paper: Paper, p_value: Figure, group: str) -> Row:
    """The size of either of two equal arms that a printed p-value implies, with the audit's sentence on it."""
    derivation = p_value.derivations[0]
    size = implied_arm_size(p_value, _compared(paper, p_value))
    checked = check_figure(paper, p_value, derivation)
    known = None if size is None or size.at_printed is None else round(size.at_printed)
    return Row(
        quantity="Size of each arm that gives this p-value",
        value=known,
        low=None if size is None else math.ceil(size.low),
        high=None if size is None or math.isinf(size.high) else math.floor(size.high),
        evidence="recomputed",
        source=p_value.place,
        status=checked.status,
        reason=checked.explanation,
        unit="count",
        method="pooled two-proportion z, solved for n; range by the rounding of the printed figures",
        group=group,
        figures=p_value.named,
    )


def _compared(paper: Paper, p_value: Figure) -> tuple[Figure, Figure]:
    """The two shares that a p-value compares."""
    inputs = p_value.derivations[0].inputs
    return paper[str(inputs["share1"])], paper[str(inputs["share2"])]


def _together(paper: Paper, p_values: Sequence[Figure]) -> str:
    """Whether one size of arms fits all p-values of an experiment, in words."""
    sizes = [size for p in p_values if (size := implied_arm_size(p, _compared(paper, p))) is not None]
    both = ArmSize(None, max(size.low for size in sizes), min(size.high for size in sizes))
    if both.low > both.high:
        return "no one size of arms fits all the p-values"
    return f"all {len(sizes)} p-values fit arms of {both.words} trajectories"


@made_by_this
def real_prevalence_table(sets: Sequence[JudgedSet], notes: Sequence[str] = ()) -> Table:
    """Prevalence by rule in the runs of public sets, a group a set.

    Parameters
    ----------
    sets
        The classified sets.
    notes
        What else to say, such as which sets are not at hand.
    """
    rows: list[Row] = []
    for judged in sets:
        found = prevalence(*count_patterns(judged.verdicts))
        shares = [(_ANY, found.any_share), *((one.category, one.share) for one in found.categories)]
        rows += [estimate_row(name, share, "share", judged.benchmark, judged.source) for name, share in shares]
    overall = [row for row in rows if row.quantity == _ANY and row.value is not None]
    return Table(
        name="real_prevalence",
        paper="wink",
        title="Misbehaviour by rule in public runs",
        finding=_spread(overall),
        rows=tuple(rows),
        notes=(
            "The rules are not Wink's classifiers and make errors of their own; the intervals are of sampling alone.",
            "Each set has its own agents, tasks and choice of runs: none says how often agents misbehave in general.",
            *notes,
        ),
        datasets=tuple(judged.benchmark for judged in sets),
    )


def _spread(overall: Sequence[Row]) -> str:
    if not overall:
        return "No set of runs is at hand."
    lowest, highest = (pick(overall, key=lambda row: float(row.value or 0)) for pick in (min, max))
    ends = [
        f"{number_text(row.value, 'share')} ({row.group}, 95% interval {number_text(row.low, 'share')} to "
        f"{number_text(row.high, 'share')})"
        for row in (lowest, highest)
    ]
    return f"On {len(overall)} public sets, the share of runs with a misbehaviour found by rule runs from " + (
        f"{ends[0]} to {ends[1]}."
    )
