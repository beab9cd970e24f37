"""Whether guidance lowers the misbehaviour rate: the detector's invocations with and without it (Wink, section 4.2)."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from misstep_analysis.sessions.prevalence import summed
from misstep_analysis.stats.clusters.clustered import ClusteredDifference, clustered_difference
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.two_proportions import newcombe, pooled_z
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.stats.significance import Significance
from misstep_analysis.tables import Evidence, Row, Table, TableHead, made_by_this, rows_in
from misstep_analysis.tables.wording import counted_text, number_text, p_text
from misstep_harness.intervention import ObservedRun
from misstep_harness.live_session import EpisodeEnd, LiveArm, LiveSession

ENDS: dict[EpisodeEnd, str] = {
    "itself": "ended by itself",
    "guidance": "ended by guidance",
    "engineer": "ended by the engineer",
    "session": "lasted to the end of the session",
}

NAMES: dict[LiveArm, str] = {"control": "No observer", "shadow": "Detection alone", "guide": "Detection and guidance"}

_SESSIONS = TableHead(
    "live_sessions",
    "experiment",
    "Live sessions of a scripted agent",
    (
        "Generated: the agent, its tools and its tests were run; its misbehaviour is planted, and its engineer and "
        "what it does with guidance are scripted.",
        "A misbehaviour that the agent falls back into counts again.",
    ),
)


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
    calls, also = (sum(len(run.invocations) for _, run in arm) for arm in arms)
    return MisbehaviourRates(
        (x1 / n1, x2 / n2),
        ((x1, n1), (x2, n2)),
        (len(first), len(second)),
        (calls - n1, also - n2),
        newcombe(x1, n1, x2, n2),
        pooled_z(x1, n1, x2, n2),
        clustered_difference(first, second),
    )


@made_by_this
def live_sessions_table(sessions: Sequence[LiveSession], source: str) -> Table:
    """The sessions of an experiment by arm: sizes, planted misbehaviours by what ended them, words, solved tasks."""
    arms = [arm for arm in NAMES if any(one.arm == arm for one in sessions)]
    rows = [row for arm in arms for row in _arm_rows([one for one in sessions if one.arm == arm], NAMES[arm], source)]
    return _SESSIONS.table(_finding(sessions, arms), rows)


def _arm_rows(sessions: Sequence[LiveSession], arm: str, source: str) -> list[Row]:
    evidence: Evidence = "generated"
    where, n = (arm, source, evidence), len(sessions)
    episodes = [episode for one in sessions for episode in one.episodes]
    categories, ends = (Counter(getattr(one, name) for one in episodes) for name in ("category", "ended"))
    planted = {f"planted: {category}": number for category, number in sorted(categories.items())}
    planted |= {f"planted: {words}": ends[end] for end, words in ENDS.items()}
    heard = [word.delivered_at is not None for one in sessions if one.observed for word in one.observed.interventions]
    solved = [one.solved for one in sessions if one.solved is not None]
    return [
        *rows_in("count", {"sessions": n, "units": len({one.unit for one in sessions})}, *where, n=n),
        *rows_in("count", planted, *where, n=len(episodes)),
        *rows_in("count", {"words said to the agent": sum(heard)}, *where, n=len(heard)),
        *rows_in("share", {"solved as asked": wilson(sum(solved), len(solved))}, *where),
    ]


def _finding(sessions: Sequence[LiveSession], arms: Sequence[LiveArm]) -> str:
    counts = "; ".join(
        f"{NAMES[arm].lower()} {counted_text(sum(one.arm == arm for one in sessions), 'session')}" for arm in arms
    )
    planted = sum(len(one.episodes) for one in sessions)
    sentence = (
        f"{counted_text(len(sessions), 'session')} ({counts}) hold {counted_text(planted, 'planted misbehaviour')}."
    )
    rates = misbehaviour_rates(sessions)
    if rates is None:
        return sentence
    alone, guided = (number_text(share, "share") for share in rates.shares)
    p_value = rates.clustered.small_sample_test.p_value
    return (
        f"{sentence} The detector flags {alone} of its invocations without guidance and {guided} with it "
        f"({p_text(p_value, p_value)}, units as clusters)."
    )
