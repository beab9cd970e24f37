"""A judge in use, as tables: the prevalence that it finds, whether it says the same again, and what an item costs."""

from collections.abc import Sequence

from misstep.analysis.measures.judging.item_costs import ItemCosts, PerItem
from misstep.analysis.measures.judging.judged_prevalence import JudgedPrevalence
from misstep.analysis.measures.judging.pairs.stability import Stability, Votes
from misstep.analysis.tables import Row, Table, Unit, estimate_row, made_by_this
from misstep.analysis.tables.wording import counted_text, number_text, points_text, with_interval

_PAPER = "judging"
_MEASURES: dict[str, tuple[str, Unit]] = {
    "seconds": ("Seconds", "seconds"),
    "input_tokens": ("Tokens in", "count"),
    "output_tokens": ("Tokens out", "count"),
    "cost_usd": ("Cost", "usd"),
}


@made_by_this
def prevalence_table(found: JudgedPrevalence, source: str) -> Table:
    """Return how often the positive label holds: by the judge, by people, and put right for the judge's errors."""
    group = f"“{found.positive}”"
    figures = [
        ("As the judge says", found.judge),
        ("As people say, where they do", found.people),
        ("Sensitivity", found.sensitivity),
        ("Specificity", found.specificity),
    ]
    if found.labelled < found.answered:
        figures += [
            ("Corrected by sensitivity and specificity", found.corrected),
            ("Prediction-powered", found.prediction_powered),
        ]
        notes = [
            "The corrections suppose that the items with a gold label are like a random sample of all, and that the "
            "judge errs as often on the others; items on whose label raters tie count as without one.",
        ]
    else:
        notes = ["Every item answered has a gold label: nothing is left to carry the judge's errors over to."]
    if found.unanswered:
        lowest, highest = number_text(found.lowest, "share"), number_text(found.highest, "share")
        notes.append(
            f"Not answered: {counted_text(found.unanswered, 'item')}; were none or all of them positive, the judge's "
            f"share would be {lowest} or {highest}."
        )
    return Table(
        name="prevalence",
        paper=_PAPER,
        title=f"How often “{found.positive}” holds",
        finding=_prevalence_finding(found),
        rows=tuple(estimate_row(name, estimate, "share", group, source) for name, estimate in figures),
        notes=tuple(notes),
    )


def _prevalence_finding(found: JudgedPrevalence) -> str:
    if found.judge.value is None:
        return f"How often “{found.positive}” holds is not known: {found.judge.reason}."
    told = f"The judge says “{found.positive}” of {with_interval(found.judge, 'share')} of "
    told += counted_text(found.answered, "item")
    if found.corrected.value is not None:
        return f"{told}; corrected for its errors it holds for {with_interval(found.corrected, 'share')}."
    if found.labelled == found.answered:
        return f"{told}, people of {with_interval(found.people, 'share')}."
    return f"{told}; it cannot be corrected: {found.corrected.reason}."


@made_by_this
def votes_table(found: Votes, source: str) -> Table:
    """Return how often all votes agree, and how often an answer with so many votes is right."""
    group = f"{found.votes} votes an item"
    rows = [
        estimate_row("Answers with all votes", found.unanimous, "share", group, source),
        *(
            estimate_row(f"Accuracy with {one.votes} of {found.votes} votes", one.accuracy, "share", group, source)
            for one in found.by_votes
        ),
    ]
    return Table(
        name="votes",
        paper=_PAPER,
        title="Votes within the run",
        finding=f"All {found.votes} votes give the answer on {with_interval(found.unanimous, 'share')} of the items.",
        rows=tuple(rows),
    )


@made_by_this
def stability_table(found: Stability, names: Sequence[str], source: str) -> Table:
    """Return how far repeated runs of a judge say the same."""
    together, answers = f"{found.runs} runs", counted_text(found.cached, "answer")
    rows = [
        estimate_row("Items whose label changes", found.changed, "share", together, source),
        estimate_row("Items whose outcome changes, no answer being one", found.changed_all, "share", together, source),
        estimate_row("Agreement of two runs", found.agreement, "share", together, source),
        estimate_row("Fleiss' kappa of the runs", found.fleiss_kappa, "coefficient", together, source),
        estimate_row("Krippendorff's alpha of the runs", found.krippendorff_alpha, "coefficient", together, source),
        *(
            Row(quantity=name, value=value, n=found.runs, unit="share", group=together, source=source)
            for name, value in (
                ("Accuracy, greatest less least", found.spread),
                ("Accuracy, standard deviation over runs", found.deviation),
            )
        ),
        *(
            estimate_row("Accuracy, unanswered counted as wrong", accuracy, "share", name, source)
            for name, accuracy in zip(names, found.accuracies, strict=True)
        ),
    ]
    return Table(
        name="stability",
        paper=_PAPER,
        title="Repeated runs of one judge",
        finding=_stability_finding(found),
        rows=tuple(rows),
        notes=(
            f"Over what all runs were asked about: {counted_text(found.n, 'item')}.",
            *([f"From a cache, which repeats itself: {answers}."] if found.cached else []),
        ),
    )


def _stability_finding(found: Stability) -> str:
    if found.changed.value is None:
        return f"Whether labels change from run to run cannot be told: {found.changed.reason}."
    told = f"The label changes between {found.runs} runs on {with_interval(found.changed, 'share')}"
    spread = ""
    if found.spread is not None:
        spread = f"; the accuracy varies by {points_text(found.spread)}"
    return f"{told} of {counted_text(found.changed.n or 0, 'item')}{spread}."


@made_by_this
def costs_table(found: ItemCosts, source: str) -> Table:
    """Return what an item takes in time, tokens and money, what came from a cache apart."""
    measures = [("", found.now), (", from the cache", found.from_cache)]
    rows = [
        row
        for kind, of_kind in measures
        for name, one in of_kind.items()
        if one.reported
        for row in _rows_of_measure(name, one, kind, source)
    ]
    return Table(
        name="costs",
        paper=_PAPER,
        title="What an item takes",
        finding=_costs_finding(found),
        rows=tuple(rows),
        notes=(
            "n is how many verdicts say what was spent; an item that was not answered counts as well.",
            *(["What came from the cache was spent at its first time, not now."] if found.cached else []),
        ),
    )


def _rows_of_measure(name: str, one: PerItem, kind: str, source: str) -> list[Row]:
    title, unit = _MEASURES[name]
    group = title + kind
    others = (("Median", one.median), ("95th percentile", one.percentile_95), ("Total", one.total))
    return [
        estimate_row("Mean", one.mean, unit, group, source),
        *(
            Row(quantity=what, value=value, n=one.reported, unit=unit, group=group, source=source)
            for what, value in others
        ),
    ]


def _costs_finding(found: ItemCosts) -> str:
    told = []
    for name in ("cost_usd", "seconds"):
        one = found.now[name]
        if one.reported:
            whose = f"by {counted_text(one.reported, 'verdict')}"
            told.append(with_interval(one.mean, _MEASURES[name][1], whose))
    cached = f"; {found.cached:,} of {found.asked + found.cached:,} came from the cache" if found.cached else ""
    if not told:
        return f"No verdict says what it cost{cached}."
    return f"An item asked now takes {' and '.join(told)} in the mean{cached}."
