"""Wink's prevalence tables: printed figures beside those that their own counts give.

Table 1 prints counts and shares, so that each share can be computed again. Table 2 prints shares alone and the
text three p-values: the sizes of equal arms that they imply are computed.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, zip_longest

from msgspec import structs

from misstep_analysis.audit.checks import check_figure
from misstep_analysis.audit.p_values import ArmSize, implied_arm_size
from misstep_analysis.audit.tables import CheckedFigure, checked_rows, printed_count, recomputed_rows
from misstep_analysis.published import Figure, Paper, load_paper, published_row
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


CATEGORIES = {
    "loops": "Infinite loops",
    "dnf": "Did not follow instructions",
    "uc": "Unrequested changes",
    "tcf": "Tool call failure",
}

_ROWS = {**CATEGORIES, "any": "Any of the four"}

_ANY_of_prevalence = "any misbehaviour"


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
