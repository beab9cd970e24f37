"""What an observer of recorded runs found: the misbehaviour rate per invocation, and every intervention."""

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct

from misstep_analysis.pages.interventions import ObservedIntervention, interventions_of
from misstep_analysis.sessions.shares import clustered_share, share
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Figure, Table, Unit, made_by_this, rows_in
from misstep_analysis.tables.wording import counted_text, interval_words, number_text
from misstep_harness.intervention import ObservedRun
from misstep_harness.trajectory import Evidence, Skipped, Unreadable, together

OBSERVED = "observe"


class ObservedSummary(Struct, frozen=True):
    """What was found in `n` trajectories; `naive_rate` takes invocations as independent.

    `withheld` counts interventions that were not delivered, by reason, and `failed` questions by their error.
    """

    arm: str
    detector: str
    every: int
    n: int
    steps: int
    invocations: int
    answered: int
    flagged: int
    misbehaviour_rate: Estimate
    naive_rate: Estimate
    flagged_runs: int
    categories: dict[str, int]
    delivered: int
    withheld: dict[str, int]
    interventions: list[ObservedIntervention]
    failed: dict[str, int] = {}
    unreadable: list[Unreadable] = []
    skipped: list[Skipped] = []
    renamed: int = 0
    evidence: Evidence = "real"


def observed(
    runs: Iterable[ObservedRun],
    unreadable: Iterable[Unreadable] = (),
    skipped: Iterable[Skipped] = (),
    renamed: int = 0,
) -> ObservedSummary:
    """Return what the observer found in some runs of one arm, taken as a stream."""
    clusters: list[tuple[int, int]] = []
    categories: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    interventions: list[ObservedIntervention] = []
    invocations = steps = 0
    first: ObservedRun | None = None
    kinds: set[Evidence] = set()
    for run in runs:
        first = first or run
        kinds.add(run.evidence)
        answered = [one for one in run.invocations if one.status == "answered"]
        clusters.append((sum(bool(one.misbehaviours) for one in answered), len(answered)))
        for one in answered:
            categories.update(list(dict.fromkeys(each.category for each in one.misbehaviours)))
        failed.update(one.error for one in run.invocations if one.status == "failed")
        interventions += interventions_of(run)
        invocations += len(run.invocations)
        steps += run.n_steps
    n_flagged, n_answered = sum(flagged for flagged, _ in clusters), sum(n for _, n in clusters)
    return ObservedSummary(
        arm=first.arm if first else "",
        detector=first.detector if first else "",
        every=first.every if first else 0,
        n=len(clusters),
        steps=steps,
        invocations=invocations,
        answered=n_answered,
        flagged=n_flagged,
        misbehaviour_rate=clustered_share(clusters, _NOTHING),
        naive_rate=share(n_flagged, n_answered, _NOTHING),
        flagged_runs=sum(bool(flagged) for flagged, _ in clusters),
        categories=dict(categories.most_common()),
        delivered=sum(one.delivered_at is not None for one in interventions),
        withheld=dict(Counter(one.withheld for one in interventions if one.withheld).most_common()),
        interventions=interventions,
        failed=dict(failed.most_common()),
        unreadable=list(unreadable),
        skipped=list(skipped),
        renamed=renamed,
        evidence=together(kinds),
    )


_NOTHING = "no invocation was answered"


def observed_finding(summary: ObservedSummary) -> str:
    """Return how often the detector saw misbehaviour, in one sentence."""
    rate = summary.misbehaviour_rate
    if rate.value is None:
        return f"No invocation in {counted_text(summary.n, 'session')} was answered."
    interval = interval_words(rate.low, rate.high, "share")
    return (
        f"The detector {summary.detector} saw misbehaviour in {summary.flagged:,} of "
        f"{counted_text(summary.answered, 'invocation')} ({number_text(rate.value, 'share')}, {interval}), "
        f"in {summary.flagged_runs:,} of {counted_text(summary.n, 'session')}."
    )


@made_by_this
def observed_table(summary: ObservedSummary, *, source: str, evidence: Evidence = "real") -> Table:
    """Return the misbehaviour rate per invocation, by category too, and what became of the interventions."""
    rates = {
        "clustered by session": summary.misbehaviour_rate,
        "as if invocations were independent": summary.naive_rate,
    }
    fates = {"delivered": summary.delivered} | {f"withheld: {why}": number for why, number in summary.withheld.items()}
    counts: tuple[tuple[str, Unit, Mapping[str, Figure], int | None], ...] = (
        ("Misbehaviour rate per invocation", "share", rates, None),
        ("Flagged invocations", "count", summary.categories, summary.answered),
        ("Interventions", "count", fates, len(summary.interventions)),
    )
    rows = [
        row
        for quantity, unit, groups, n in counts
        for group, figure in groups.items()
        for row in rows_in(unit, {quantity: figure}, group, source, evidence, n=n)
    ]
    notes = (f"The detector is asked every {summary.every} steps.",)
    return Table("observed", "observe", "What the observer saw", observed_finding(summary), tuple(rows), notes)
