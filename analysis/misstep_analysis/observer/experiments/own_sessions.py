"""Whether guidance helps in a user's own sessions: how often it was said, what came after it, and after none (RQ1-RQ4).

A session is followed from the first misbehaviour that was detected in it, whether or not the agent was told. Arms are
compared as they were assigned; units that were assigned are the clusters.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from misstep_analysis.observer.experiments.comparison import LEVEL
from misstep_analysis.observer.experiments.sessions import ExperimentSession
from misstep_analysis.observer.recovery import WINDOW
from misstep_analysis.sessions.prevalence import clustered_share, share, summed
from misstep_analysis.stats.clusters.clustered import clustered_difference
from misstep_analysis.tables import Row, Table, TableHead, estimate_row, made_by_this, rows_in
from misstep_analysis.tables.wording import counted_text, number_text, with_interval
from misstep_harness.trajectory import Evidence

GUIDE, SHADOW, UNKNOWN = "guide", "shadow", "arm not known"
ARM_NAMES = {GUIDE: "With guidance", SHADOW: "Control: detected, nothing said", UNKNOWN: "Arm not known"}
FIRST, HEARD = "From the first detection of a session", "After the words that agents heard"
NO_CONTROL = (
    "No session is known as a control, so nothing shows how many would have recovered without a word, and what follows "
    "is not an effect of guidance."
)

NOBODY_TOLD = "Nobody in the arm with guidance was told anything: no difference between the arms is an effect of it."
_NOTHING_DETECTED = "An arm has no session with a detection that has a label: there is nothing to compare."


class OwnWord(Struct, frozen=True):
    """A word to an agent: whether it was heard, whether it is on what was detected in the same way in every arm.

    `recovered` is a judge's label; `None` means that it has none.
    """

    item: str
    categories: tuple[str, ...]
    heard: bool
    detected: bool
    recovered: bool | None = None


class OwnSession(Struct, frozen=True):
    """One session of the user's; what its format does not say is `None`."""

    counted: ExperimentSession
    project: str = ""
    words: tuple[OwnWord, ...] = ()
    evidence: Evidence = "real"

    @property
    def followed(self) -> OwnWord | None:
        """Return the word on the first misbehaviour that was detected."""
        return next((word for word in self.words if word.detected), None)

    @property
    def arm(self) -> str:
        """Return its arm."""
        return self.counted.arm

    @property
    def unit(self) -> str:
        """Return what was assigned to the arm."""
        return self.counted.unit


def has_control(sessions: Iterable[OwnSession]) -> bool:
    """Return whether both arms have sessions."""
    return {one.arm for one in sessions} >= {GUIDE, SHADOW}


_SPOKEN = TableHead(
    "own_spoken",
    "own_sessions",
    "How often misbehaviour was detected, and how often the agent was told",
    ("A session is counted under a category once. Runs of sub-agents are left out.",),
)


@made_by_this
def spoken_table(sessions: Sequence[OwnSession], source: str, evidence: Evidence) -> Table:
    """Return by arm: sessions, those with a detection, those in which the agent was told, and the words by category."""
    rows: list[Row] = []
    for arm, own in _arms(sessions):
        counts = {"sessions": len(own), "units": len({one.unit for one in own})}
        rows += rows_in("count", counts, ARM_NAMES[arm], source, evidence, n=len(own))
        shares = {
            "sessions with a detection": sum(one.followed is not None for one in own),
            "sessions in which the agent was told": sum(any(word.heard for word in one.words) for one in own),
        }
        estimates = {name: share(count, len(own), "") for name, count in shares.items()}
        rows += rows_in("share", estimates, ARM_NAMES[arm], source, evidence)
        by_category = Counter(name for one in own for word in one.words if word.heard for name in word.categories)
        words = {f"words: {name}": count for name, count in by_category.most_common()}
        rows += rows_in("count", {"words": told_in(own), **words}, ARM_NAMES[arm], source, evidence, n=len(own))
    guided = [one for one in sessions if one.arm != SHADOW]
    by_arm = ", ".join(f"{ARM_NAMES[arm].lower()} {len(own):,}" for arm, own in _arms(sessions))
    heard = sum(any(word.heard for word in one.words) for one in guided)
    words_of_all = f"{counted_text(told_in(guided), 'time')}, in {heard:,} of {counted_text(len(guided), 'session')}"
    return _SPOKEN.table(
        f"{counted_text(len(sessions), 'session')} ({by_arm}). Outside of a control, agents were told that they "
        f"misbehave {words_of_all}.",
        rows,
    )


def told_in(sessions: Iterable[OwnSession]) -> int:
    """Return how many words agents heard."""
    return sum(word.heard for one in sessions for word in one.words)


_RECOVERY = TableHead(
    "own_recovery",
    "own_sessions",
    f"Recovery within {WINDOW} steps, as judged",
    (
        "From the first detection: both arms are followed from the first misbehaviour that was detected, whether or "
        "not the agent was told, so that nothing after the assignment decides who is followed.",
        "After the words: what came after guidance, with no control. Intervals take units as clusters.",
        "What a judge gave no label is left out of its shares, and counted.",
    ),
)


@made_by_this
def own_recovery_table(sessions: Sequence[OwnSession], judge: str, source: str, evidence: Evidence) -> Table:
    """Return recovery from the first detection in either arm, the difference, and recovery after words by category."""
    rows, first = [], {}
    for arm, own in _arms(sessions):
        followed = [(one, one.followed) for one in own if one.followed is not None]
        first[arm] = labelled = _by_unit(followed)
        figure = clustered_share(labelled, "no session with a label")
        rows.append(estimate_row(f"{ARM_NAMES[arm]}: recovered", figure, "share", FIRST, source, evidence))
        unlabelled = {f"{ARM_NAMES[arm]}: no label": sum(word.recovered is None for _, word in followed)}
        rows += rows_in("count", unlabelled, FIRST, source, evidence, n=len(followed))
    finding = ""
    if first.get(GUIDE) and first.get(SHADOW):
        compared = clustered_difference(first[GUIDE], first[SHADOW])
        apart, test = compared.small_sample, compared.small_sample_test
        rows.append(estimate_row("Guidance less control", apart, "difference", FIRST, source, evidence))
        rows += rows_in("p", {"p-value": test}, FIRST, source, evidence)
        guided, alone = (number_text(one, "share") for one in compared.shares)
        warned = "" if told_in(one for one in sessions if one.arm == GUIDE) else f" {NOBODY_TOLD}"
        none = "" if test.p_value is not None and test.p_value < LEVEL else "; no difference was found"
        finding = (
            f"From the first detection on, {guided} recovered with guidance and {alone} in the control, as {judge} "
            f"judges: a difference of {with_interval(apart, 'difference')}{none}.{warned}"
        )
    heard = [(one, word) for one in sessions for word in one.words if word.heard]
    overall = clustered_share(_by_unit(heard), "no word with a label")
    rows.append(estimate_row("All", overall, "share", HEARD, source, evidence))
    for name in dict.fromkeys(name for _, word in heard for name in word.categories):
        own_words = [(one, word) for one, word in heard if name in word.categories]
        figure = clustered_share(_by_unit(own_words), "no word with a label")
        rows.append(estimate_row(name, figure, "share", HEARD, source, evidence))
    labelled_words = sum(word.recovered is not None for _, word in heard)
    after = (
        f"After {labelled_words:,} of {counted_text(len(heard), 'word')} that {judge} gave a label, the misbehaviour "
        f"was over in {with_interval(overall, 'share')}."
        if labelled_words
        else f"No word that an agent heard has a label of {judge}."
    )
    return _RECOVERY.table(f"{finding or (_NOTHING_DETECTED if has_control(sessions) else NO_CONTROL)} {after}", rows)


def _by_unit(words: Iterable[tuple[OwnSession, OwnWord]]) -> list[tuple[int, int]]:
    labelled = [(one.unit, int(word.recovered), 1) for one, word in words if word.recovered is not None]
    return list(summed(labelled).values())


def _arms(sessions: Sequence[OwnSession]) -> list[tuple[str, list[OwnSession]]]:
    arms = ((arm, [one for one in sessions if one.arm == arm]) for arm in ARM_NAMES)
    return [(arm, own) for arm, own in arms if own]
