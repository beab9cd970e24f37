"""A judge among its raters, as tables: the human ceiling, and whether it could stand in for a rater."""

from misstep.analysis.measures.judging.people.alternative_annotator import AlternativeAnnotator
from misstep.analysis.measures.judging.people.ceiling import ALONE, Ceiling
from misstep.analysis.tables import Row, Table, estimate_row, made_by_this
from misstep.analysis.tables.wording import counted_text, number_text, with_interval

_PAPER = "judging"
_TOGETHER = "All raters"
_MOST_RATERS = 20


@made_by_this
def ceiling_table(found: Ceiling, source: str) -> Table:
    """Return the judge's agreement with people beside people's with each other; `source` is what it was measured on."""
    figures = [
        estimate_row("Agreement of two raters", found.people, "share", _TOGETHER, source),
        estimate_row("Agreement of judge and rater", found.judge, "share", _TOGETHER, source),
        estimate_row("Judge less people", found.difference, "difference", _TOGETHER, source),
        estimate_row("Kappa of the raters", found.people_kappa, "coefficient", _TOGETHER, source),
        estimate_row("Kappa of judge and raters", found.judge_kappa, "coefficient", _TOGETHER, source),
        estimate_row("Kappa, judge less people", found.kappa_difference, "coefficient", _TOGETHER, source),
    ]
    if found.judge_all.n != found.judge.n:
        name = "Agreement of judge and rater, unanswered counted as none"
        figures.append(estimate_row(name, found.judge_all, "share", _TOGETHER, source))
    return Table(
        name="ceiling",
        paper=_PAPER,
        title="The judge against people, and people against people",
        finding=_ceiling_finding(found),
        rows=tuple(figures),
        notes=(
            "Over the items answered that two raters or more labelled, each weighing the same; near misses on a scale "
            "count as disagreement.",
            "Kappa takes chance from how often all raters together, and the judge, use each label.",
        ),
    )


@made_by_this
def raters_table(found: Ceiling, source: str) -> Table:
    """Return how often judge and other raters agree with each rater; `source` is what it was measured on."""
    rows: list[Row] = []
    for one in found.raters[:_MOST_RATERS]:
        rows += [
            estimate_row("Judge", one.judge, "share", one.rater, source),
            estimate_row("Other raters", one.others, "share", one.rater, source),
            estimate_row("Judge less others", one.difference, "difference", one.rater, source),
        ]
    known = [one for one in found.raters if one.difference.value is not None]
    nearer = sum((one.difference.value or 0.0) > 0 for one in known)
    return Table(
        name="agreement_by_rater",
        paper=_PAPER,
        title="Agreement with each rater",
        finding=_raters_finding(nearer, len(known)),
        rows=tuple(rows),
        notes=("On the items that the rater, another one and the judge labelled.", *_shown_of(len(found.raters))),
    )


def _raters_finding(nearer: int, known: int) -> str:
    if not known:
        return f"Whether the judge agrees with a rater more often than other raters do cannot be told: {ALONE}."
    raters = counted_text(known, "rater")
    return f"With {nearer:,} of {raters} the judge agrees more often than other raters do."


def _shown_of(raters: int) -> tuple[str, ...]:
    return (f"The first {_MOST_RATERS} of {raters:,} raters are shown.",) if raters > _MOST_RATERS else ()


def _ceiling_finding(found: Ceiling) -> str:
    if found.difference.value is None:
        return f"There is no human ceiling to hold the judge against: {found.difference.reason}."
    judge, people = (number_text(one.value, "share") for one in (found.judge, found.people))
    items = counted_text(found.n, "item")
    return (
        f"The judge agrees with a rater on {judge} of {items} and two raters with each other on {people}: a difference "
        f"of {with_interval(found.difference, 'difference')}."
    )


@made_by_this
def alternative_annotator_table(found: AlternativeAnnotator, source: str) -> Table:
    """Whether the judge is as near to the other raters as each rater in turn; `source` is what it was measured on."""
    rows = [
        Row(
            quantity=name,
            value=rate,
            n=len(found.raters),
            unit="share",
            group=_TOGETHER,
            source=source,
            reason=found.reason,
        )
        for name, rate in (
            ("Winning rate", found.winning_rate),
            ("Winning rate, unanswered counted as lost", found.winning_rate_all),
        )
    ]
    left_out = counted_text(found.left_out, "rater")
    rows.append(estimate_row("Mean advantage probability", found.advantage, "share", _TOGETHER, source))
    return Table(
        name="alternative_annotator",
        paper=_PAPER,
        title="Whether the judge could stand in for a rater",
        finding=_stand_in_finding(found),
        rows=tuple(rows),
        notes=(
            f"The alternative annotator test of Calderon, Reichart and Dror (2025) with epsilon {found.epsilon:g}; "
            f"nearness is {found.alignment}; t-tests over {found.units}.",
            "Epsilon is 0.2 for trained experts, 0.15 for skilled raters and 0.1 for crowd workers: a judge that "
            "passes at 0.2 need not be as good as a rater.",
            *([f"Sharing too few items with the others: {left_out}."] if found.left_out else []),
        ),
    )


@made_by_this
def stand_in_by_rater_table(found: AlternativeAnnotator, source: str) -> Table:
    """Return the alternative annotator test against each rater; `source` is what it was measured on."""
    rows: list[Row] = []
    for one in found.raters[:_MOST_RATERS]:
        shares = (("Judge at least as near", one.judge), ("Rater at least as near", one.human))
        p_values = (("p", one.p_value), ("p, adjusted after Benjamini and Yekutieli", one.p_adjusted))
        rows += [
            Row(quantity=name, value=value, n=one.n, unit="share", group=one.rater, source=source)
            for name, value in shares
        ]
        rows += [
            Row(quantity=name, value=value, n=one.n, unit="p", group=one.rater, source=source)
            for name, value in p_values
        ]
    wins, raters = sum(one.wins for one in found.raters), counted_text(len(found.raters), "rater")
    return Table(
        name="alternative_annotator_by_rater",
        paper=_PAPER,
        title="The judge against each rater left out",
        finding=f"The judge wins against {wins:,} of {raters} at epsilon {found.epsilon:g}.",
        rows=tuple(rows),
        notes=("Near to the raters that remain; where both are equally near, both are.", *_shown_of(len(found.raters))),
    )


def _stand_in_finding(found: AlternativeAnnotator) -> str:
    if found.winning_rate is None:
        return f"Whether the judge could replace a rater cannot be told: {found.reason}."
    rate = number_text(found.winning_rate, "share")
    could = "passes" if found.replaces else "does not pass"
    told = (
        f"The judge {could} the alternative annotator test at epsilon {found.epsilon:g}, which asks whether it comes "
        f"as near to the other raters as the one it would replace: it wins against {rate} of "
    )
    worse = ""
    if found.winning_rate_all != found.winning_rate:
        worse = f" ({number_text(found.winning_rate_all, 'share')} with the unanswered counted as lost)"
    advantage = with_interval(found.advantage, "share")
    return f"{told}{len(found.raters):,} raters{worse}; mean advantage probability {advantage}."
