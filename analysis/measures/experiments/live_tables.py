"""Live sessions of a scripted agent in numbers, an arm each: what was planted, what ended it, what was said."""

from collections import Counter
from collections.abc import Iterable, Sequence

from misstep.analysis.measures.experiments.shadow import misbehaviour_rates
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.tables import Row, Table, estimate_row, made_by_this
from misstep.analysis.tables.wording import counted_text, number_text, p_text
from misstep.harness.records.live_session import EpisodeEnd, LiveArm, LiveSession

ENDS: dict[EpisodeEnd, str] = {
    "itself": "ended by itself",
    "guidance": "ended by guidance",
    "engineer": "ended by the engineer",
    "session": "lasted to the end of the session",
}
"""What ended a misbehaviour, in words."""

NAMES: dict[LiveArm, str] = {
    "control": "No observer",
    "shadow": "Detection alone",
    "guide": "Detection and guidance",
}
"""The arms in words."""


@made_by_this
def live_sessions_table(sessions: Sequence[LiveSession], source: str) -> Table:
    """The sessions of an experiment by arm: sizes, planted misbehaviours by what ended them, words, solved tasks."""
    arms = [arm for arm in NAMES if any(one.arm == arm for one in sessions)]
    rows = [row for arm in arms for row in _arm_rows([one for one in sessions if one.arm == arm], NAMES[arm], source)]
    return Table(
        name="live_sessions",
        paper="experiment",
        title="Live sessions of a scripted agent",
        finding=_finding(sessions, arms),
        rows=tuple(rows),
        notes=(
            "Generated: the agent, its tools and its tests were run; its misbehaviour is planted, and its engineer and "
            "what it does with guidance are scripted.",
            "A misbehaviour that the agent falls back into counts again.",
        ),
    )


def _arm_rows(sessions: Sequence[LiveSession], arm: str, source: str) -> Iterable[Row]:
    def count(quantity: str, value: int, n: int) -> Row:
        return Row(quantity, value, n=n, evidence="generated", source=source, unit="count", group=arm)

    episodes = [episode for one in sessions for episode in one.episodes]
    ends = Counter(episode.ended for episode in episodes)
    words = [word for one in sessions if one.observed for word in one.observed.interventions]
    yield count("sessions", len(sessions), len(sessions))
    yield count("units", len({one.unit for one in sessions}), len(sessions))
    for category, number in sorted(Counter(episode.category for episode in episodes).items()):
        yield count(f"planted: {category}", number, len(episodes))
    for end, words_of in ENDS.items():
        yield count(f"planted: {words_of}", ends[end], len(episodes))
    yield count("words said to the agent", sum(word.delivered_at is not None for word in words), len(words))
    solved = [one.solved for one in sessions if one.solved is not None]
    share = wilson(sum(solved), len(solved))
    yield estimate_row("solved as asked", share, "share", arm, source, "generated")


def _finding(sessions: Sequence[LiveSession], arms: Sequence[LiveArm]) -> str:
    told = "; ".join(
        f"{NAMES[arm].lower()} {counted_text(sum(one.arm == arm for one in sessions), 'session')}" for arm in arms
    )
    planted = sum(len(one.episodes) for one in sessions)
    said = f"{counted_text(len(sessions), 'session')} ({told}) hold {counted_text(planted, 'planted misbehaviour')}."
    rates = misbehaviour_rates(sessions)
    if rates is None:
        return said
    alone, guided = (number_text(share, "share") for share in rates.shares)
    p_value = rates.clustered.small_sample_test.p_value
    return (
        f"{said} The detector flags {alone} of its invocations without guidance and {guided} with it "
        f"({p_text(p_value, p_value)}, units as clusters)."
    )
