"""What the rules find in the runs of several sets: where in a run it happens, and examples with their evidence."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, zip_longest

from msgspec import structs

from misstep_analysis.sessions.prevalence import YES, count_patterns, prevalence
from misstep_analysis.sessions.validity import JudgedSet
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import Row, Table, TableHead, made_by_this, measured_on, rows_in
from misstep_analysis.tables.wording import interval_words, number_text, with_interval
from misstep_harness.verdict import Verdict

_ANY = "any misbehaviour"

FIFTHS = ("first fifth", "second fifth", "third fifth", "fourth fifth", "last fifth")

FEWEST_DRAWN = 10

_SETS = TableHead(
    "by_set",
    "your_agents",
    "Misbehaviour by rule in public runs",
    ("Each set has its own agents, tasks and choice of runs: none says how often agents misbehave in general.",),
)
_PLACES = TableHead(
    "places",
    "your_agents",
    "Where in a run misbehaviour first shows",
    ("A run counts once a category, at its first evidence step; runs differ in length.",),
)
_EXAMPLES = TableHead(
    "examples",
    "your_agents",
    "What the rules say of some runs",
    ("n is the number of steps of the run; steps count from 0.",),
)

_MADE_UP = (
    "The rules' sentences quote the runs, and recorded labels are without texts: no public run is here, and these runs "
    "are generated."
)


def with_set(sets: Sequence[JudgedSet]) -> Iterator[Verdict]:
    """Return the verdicts of all sets, each item named with its set, since sets use the same ids."""
    for judged in sets:
        for verdict in judged.verdicts:
            yield structs.replace(verdict, item=f"{judged.benchmark}/{verdict.item}")


@made_by_this
def sets_table(sets: Sequence[JudgedSet]) -> Table:
    """The share of runs that show each misbehaviour and any, a group a set; sets are unlike, and none is pooled."""
    rows: list[Row] = []
    by_category: list[Row] = []
    overall = {}
    for judged in sets:
        shares = prevalence(*count_patterns(judged.verdicts))
        overall[judged.benchmark] = shares.any_share
        where = judged.benchmark, judged.source
        categories = rows_in("share", {one.category: one.share for one in shares.categories}, *where)
        rows += measured_on(judged.benchmark, [*rows_in("share", {_ANY: shares.any_share}, *where), *categories])
        by_category += categories
    return _SETS.table(_spread(overall), rows, datasets=datasets_of(sets), drawn=by_category)


def _spread(overall: Mapping[str, Estimate]) -> str:
    known = {name: share for name, share in overall.items() if share.value is not None}
    if not known:
        return "No set of runs is available."
    least, most = (pick(known, key=lambda name: known[name].value or 0) for pick in (min, max))
    noun = "the share of runs with a misbehaviour found by rule"
    if len(known) == 1:
        return f"On one public set, {noun} is {with_interval(known[most], 'share', most)}."
    return (
        f"On {len(known)} public sets, {noun} runs from {with_interval(known[least], 'share', least)} "
        f"to {with_interval(known[most], 'share', most)}."
    )


def pooled(table: Table, sets: Sequence[JudgedSet]) -> Table:
    """Return a table of all runs together, whose finding says which sets they are of and which outweighs the others."""
    runs = {judged.benchmark: len(judged.n_steps) for judged in sets}
    if len(runs) < 2:
        return table
    largest = max(runs, key=lambda name: runs[name])
    sentence = (
        f"These are the runs of {len(runs)} unlike sets put together, {runs[largest]:,} of them of {largest} alone."
    )
    return structs.replace(table, finding=f"{table.finding} {sentence}")


def noted(table: Table, notes: Sequence[str]) -> Table:
    """Return the table with further notes."""
    return structs.replace(table, notes=(*table.notes, *notes))


def datasets_of(sets: Sequence[JudgedSet]) -> tuple[str, ...]:
    """Return the names of the public data sets among the sets."""
    return tuple(judged.benchmark for judged in sets if judged.evidence == "real")


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
        category: rows_in(
            "share",
            {fifth: wilson(at[category, fifth], flagged[category]) for fifth in FIFTHS},
            category,
            "first evidence step over the number of steps",
        )
        for category in categories
    }
    drawn = (row for category in categories if flagged[category] >= FEWEST_DRAWN for row in rows[category])
    every = chain.from_iterable(rows.values())
    return _PLACES.table(_place_finding(places), every, datasets=datasets_of(sets), drawn=drawn)


def _place_finding(places: Sequence[tuple[str, str]]) -> str:
    if not places:
        return "No misbehaviour was found, so no place is shown."
    early = sum(fifth in FIFTHS[:2] for _, fifth in places)
    share = wilson(early, len(places))
    return (
        f"{number_text(share.value, 'share')} of {len(places):,} findings first show in the first two fifths of the "
        f"run ({interval_words(share.low, share.high, 'share')})."
    )


@made_by_this
def examples_table(sets: Sequence[JudgedSet], each: int = 3) -> Table:
    """The first flagged runs of each category, no two of one set while there are others, with the rule's sentence."""
    rows = []
    for category in dict.fromkeys(verdict.judge for judged in sets for verdict in judged.verdicts):
        flagged = [
            [(judged, verdict) for verdict in judged.verdicts if (verdict.judge, verdict.label) == (category, YES)]
            for judged in sets
        ]
        # One of each set, then a second of each, and so on.
        in_turn = (pair for turn in zip_longest(*flagged) for pair in turn if pair)
        for judged, verdict in islice(in_turn, each):
            steps = ", ".join(map(str, verdict.steps[:6])) + (" …" if len(verdict.steps) > 6 else "")
            row = Row(
                verdict.item,
                f"steps {steps}",
                n=judged.n_steps[verdict.item],
                evidence=judged.evidence,
                source=judged.source,
                reason=verdict.rationale,
                unit="text",
                group=category,
                example=f"{judged.benchmark}/{verdict.item}#{min(verdict.steps)}" if verdict.steps else "",
                datasets=datasets_of([judged]),
            )
            rows.append(row)
    finding = f"{len(rows)} examples, each with its evidence steps and the rule's own sentence."
    datasets = datasets_of(sets)
    notes = () if datasets else (_MADE_UP,)
    return _EXAMPLES.table(finding, rows, notes, datasets=datasets)
