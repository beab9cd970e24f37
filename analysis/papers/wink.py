"""Wink's prevalence tables: printed figures beside what their own counts give.

Table 1 prints counts and shares, so that each share can be worked out again. Table 2 prints shares alone and the
text three p-values: what they imply for the size of the arms is computed, under the assumption that both arms
were equal.
"""

import math
from collections.abc import Iterable, Sequence

from msgspec import structs
from scipy.stats import norm

from analysis.formatting import number_text
from analysis.prevalence import count_patterns, prevalence
from analysis.published import Figure, Paper, load_paper, published_row
from analysis.stats.audit import counts_that_print, decimals, prints_as
from analysis.stats.proportions import wilson
from analysis.tables import Row, Status, Table
from analysis.validity import JudgedSet

CATEGORIES = {
    "loops": "Infinite loops",
    "dnf": "Did not follow instructions",
    "uc": "Unrequested changes",
    "tcf": "Tool call failure",
}
"""The key of a category in the published figures → its name in a table."""

TABLE_1 = (*CATEGORIES.values(), "Any of the four")
"""The rows of table 1."""

_ANY = "any misbehaviour"


def prevalence_table() -> Table:
    """Wink's table 1: share of trajectories a misbehaviour was detected in, printed and recomputed."""
    paper = load_paper("wink")
    rows: list[Row] = []
    for key, name in [*CATEGORIES.items(), ("any", "Any of the four")]:
        count, share = paper[f"prevalence.{key}.count"], paper[f"prevalence.{key}.share"]
        rows += [published_row(share, name, n=_n(paper)), _recomputed_share(name, share, count, paper)]
    for key, where in (("text", "in the text"), ("abstract", "in the abstract")):
        printed, name = paper[f"prevalence.any.share.{key}"], f"Any of the four, {where}"
        rows += [published_row(printed, name, n=_n(paper)), _recomputed_share(name, printed, _any(paper), paper)]
    rows += _other_total_rows(paper)
    judged = [row.status for row in rows if row.status and not row.group]
    overall = next(row for row in rows if row.quantity == "Any of the four" and row.status)
    return Table(
        name="prevalence",
        paper="wink",
        title="Prevalence of misbehaviour in production trajectories (Wink, table 1)",
        finding=(
            f"{number_text(overall.value, 'share')} of {_n(paper):,} trajectories showed a misbehaviour (95% interval "
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


def _n(paper: Paper) -> int:
    return int(paper["prevalence.n.caption"].number)


def _any(paper: Paper) -> Figure:
    return paper["prevalence.any.count"]


def _recomputed_share(name: str, share: Figure, count: Figure, paper: Paper, total: Figure | None = None) -> Row:
    total = total or paper["prevalence.n.caption"]
    found, n = int(count.number), int(total.number)
    estimate = wilson(found, n)
    status, reason = _share_status(share, found, n)
    return Row(
        quantity=name,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        n=n,
        evidence="recomputed",
        source=f"{found:,} / {n:,}, {count.place}",
        status=status,
        reason=reason,
        unit="share",
        method=estimate.method,
    )


def _share_status(share: Figure, count: int, n: int) -> tuple[Status, str]:
    """Whether the count and the total give the printed share, at the digits it is printed with."""
    if prints_as(count, n, share.digits) or (share.approximate and _is_about(100 * count / n, share.digits)):
        return "reproduced", ""
    exact = f"{count:,} / {n:,} is {100 * count / n:.{decimals(share.digits) + 1}f}%, not {share.digits}%"
    if not counts_that_print(share.digits, n):
        return "impossible", f"{exact}, and no whole count of {n:,} prints so."
    return "differs", f"{exact}."


def _is_about(percentage: float, printed: str) -> bool:
    """Whether a number rounds to the printed one at the last digit that is not 0."""
    step = 10 ** (len(printed) - len(printed.rstrip("0")))
    return bool(round(percentage / step) * step == int(printed))


def _other_total_rows(paper: Paper) -> Iterable[Row]:
    """What the printed counts give with the total of the text instead of the caption's."""
    total = paper["prevalence.n.text"]
    for key, name in [*CATEGORIES.items(), ("any", "Any of the four")]:
        share, count = paper[f"prevalence.{key}.share"], paper[f"prevalence.{key}.count"]
        group = f"with the text's total, {int(total.number):,}"
        row = _recomputed_share(name, share, count, paper, total)
        yield published_row(share, name, n=int(total.number), group=group)
        yield structs.replace(row, group=group)


def models_table() -> Table:
    """Wink's table 2: prevalence under two models, and the arm sizes that the printed p-values imply."""
    paper = load_paper("wink")
    rows: list[Row] = []
    sizes: list[tuple[float, float]] = []
    for key, name in CATEGORIES.items():
        first, second, p_value = (paper[f"models.{key}.{part}"] for part in ("sonnet", "opus", "p"))
        rows += [
            published_row(first, "Sonnet 4.5", group=name),
            published_row(second, "Opus 4.5", group=name),
            published_row(p_value, "p-value", group=name),
        ]
        size, low, high = implied_arm_size(first, second, p_value)
        bounded_below = p_value.printed.startswith("<")
        sizes.append((low, math.inf if bounded_below else high))
        rows.append(
            Row(
                quantity="Size of each arm that gives this p-value",
                value=None if bounded_below else round(size),
                low=round(low),
                high=None if bounded_below else round(high),
                evidence="recomputed",
                source=f"{first.place}; {p_value.place}",
                status="underdetermined",
                reason=(
                    f"Neither counts nor arm sizes are printed; with equal arms, p {_equals(p_value)} needs "
                    + (f"at least {low:,.0f}" if bounded_below else f"{low:,.0f} to {high:,.0f}")
                    + " trajectories in each, the rounding of the shares allowed for."
                ),
                unit="count",
                method="pooled two-proportion z, solved for n",
                group=name,
            )
        )
    low, high = max(size[0] for size in sizes), min(size[1] for size in sizes)
    together = (
        f"all four p-values fit arms of {low:,.0f} to {high:,.0f} trajectories"
        if low <= high
        else "no one size of arms fits all four p-values"
    )
    return Table(
        name="models",
        paper="wink",
        title="Prevalence under two models (Wink, table 2)",
        finding=f"The shares of table 2 cannot be recomputed, since no counts are printed; taken as equal, {together}.",
        rows=tuple(rows),
        notes=(
            "A two-sided pooled z test with equal arms is assumed; the paper names no test for this table.",
            "A range comes from the rounding of the printed shares and p-value, not from sampling.",
        ),
    )


def _equals(p_value: Figure) -> str:
    return p_value.printed if p_value.printed.startswith("<") else f"= {p_value.printed}"


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
        rows += [
            Row(
                quantity=name,
                value=share.value,
                low=share.low,
                high=share.high,
                n=share.n,
                source=judged.source,
                reason=share.reason,
                unit="share",
                method=share.method,
                group=judged.benchmark,
            )
            for name, share in shares
        ]
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


def implied_arm_size(first: Figure, second: Figure, p_value: Figure) -> tuple[float, float, float]:
    """The size of two equal arms at which a pooled two-sided z test of two shares gives a p-value.

    n = z² · 2 · p̄ (1 - p̄) / d², with p̄ the mean share and d their difference.

    Returns
    -------
    tuple
        The size at the printed figures, and the least and greatest that figures with the same printed digits give.
    """
    p_step = 0.5 * 10.0 ** -decimals(p_value.digits)
    corners = [
        _arm_size(a, b, p)
        for a in _edges(first)
        for b in _edges(second)
        for p in (
            [p_value.number] if p_value.printed.startswith("<") else [p_value.number - p_step, p_value.number + p_step]
        )
    ]
    return _arm_size(first.number, second.number, p_value.number), min(corners), max(corners)


def _edges(share: Figure) -> tuple[float, float]:
    half_step = 0.5 * 10.0 ** -(decimals(share.digits) + 2)
    return share.number - half_step, share.number + half_step


def _arm_size(first: float, second: float, p_value: float) -> float:
    mean = (first + second) / 2
    z = float(norm.isf(p_value / 2))
    return 2 * mean * (1 - mean) * z**2 / (first - second) ** 2
