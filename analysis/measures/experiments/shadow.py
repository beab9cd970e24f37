"""Whether guidance lowers the misbehaviour rate: the detector's invocations with and without it (Wink, section 4.2)."""

from collections.abc import Iterable

from msgspec import Struct

from misstep.analysis.measures.shares import summed
from misstep.analysis.stats.clusters.clustered import ClusteredDifference, clustered_difference
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.printed.two_proportions import newcombe, pooled_z
from misstep.analysis.stats.significance import Significance
from misstep.harness.records.intervention import ObservedRun
from misstep.harness.records.live_session import LiveSession


class MisbehaviourRates(Struct, frozen=True):
    """The share of answered invocations that flag misbehaviour, detection alone less guidance.

    `naive` takes invocations as independent, as the paper does; `clustered` takes the units that were assigned.
    `unanswered` are the invocations of either arm without an answer, which are left out.
    """

    shares: tuple[float, float]
    counts: tuple[tuple[int, int], tuple[int, int]]
    units: tuple[int, int]
    unanswered: tuple[int, int]
    naive: Estimate
    naive_test: Significance
    clustered: ClusteredDifference


def invocations(run: ObservedRun) -> tuple[int, int]:
    """Return how many invocations of a run flag a misbehaviour, and how many were answered."""
    answered = [one for one in run.invocations if one.status == "answered"]
    return sum(bool(one.misbehaviours) for one in answered), len(answered)


def misbehaviour_rates(sessions: Iterable[LiveSession]) -> MisbehaviourRates | None:
    """Return the rates of both arms; `None` where one has no answered invocation."""
    runs: dict[str, list[tuple[str, ObservedRun]]] = {"shadow": [], "guide": [], "control": []}
    for one in sessions:
        if one.observed is not None:
            runs[one.arm].append((one.unit, one.observed))
    arms = runs["shadow"], runs["guide"]
    units = [summed((unit, *invocations(run)) for unit, run in arm).values() for arm in arms]
    first, second = ([cell for cell in arm if cell[1]] for arm in units)
    if not (first and second):
        return None
    (x1, n1), (x2, n2) = ((sum(x for x, _ in arm), sum(n for _, n in arm)) for arm in (first, second))
    asked, also = (sum(len(run.invocations) for _, run in arm) for arm in arms)
    return MisbehaviourRates(
        (x1 / n1, x2 / n2),
        ((x1, n1), (x2, n2)),
        (len(first), len(second)),
        (asked - n1, also - n2),
        newcombe(x1, n1, x2, n2),
        pooled_z(x1, n1, x2, n2),
        clustered_difference(first, second),
    )
