"""Runs of the reflexive loop as tables: how items ended, what mechanisms did, and runs beside each other."""

from collections.abc import Mapping, Sequence

from misstep.analysis.measures.reflexive.ablation import LEVEL, Ablation, Configuration
from misstep.analysis.measures.reflexive.comparison import PairedLoops
from misstep.analysis.measures.reflexive.scores import CORRUPTED, HIDDEN, MEASURES, REPEATED, WASTED, LoopScores
from misstep.analysis.measures.reflexive.work import WorkedRun
from misstep.analysis.tables import Evidence, Row, Table, Unit, estimate_row, made_by_this
from misstep.analysis.tables.wording import counted_text, number_text, with_interval

PAPER = "reflexive"
"""The folder of these tables."""

NOTES = (WASTED, CORRUPTED, HIDDEN, REPEATED)

ITEMS_LISTED = 60
"""How many items a table lists at most; the page of a run has them all."""

_HOUR = 3600.0
_ADJUSTED = "p, adjusted"
_ALIKE = "A figure without an interval is the same at every seed, or there is one seed."
_ENDS = {
    "solved": "Solved",
    "time_budget": "Out of time",
    "attempt_cap": "At the cap of attempts",
    "escalated": "Escalated",
    "failed": "Failed",
}


_NAMED = 3
"""More mechanisms that were left out are counted and not named: a column must stay readable."""


def source_of(scores: LoopScores) -> str:
    """Return what a run is called as the source of a figure."""
    left_out = scores.without
    named = ", ".join(left_out) if len(left_out) <= _NAMED else f"{len(left_out)} mechanisms"
    without = f", without {named}" if left_out else ""
    return f"{scores.skill} by {scores.agents}, seed {scores.seed}{without}"


def loop_finding(scores: LoopScores) -> str:
    """Return what one run came to, in one sentence."""
    share = f"{number_text(scores.wasted_share, 'share')} of {_duration(scores.seconds)}"
    believed = (
        f"; {counted_text(scores.believed, 'more item')} it only believes to be solved" if scores.believed else ""
    )
    unfinished = "" if scores.finished else " so far"
    return (
        f"The loop{unfinished} solves {with_interval(scores.solve_rate, 'share')} of {counted_text(scores.n, 'item')}"
        f"{believed}; {share} of work came to nothing."
    )


def _duration(seconds: float) -> str:
    """Return a time of work as a sentence says it."""
    return f"{seconds / _HOUR:,.1f} hours" if seconds >= _HOUR else f"{seconds:.0f} seconds"


@made_by_this
def ends_table(scores: LoopScores, evidence: Evidence = "generated") -> Table:
    """How the items of a run ended: each end and reason with its share and interval, and what was truly solved."""
    said = source_of(scores)
    rows = [estimate_row("Truly solved", scores.solve_rate, "share", "", said, evidence)]
    for end, count in scores.ends.items():
        rows.append(estimate_row(_ENDS[end], scores.share_of_ends(count), "share", "How items ended", said, evidence))
    for reason, count in scores.reasons.items():
        share = scores.share_of_ends(count)
        rows.append(estimate_row(reason.replace("_", " "), share, "share", "For what reason", said, evidence))
    counts = {"Called solved, check not passed": scores.believed, "Not called solved, check passed": scores.missed}
    rows += [_count(name, count, scores.n, "Belief and truth", said, evidence) for name, count in counts.items()]
    return Table(
        name="loop_ends",
        paper=PAPER,
        title="How the items ended",
        finding=loop_finding(scores),
        rows=tuple(rows),
        notes=(WASTED, "Items of one run share a target and a memory, so that the intervals are too narrow."),
    )


@made_by_this
def mechanisms_table(scores: LoopScores, evidence: Evidence = "generated") -> Table:
    """Return what the mechanisms of a run did, and what they are there to prevent."""
    said = source_of(scores)
    groups = {
        "Attempts": {"Attempts": scores.attempts, "On a corrupted target": scores.corrupted},
        "Turns": {
            "Commands carried out": scores.calls,
            "Hidden calls": scores.hidden,
            "Refused calls": scores.refused,
            **{f"Over budget: {name.replace('_', ' ')}": count for name, count in scores.over.items()},
        },
        "Snapshots": {
            "Snapshots of progress": scores.snapshots,
            "Restorations": scores.restored,
            "Restorations to the baseline": scores.to_baseline,
            "Restorations not verified": scores.unverified,
        },
        "Diagnosis and reflection": {
            **{f"Diagnoses: {name.replace('_', ' ')}": count for name, count in scores.channels.items()},
            "Reflections": scores.reflections,
            "Repeated reflections": scores.repeated,
            "Reflections without facts": scores.without_facts,
        },
        "Strategist": {
            "Plateaus found": scores.plateaus,
            "Evaluator gaps found": scores.gaps,
            **{_engagement(name): count for name, count in scores.re_engaged.items()},
            "Unreadable answers": scores.unreadable,
        },
        "Memory": {
            "Lessons stored": scores.stored,
            "Lessons shown": scores.shown,
            "Different lessons shown": scores.distinct,
            "Lessons retired": scores.retired,
        },
        "Run": {"Items put off": scores.put_off, "Warnings": scores.warnings, "Halted": scores.halted},
    }
    rows = [
        _count(name, count, None, group, said, evidence)
        for group, counts in groups.items()
        for name, count in counts.items()
    ]
    hours = {"Hours of work": scores.seconds, "Hours wasted": scores.wasted}
    rows += [Row(name, value / _HOUR, evidence=evidence, source=said, group="Time") for name, value in hours.items()]
    return Table(
        name="loop_mechanisms",
        paper=PAPER,
        title="What the mechanisms did",
        finding=(
            f"{scores.corrupted:,} of {counted_text(scores.attempts, 'attempt')} began on a corrupted target, "
            f"{scores.repeated:,} of {counted_text(scores.reflections, 'reflection')} repeat an earlier one, and "
            f"{counted_text(scores.hidden, 'call')} stayed hidden within a turn."
        ),
        rows=tuple(rows),
        notes=NOTES,
    )


def _engagement(name: str) -> str:
    trigger, verdict = name.split(": ")
    return f"Asked for {trigger.replace('_', ' ')}: {verdict}"


def _count(name: str, count: int, n: int | None, group: str, source: str, evidence: Evidence) -> Row:
    return Row(name, count, n=n, evidence=evidence, source=source, unit="count", group=group)


@made_by_this
def items_table(run: WorkedRun, evidence: Evidence = "generated", most: int = ITEMS_LISTED) -> Table:
    """The items of a run, those first that are not solved: how each ended, its attempts, its seconds, those wasted."""
    in_order = sorted(run.items, key=lambda one: one.solved)
    rows: list[Row] = []
    for one in in_order[:most]:
        reason = "not ended" if one.ending is None else one.ending.reason.replace("_", " ")
        cells: dict[str, tuple[float | str, Unit]] = {
            "end": (reason, "text"),
            "attempts": (len(one.attempts), "count"),
            "corrupted": (sum(attempt.corrupted for attempt in one.attempts), "count"),
            "time": (one.seconds, "seconds"),
            "wasted": (one.wasted, "seconds"),
        }
        rows += [
            Row(name, value, unit=unit, group=one.item.id, evidence=evidence) for name, (value, unit) in cells.items()
        ]
    unsolved = sum(not one.solved for one in run.items)
    left_out = (f"{most} of {len(run.items):,} items are listed.",) if len(run.items) > most else ()
    return Table(
        name="loop_items",
        paper=PAPER,
        title="Items",
        finding=f"{unsolved:,} of {counted_text(len(run.items), 'item')} are not truly solved.",
        rows=tuple(rows),
        notes=left_out,
    )


@made_by_this
def runs_table(runs: Mapping[str, LoopScores], evidence: Evidence = "generated") -> Table:
    """Runs beside each other: a line a run, and the figures by which runs are compared as columns."""
    rows = []
    for name, scores in runs.items():
        counts = {key: getattr(scores, key) for key in MEASURES if key not in ("solved", "wasted")}
        rows += [
            estimate_row("Solved", scores.solve_rate, "share", name, source_of(scores), evidence),
            Row("Hours wasted", scores.wasted / _HOUR, evidence=evidence, source=source_of(scores), group=name),
            *(
                _count(MEASURES[key].name, count, None, name, source_of(scores), evidence)
                for key, count in counts.items()
            ),
        ]
    best = max(runs, key=lambda name: runs[name].solve_rate.value or 0.0)
    return Table(
        name="loop_runs",
        paper=PAPER,
        title="Runs beside each other",
        finding=f"The best of {len(runs)} runs is {best}. {loop_finding(runs[best])}",
        rows=tuple(rows),
        notes=NOTES,
    )


@made_by_this
def loop_pairs_table(pairs: Sequence[PairedLoops], evidence: Evidence = "generated") -> Table:
    """Runs compared in pairs on the items that both worked on."""
    apart = sum(pair.apart for pair in pairs)
    rows: list[Row] = []
    for pair in pairs:
        group = f"{pair.a} less {pair.b}"
        p_values = {"p": pair.p_value, _ADJUSTED: pair.p_adjusted}
        rows.append(estimate_row("Difference of shares solved", pair.difference, "difference", group, "", evidence))
        rows += [
            Row(name, p, n=pair.n, evidence=evidence, unit="p", method=pair.test, group=group)
            for name, p in p_values.items()
        ]
    return Table(
        name="loop_pairs",
        paper=PAPER,
        title="Runs compared on the same items",
        finding=(
            f"{apart} of {counted_text(len(pairs), 'pair')} of runs differ in the share of items truly solved, at the "
            f"level {LEVEL} after Holm's adjustment."
        ),
        rows=tuple(rows),
        notes=("Items of one run share a target and a memory, so that intervals are too narrow and tests too eager.",),
    )


def ablation_finding(found: Ablation) -> str:
    """Return what the mechanisms change together, and which change something alone, in one sentence."""
    seeds = counted_text(len(found.whole.seeds), "seed")
    of = f"of {counted_text(found.n, 'item')} over {seeds}"
    alone = found.of_one
    telling = [one.name for one in alone if any(effect.apart for effect in one.effects.values())]
    fewest = max(found.others, key=lambda one: len(one.without), default=None)
    solved = None if fewest is None else with_interval(fewest.effects["solved"].mean, "share")
    lowest = "" if fewest is None else f" and {solved} with {_off(fewest)}"
    changing = (
        f"leaving out one changes a figure beyond chance for {len(telling)} of {len(alone)} mechanisms"
        if found.can_tell
        else f"{seeds} cannot tell any change from chance among {counted_text(found.tests, 'difference')}"
    )
    return (
        f"The loop solves {with_interval(found.whole.effects['solved'].mean, 'share')} {of} with every mechanism"
        f"{lowest}; {changing}."
    )


def _better(found: Ablation) -> str:
    """Return what a mechanism costs, where it does: without which the loop solves more."""
    names = found.better_without
    return f"; it solves more without {' and without '.join(names)}" if names else ""


def _off(one: Configuration) -> str:
    return one.name if len(one.without) > 1 else f"{one.name} off"


@made_by_this
def ablation_table(found: Ablation, evidence: Evidence = "generated") -> Table:
    """Return the loop without each mechanism: a line a configuration, and its figures as means over seeds."""
    rows = [
        estimate_row(MEASURES[key].name, effect.mean, MEASURES[key].unit, one.name, _source(found), evidence)
        for one in (found.whole, *found.others)
        for key, effect in one.effects.items()
    ]
    return Table(
        name="ablation",
        paper=PAPER,
        title="Each mechanism left out",
        finding=ablation_finding(found),
        rows=tuple(rows),
        notes=(
            *NOTES,
            "All figures but the share of items solved are sums over a run; each is the mean over seeds with an "
            "interval by Student's t. The agents are synthetic: they decide from what they are shown.",
            _ALIKE,
            *(
                [f"{counted_text(found.left_out, 'run')} had no whole run of the same seed and items beside it."]
                if found.left_out
                else []
            ),
        ),
        drawn=tuple(
            estimate_row(one.name, one.effects["solved"].mean, "share", "", _source(found), evidence)
            for one in (found.whole, *found.others)
        ),
    )


@made_by_this
def ablation_effects_table(found: Ablation, evidence: Evidence = "generated") -> Table:
    """What leaving out each mechanism changes: paired differences to the whole loop with interval and p-values."""
    rows: list[Row] = []
    for key, measure in MEASURES.items():
        unit: Unit = "difference" if measure.unit == "share" else measure.unit
        for one in found.others:
            effect = one.effects[key]
            if effect.difference is None:
                continue
            p_values = {"p": effect.p_value, _ADJUSTED: effect.p_adjusted}
            rows.append(estimate_row(one.name, effect.difference, unit, measure.name, "less the whole loop", evidence))
            rows += [
                Row(
                    one.name,
                    value,
                    n=len(one.seeds),
                    evidence=evidence,
                    source=name,
                    unit="p",
                    method=effect.test,
                    group=measure.name,
                )
                for name, value in p_values.items()
            ]
    return Table(
        name="ablation_effects",
        paper=PAPER,
        title="What leaving out a mechanism changes",
        finding=f"{_changing(found)}{_better(found)}.",
        rows=tuple(rows),
        notes=(
            "A difference is the mean, over seeds, of a run without the mechanism less the whole run of the same seed "
            "on the same items. The test counts all ways in which the differences could have gone to the other side: "
            "with n seeds no p-value is below 2 / 2^n.",
            _ALIKE,
            f"Measured on {_source(found)}.",
        ),
    )


def _changing(found: Ablation) -> str:
    """Return how many of the mechanisms, or of the configurations where none lacks one alone, change a figure."""
    alone, called = (found.of_one, "mechanisms") if found.of_one else (found.others, "configurations")
    tests = counted_text(found.tests, "difference")
    if not found.can_tell:
        return f"{counted_text(len(found.whole.seeds), 'seed')} cannot tell any change from chance among {tests}"
    unchanged = [one.name for one in alone if not any(effect.apart for effect in one.effects.values())]
    besides = f"; none shows for {', '.join(unchanged)}" if unchanged else ""
    return (
        f"{len(alone) - len(unchanged)} of {len(alone)} {called} change a figure at the level {LEVEL} after "
        f"Holm's adjustment for {tests}{besides}"
    )


def _source(found: Ablation) -> str:
    seeds = found.whole.seeds
    return f"{found.skill} by {found.agents}, {found.n:,} items, {counted_text(len(seeds), 'seed')}"
