"""What the rules find in the runs of several sets: where in a run it happens, and examples with their evidence."""

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import structs

from analysis.measures.prevalence import YES
from analysis.measures.validity import JudgedSet
from analysis.stats.proportions import wilson
from analysis.tables import Evidence, Row, Table, estimate_row, made_by_this
from analysis.tables.wording import interval_words, number_text
from harness.verdict import Verdict

FIFTHS = ("first fifth", "second fifth", "third fifth", "fourth fifth", "last fifth")

FEWEST_DRAWN = 10
"""In how many runs a category has to be found for its places to be drawn."""


def with_set(sets: Sequence[JudgedSet]) -> Iterator[Verdict]:
    """The verdicts of all sets, each item named with its set, since sets use the same ids."""
    for judged in sets:
        for verdict in judged.verdicts:
            yield structs.replace(verdict, item=f"{judged.benchmark}/{verdict.item}")


def weight_note(sets: Sequence[JudgedSet]) -> tuple[str, ...]:
    """A sentence on the set that most runs are from, where it is more than half of them."""
    runs = {judged.benchmark: len(judged.n_steps) for judged in sets}
    largest = max(runs, key=lambda name: runs[name], default="")
    if len(sets) < 2 or 2 * runs[largest] <= sum(runs.values()):
        return ()
    return (
        f"{runs[largest]:,} of the {sum(runs.values()):,} runs are of one set, {largest}, and outweigh the others.",
    )


def noted(table: Table, notes: Sequence[str]) -> Table:
    """The table with further notes."""
    return structs.replace(table, notes=(*table.notes, *notes))


def datasets_of(sets: Sequence[JudgedSet]) -> tuple[str, ...]:
    """The names of the public data sets among the sets."""
    return tuple(judged.benchmark for judged in sets if judged.evidence == "real")


def evidence_of(sets: Sequence[JudgedSet]) -> Evidence:
    """What kind of evidence the sets are together: generated as soon as one of them is."""
    return "generated" if any(judged.evidence == "generated" for judged in sets) else "real"


def source_of(sets: Sequence[JudgedSet]) -> str:
    """What the sets are together, in a few words."""
    return sets[0].source if len(sets) == 1 else f"{len(sets)} public sets"


@made_by_this
def place_table(sets: Sequence[JudgedSet]) -> Table:
    """In which fifth of a run the first evidence of each category stands, over flagged runs."""
    places = [
        (verdict.judge, FIFTHS[5 * min(verdict.steps) // judged.n_steps[verdict.item]])
        for judged in sets
        for verdict in judged.verdicts
        if verdict.label == YES and verdict.steps
    ]
    categories = dict.fromkeys(verdict.judge for judged in sets for verdict in judged.verdicts)
    flagged, at = Counter(category for category, _ in places), Counter(places)
    rows = {
        category: [
            estimate_row(
                fifth,
                wilson(at[category, fifth], flagged[category]),
                "share",
                category,
                "first evidence step over the number of steps",
                evidence_of(sets),
            )
            for fifth in FIFTHS
        ]
        for category in categories
    }
    return Table(
        name="places",
        paper="your_agents",
        title="Where in a run misbehaviour first shows",
        finding=_place_finding(places),
        rows=tuple(row for of_category in rows.values() for row in of_category),
        notes=("A run counts once a category, at its first evidence step; runs differ in length.",),
        datasets=datasets_of(sets),
        drawn=tuple(row for category in categories if flagged[category] >= FEWEST_DRAWN for row in rows[category]),
    )


def _place_finding(places: Sequence[tuple[str, str]]) -> str:
    if not places:
        return "No misbehaviour was found, so there is no place to show."
    early = sum(fifth in FIFTHS[:2] for _, fifth in places)
    share = wilson(early, len(places))
    return (
        f"{number_text(share.value, 'share')} of {len(places):,} findings first show in the first two fifths of the "
        f"run ({interval_words(share.low, share.high, 'share')})."
    )


@made_by_this
def examples_table(sets: Sequence[JudgedSet], each: int = 3) -> Table:
    """The first flagged runs of each category, no two of one set while there are others, with the rule's sentence.

    Parameters
    ----------
    sets
        The classified sets.
    each
        How many examples a category gets.
    """
    rows = []
    for category in dict.fromkeys(verdict.judge for judged in sets for verdict in judged.verdicts):
        flagged = [
            [(judged, verdict) for verdict in judged.verdicts if (verdict.judge, verdict.label) == (category, YES)]
            for judged in sets
        ]
        for judged, verdict in _in_turn(flagged)[:each]:
            steps = ", ".join(str(step) for step in verdict.steps[:6])
            more = " …" if len(verdict.steps) > 6 else ""
            rows.append(
                Row(
                    quantity=verdict.item,
                    value=f"steps {steps}{more}",
                    n=judged.n_steps[verdict.item],
                    evidence=judged.evidence,
                    source=judged.source,
                    reason=verdict.rationale,
                    unit="text",
                    group=category,
                    example=f"{judged.benchmark}/{verdict.item}#{min(verdict.steps)}" if verdict.steps else "",
                    datasets=datasets_of([judged]),
                )
            )
    return Table(
        name="examples",
        paper="your_agents",
        title="What the rules say of some runs",
        finding=f"{len(rows)} examples, each with its evidence steps and the rule's own sentence.",
        rows=tuple(rows),
        notes=("n is the number of steps of the run; steps count from 0.",),
        datasets=datasets_of(sets),
    )


def _in_turn(
    flagged: Sequence[Sequence[tuple[JudgedSet, Verdict]]],
) -> list[tuple[JudgedSet, Verdict]]:
    """One of each set, then a second of each, and so on."""
    longest = max(map(len, flagged), default=0)
    return [found[place] for place in range(longest) for found in flagged if place < len(found)]
