"""Runs of the reflexive loop as tables: how items ended, what mechanisms did, runs side by side, and ablations."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from misstep_analysis.passing.paired_systems import LEVEL, ComparedPair
from misstep_analysis.reflexive.ablation import Ablation, Configuration
from misstep_analysis.reflexive.scores import CORRUPTED, HIDDEN, MEASURES, REPEATED, WASTED, LoopScores
from misstep_analysis.reflexive.work import WorkedRun
from misstep_analysis.sessions.leading import lead_of
from misstep_analysis.tables import (
    Evidence,
    Row,
    Table,
    TableHead,
    Unit,
    estimate_row,
    made_by_this,
    rows_in,
)
from misstep_analysis.tables.wording import counted_text, in_words, number_text, with_interval

PAPER = "reflexive"

NOTES = (WASTED, CORRUPTED, HIDDEN, REPEATED)

ITEMS_LISTED = 60

_HOUR = 3600.0
_ALIKE = "A figure without an interval is the same at every seed, or there is one seed."
_NAMED = 3
"""More mechanisms that were left out are counted and not named: a column must stay readable."""

_ENDS = {
    "solved": "Solved",
    "time_budget": "Out of time",
    "attempt_cap": "At the cap of attempts",
    "escalated": "Escalated",
    "failed": "Failed",
}

_MECHANISMS = {
    "Attempts": {"Attempts": "attempts", "On a corrupted target": "corrupted"},
    "Turns": {
        "Commands carried out": "calls",
        "Hidden calls": "hidden",
        "Refused calls": "refused",
        "Over budget: {}": "over",
    },
    "Snapshots": {
        "Snapshots of progress": "snapshots",
        "Restorations": "restored",
        "Restorations to the baseline": "to_baseline",
        "Restorations not verified": "unverified",
    },
    "Diagnosis and reflection": {
        "Diagnoses: {}": "channels",
        "Reflections": "reflections",
        "Repeated reflections": "repeated",
        "Reflections without facts": "without_facts",
    },
    "Strategist": {
        "Plateaus found": "plateaus",
        "Evaluator gaps found": "gaps",
        "Asked for {}": "re_engaged",
        "Unreadable answers": "unreadable",
    },
    "Memory": {
        "Lessons stored": "stored",
        "Lessons shown": "shown",
        "Different lessons shown": "distinct",
        "Lessons retired": "retired",
    },
    "Run": {"Items put off": "put_off", "Warnings": "warnings", "Halted": "halted"},
}
"""Group → name of a row → the field of `LoopScores` that it shows; one with several counts gives a row each."""

_ENDS_TABLE = TableHead(
    "loop_ends",
    PAPER,
    "How the items ended",
    (WASTED, "Items of one run share a target and a memory, so that the intervals are too narrow."),
)
_ABLATION_TABLE = TableHead(
    "ablation",
    PAPER,
    "Each mechanism left out",
    (
        *NOTES,
        "All figures but the share of items solved are sums over a run; each is the mean over seeds with an "
        "interval by Student's t. The agents are synthetic: they decide from what they are shown.",
        _ALIKE,
    ),
)
_EFFECTS_TABLE = TableHead(
    "ablation_effects",
    PAPER,
    "What leaving out a mechanism changes",
    (
        "A difference is the mean, over seeds, of a run without the mechanism less the whole run of the same seed "
        "on the same items. The test counts all ways in which the differences could have gone to the other side: "
        "with n seeds no p-value is below 2 / 2^n.",
        _ALIKE,
    ),
)


def source_of(scores: LoopScores) -> str:
    """Return what a run is called as the source of a figure."""
    left_out = scores.without
    named = ", ".join(left_out) if len(left_out) <= _NAMED else f"{len(left_out)} mechanisms"
    return f"{scores.skill} by {scores.agents}, seed {scores.seed}{f', without {named}' if left_out else ''}"


def loop_finding(scores: LoopScores) -> str:
    """Return what one run came to, in one sentence."""
    work = f"{scores.seconds / _HOUR:,.1f} hours" if scores.seconds >= _HOUR else f"{scores.seconds:.0f} seconds"
    believed = (
        f"; {counted_text(scores.believed, 'more item')} it only believes to be solved" if scores.believed else ""
    )
    unfinished = "" if scores.finished else " so far"
    return (
        f"The loop{unfinished} solves {with_interval(scores.solve_rate, 'share')} of {counted_text(scores.n, 'item')}"
        f"{believed}; {number_text(scores.wasted_share, 'share')} of {work} of work came to nothing."
    )


@made_by_this
def ends_table(scores: LoopScores, evidence: Evidence = "generated") -> Table:
    """How the items of a run ended: each end and reason with its share and interval, and what was truly solved."""
    where = source_of(scores), evidence
    ends = {_ENDS[end]: scores.share_of_ends(count) for end, count in scores.ends.items()}
    reasons = {in_words(reason): scores.share_of_ends(count) for reason, count in scores.reasons.items()}
    counts = {"Called solved, check not passed": scores.believed, "Not called solved, check passed": scores.missed}
    rows = [
        *rows_in("share", {"Truly solved": scores.solve_rate}, "", *where),
        *rows_in("share", ends, "How items ended", *where),
        *rows_in("share", reasons, "For what reason", *where),
        *rows_in("count", counts, "Belief and truth", *where, n=scores.n),
    ]
    return _ENDS_TABLE.table(loop_finding(scores), rows)


@made_by_this
def mechanisms_table(scores: LoopScores, evidence: Evidence = "generated") -> Table:
    """Return what the mechanisms of a run did, and what they are there to prevent."""
    where = source_of(scores), evidence
    rows = [
        row
        for group, fields in _MECHANISMS.items()
        for row in rows_in("count", dict(_counts(scores, fields)), group, *where)
    ]
    hours = {"Hours of work": scores.seconds / _HOUR, "Hours wasted": scores.wasted / _HOUR}
    rows += rows_in("number", hours, "Time", *where)
    finding = (
        f"{scores.corrupted:,} of {counted_text(scores.attempts, 'attempt')} began on a corrupted target, "
        f"{scores.repeated:,} of {counted_text(scores.reflections, 'reflection')} repeat an earlier one, and "
        f"{counted_text(scores.hidden, 'call')} stayed hidden within a turn."
    )
    return Table("loop_mechanisms", PAPER, "What the mechanisms did", finding, tuple(rows), NOTES)


def _counts(scores: LoopScores, fields: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    for words, name in fields.items():
        value = getattr(scores, name)
        for key, count in value.items() if isinstance(value, dict) else [("", value)]:
            kind, colon, verdict = key.partition(":")  # a trigger has its verdict behind it
            yield words.format(f"{kind.replace('_', ' ')}{colon}{verdict}"), count


@made_by_this
def items_table(run: WorkedRun, evidence: Evidence = "generated", most: int = ITEMS_LISTED) -> Table:
    """The items of a run, those first that are not solved: how each ended, its attempts, its seconds, those wasted."""
    rows: list[Row] = []
    for one in sorted(run.items, key=lambda one: one.solved)[:most]:
        end = "not ended" if one.ending is None else in_words(one.ending.reason)
        tries = {"attempts": len(one.attempts), "corrupted": sum(attempt.corrupted for attempt in one.attempts)}
        where = one.item.id, "", evidence
        rows += [*rows_in("text", {"end": end}, *where), *rows_in("count", tries, *where)]
        rows += rows_in("seconds", {"time": one.seconds, "wasted": one.wasted}, *where)
    items, unsolved = counted_text(len(run.items), "item"), sum(not item.solved for item in run.items)
    notes = (f"{most} of {len(run.items):,} items are listed.",) if len(run.items) > most else ()
    return Table("loop_items", PAPER, "Items", f"{unsolved:,} of {items} are not truly solved.", tuple(rows), notes)


@made_by_this
def runs_table(
    runs: Mapping[str, LoopScores], pairs: Sequence[ComparedPair], evidence: Evidence = "generated"
) -> Table:
    """Runs side by side: a line a run, and the figures by which runs are compared as columns."""
    rows: list[Row] = []
    for name, scores in runs.items():
        where = name, source_of(scores), evidence
        counts = {MEASURES[key].name: getattr(scores, key) for key in MEASURES if key not in ("solved", "wasted")}
        rows += rows_in("share", {"Solved": scores.solve_rate}, *where)
        rows += rows_in("number", {"Hours wasted": scores.wasted / _HOUR}, *where)
        rows += rows_in("count", counts, *where)
    lead = lead_of(tuple(runs), [pair.contest for pair in pairs], tasks="items")
    finding = " ".join([lead.sentence, *(f"{name}: {loop_finding(runs[name])}" for name in lead.first[:1])])
    return Table("loop_runs", PAPER, "Runs beside each other", finding, tuple(rows), NOTES)


@made_by_this
def ablation_table(ablation: Ablation, evidence: Evidence = "generated", of: str = "") -> Table:
    """Return the loop without each mechanism (`of` a target): its figures by configuration, as means over seeds."""
    where, every = (_source(ablation), evidence), (ablation.whole, *ablation.others)
    rows = [
        estimate_row(MEASURES[key].name, effect.mean, MEASURES[key].unit, one.name, *where)
        for one in every
        for key, effect in one.effects.items()
    ]
    alone = f"{counted_text(ablation.left_out, 'run')} had no whole run of the same seed and items beside it."
    return _head_of(_ABLATION_TABLE, of).table(
        ablation_finding(ablation),
        rows,
        [alone] if ablation.left_out else [],
        drawn=rows_in("share", {one.name: one.effects["solved"].mean for one in every}, "", *where),
    )


def _head_of(head: TableHead, of: str) -> TableHead:
    """Return the head of one of several tables of a kind, by what it is of."""
    return structs.replace(head, name=f"{head.name}_{of}", title=f"{head.title}: {of}") if of else head


def ablation_finding(ablation: Ablation) -> str:
    """Return what the mechanisms change together, and which change something alone, in one sentence."""
    seeds = counted_text(len(ablation.whole.seeds), "seed")
    fewest = max(ablation.others, key=lambda one: len(one.without), default=None)
    off = "" if fewest is None or len(fewest.without) > 1 else " off"
    lowest = "" if fewest is None else f" and {_solved(fewest)} with {fewest.name}{off}"
    alone = ablation.of_one
    changing = (
        f"leaving out one changes a figure beyond chance for {sum(map(_tells, alone))} of {len(alone)} mechanisms"
        if ablation.can_tell
        else f"{seeds} cannot tell any change from chance among {counted_text(ablation.tests, 'difference')}"
    )
    return (
        f"The loop solves {_solved(ablation.whole)} of {counted_text(ablation.n, 'item')} over {seeds} with every "
        f"mechanism{lowest}; {changing}."
    )


def _solved(one: Configuration) -> str:
    return with_interval(one.effects["solved"].mean, "share")


def _tells(one: Configuration) -> bool:
    return any(effect.apart for effect in one.effects.values())


@made_by_this
def ablation_effects_table(ablation: Ablation, evidence: Evidence = "generated", of: str = "") -> Table:
    """What leaving out each mechanism changes (`of` a target): differences to the whole loop, intervals, p-values."""
    rows: list[Row] = []
    for key, measure in MEASURES.items():
        unit: Unit = "difference" if measure.unit == "share" else measure.unit
        for other in ablation.others:
            effect = other.effects[key]
            if effect.difference is None:
                continue
            rows.append(
                estimate_row(other.name, effect.difference, unit, measure.name, "less the whole loop", evidence)
            )
            for source, p_value in (("p", effect.p_value), ("p, adjusted", effect.p_adjusted)):
                (row,) = rows_in("p", {other.name: p_value}, measure.name, source, evidence, n=len(other.seeds))
                rows.append(structs.replace(row, method=effect.test))
    better = f"; it solves more without {' and without '.join(ablation.better_without)}" * bool(ablation.better_without)
    return _head_of(_EFFECTS_TABLE, of).table(
        f"{_changing(ablation)}{better}.", rows, [f"Measured on {_source(ablation)}."]
    )


def _changing(ablation: Ablation) -> str:
    """Return how many of the mechanisms, or of the configurations where none lacks one alone, change a figure."""
    alone, called = (ablation.of_one, "mechanisms") if ablation.of_one else (ablation.others, "configurations")
    tests = counted_text(ablation.tests, "difference")
    if not ablation.can_tell:
        return f"{counted_text(len(ablation.whole.seeds), 'seed')} cannot tell any change from chance among {tests}"
    unchanged = [one.name for one in alone if not _tells(one)]
    besides = f"; none shows for {', '.join(unchanged)}" if unchanged else ""
    return (
        f"{len(alone) - len(unchanged)} of {len(alone)} {called} change a figure at the level {LEVEL} after "
        f"Holm's adjustment for {tests}{besides}"
    )


def _source(ablation: Ablation) -> str:
    seeds = counted_text(len(ablation.whole.seeds), "seed")
    return f"{ablation.skill} by {ablation.agents}, {ablation.n:,} items, {seeds}"
