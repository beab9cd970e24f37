"""Wink's prevalence tables: printed figures beside those that their own counts give.

Table 1 prints counts and shares, so that each share can be computed again. Table 2 prints shares alone and the
text three p-values: the sizes of equal arms that they imply are computed.
"""

import math
from collections.abc import Sequence

from msgspec import structs

from misstep_analysis.audit.checks import check_figure
from misstep_analysis.audit.p_values import ArmSize, implied_arm_size
from misstep_analysis.audit.tables import CheckedFigure, checked_rows, printed_count, recomputed_rows
from misstep_analysis.published import Figure, Paper, load_paper, published_row
from misstep_analysis.sessions.run_findings import sets_table
from misstep_analysis.sessions.validity import JudgedSet
from misstep_analysis.tables import Row, Table, TableHead, made_by_this
from misstep_analysis.tables.wording import interval_words, number_text

CATEGORIES = {
    "loops": "Infinite loops",
    "dnf": "Did not follow instructions",
    "uc": "Unrequested changes",
    "tcf": "Tool call failure",
}

_ROWS = {**CATEGORIES, "any": "Any of the four"}

_ANY = "any misbehaviour"


_PREVALENCE = TableHead(
    "prevalence",
    "wink",
    "Prevalence of misbehaviour in production trajectories (Wink, table 1)",
    (
        "Recomputed: count over the caption's total, which is printed as “42,807k” and read as 42,807.",
        "A classifier whose own errors are not printed made the counts: the intervals are of sampling alone.",
        "The text gives another total, 42,920; the last rows are the counts as shares of it, which nothing claims.",
    ),
)


@made_by_this
def prevalence_table() -> Table:
    """Return Wink's table 1: share of trajectories with a detected misbehaviour, printed and recomputed."""
    paper = load_paper("wink")
    n = int(paper["prevalence.n.caption"].number)
    shares = {key: checked_share(paper, paper[f"prevalence.{key}.share"], name) for key, name in _ROWS.items()}
    repeats = [
        checked_share(paper, paper[f"prevalence.any.share.{key}"], f"Any of the four, {where}")
        for key, where in (("text", "in the text"), ("abstract", "in the abstract"))
    ]
    judged = [*shares.values(), *repeats]
    rows = checked_rows(judged)
    total = paper["prevalence.n.text"]
    group = f"with the text's total, {int(total.number):,}"
    checks = tuple(check_figure(paper, total, derivation) for derivation in total.derivations)
    rows += checked_rows([CheckedFigure(total, "Trajectories, in the text", group, checks)])
    for share in shares.values():
        other = structs.replace(share.figure, inputs=share.figure.inputs | {"n": total.id})
        (computed,) = recomputed_rows([checked_share(paper, other, share.name, group)])
        # The paper claims no share of this total, so that none is judged by it.
        rows.append(structs.replace(computed, figures=total.named, status=None, reason=""))
    overall = shares["any"].share
    reproduced = sum(check.status == "reproduced" for one in judged for check in one.checks)
    return _PREVALENCE.table(
        (
            f"{number_text(overall.value, 'share')} of {n:,} trajectories showed a misbehaviour "
            f"({interval_words(overall.low, overall.high, 'share')}); "
            f"{reproduced} of {len(judged)} printed shares follow from the counts printed with them."
        ),
        rows,
        drawn=recomputed_rows(shares.values()),
    )


def checked_share(paper: Paper, share: Figure, name: str, group: str = "") -> CheckedFigure:
    """Return a printed share in the first way to compute it, with the count and the n behind it."""
    count, check = printed_count(paper, share), check_figure(paper, share, share.derivations[0])
    return CheckedFigure(share, name, group, (check,), None if count is None else count.n, count)


_MODELS = TableHead(
    "models",
    "wink",
    "Prevalence under two models (Wink, table 2)",
    (
        "A two-sided pooled z test with equal arms is assumed; the paper names no test for this table.",
        "A range comes from the rounding of the printed shares and p-value, not from sampling.",
    ),
)


@made_by_this
def models_table() -> Table:
    """Return Wink's table 2: prevalence under two models, and the arm sizes that the printed p-values imply."""
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
    return _MODELS.table(
        (
            "The shares of table 2 cannot be recomputed, since no counts are printed; taken as equal, "
            f"{_together(paper, p_values)}."
        ),
        rows,
    )


def arm_size_row(paper: Paper, p_value: Figure, group: str) -> Row:
    """Return the size of either of two equal arms that a printed p-value implies, with the audit's sentence on it."""
    size, checked = arm_size(paper, p_value), check_figure(paper, p_value, p_value.derivations[0])
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


def arm_size(paper: Paper, p_value: Figure) -> ArmSize | None:
    """Return the size of either of two equal arms that a p-value implies with the two shares that it compares."""
    inputs = p_value.derivations[0].inputs
    return implied_arm_size(p_value, [paper[str(inputs[name])] for name in ("share1", "share2")])


def _together(paper: Paper, p_values: Sequence[Figure]) -> str:
    sizes = [size for p_value in p_values if (size := arm_size(paper, p_value)) is not None]
    both = ArmSize(None, max(size.low for size in sizes), min(size.high for size in sizes))
    if both.low > both.high:
        return "no one size of arms fits all the p-values"
    return f"all {len(sizes)} p-values fit arms of {both.words} trajectories"


@made_by_this
def real_prevalence_table(sets: Sequence[JudgedSet], notes: Sequence[str] = ()) -> Table:
    """Return prevalence by rule in the runs of public sets, a group a set."""
    table = sets_table(sets)
    notes = (
        "The rules are not Wink's classifiers and make errors of their own; the intervals are of sampling alone.",
        *table.notes,
        *notes,
    )
    return structs.replace(table, name="real_prevalence", paper="wink", notes=notes)
