"""Live sessions of a scripted agent in numbers, an arm each: what was planted, what ended it, what was said."""

from collections import Counter
from collections.abc import Sequence

from misstep.analysis.measures.experiments.shadow import misbehaviour_rates
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.tables import Evidence, Row, Table, TableHead, made_by_this, rows_in
from misstep.analysis.tables.wording import counted_text, number_text, p_text
from misstep.harness.records.live_session import EpisodeEnd, LiveArm, LiveSession

ENDS: dict[EpisodeEnd, str] = {
    "itself": "ended by itself",
    "guidance": "ended by guidance",
    "engineer": "ended by the engineer",
    "session": "lasted to the end of the session",
}
"""What ended a misbehaviour, in words."""

NAMES: dict[LiveArm, str] = {"control": "No observer", "shadow": "Detection alone", "guide": "Detection and guidance"}
"""The arms in words."""

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
    told = "; ".join(
        f"{NAMES[arm].lower()} {counted_text(sum(one.arm == arm for one in sessions), 'session')}" for arm in arms
    )
    planted = sum(len(one.episodes) for one in sessions)
    sentence = (
        f"{counted_text(len(sessions), 'session')} ({told}) hold {counted_text(planted, 'planted misbehaviour')}."
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
