"""Prevalence in a generated study: as planted, as found, corrected; by week, day, version and users' rating."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import chain
from typing import Literal

from msgspec import Struct

from misstep.analysis.measures import shares
from misstep.analysis.measures.prevalence import ANY, YES, Prevalence, prevalence
from misstep.analysis.stats.correction import rogan_gladen
from misstep.analysis.stats.estimate import Estimate, informative
from misstep.analysis.stats.printed.two_proportions import newcombe, pooled_z
from misstep.analysis.stats.significance import Significance, holm
from misstep.harness.errors import UsageError

TruthSource = Literal["planted", "found"]

NOTHING_ANSWERED = "the classifier answered for no session"


class StudiedSession(Struct, frozen=True):
    """One session; `found` has a label for each category, `kinds` how each planted one is played."""

    item: str
    version: str
    week: int
    day: str
    liked: bool | None
    planted: frozenset[str]
    found: dict[str, str | None]
    kinds: dict[str, str] = {}

    def shows(self, category: str, source: TruthSource) -> bool | None:
        """Return whether it shows a category or any, as planted or as found; `None` where that was not answered."""
        if source == "planted":
            return bool(self.planted) if category == ANY else category in self.planted
        if category == ANY:
            return YES in self.found.values()
        label = self.found[category]
        return None if label is None else label == YES


class Study(Struct, frozen=True):
    """Sessions, others on which the classifiers' errors are measured, the categories, and where it all comes from."""

    sessions: tuple[StudiedSession, ...]
    validation: tuple[StudiedSession, ...]
    categories: tuple[str, ...]
    source: str


def share(sessions: Iterable[StudiedSession], category: str, source: TruthSource) -> Estimate:
    """Return the share of the answered sessions that show a category or any, with Wilson's interval."""
    shown = [one for session in sessions if (one := session.shows(category, source)) is not None]
    return shares.share(sum(shown), len(shown), NOTHING_ANSWERED)


def alone(study: Study) -> Prevalence:
    """Counts and shares as planted, also of the sessions that show one category and nothing else."""
    labels = (tuple(YES if name in one.planted else "no" for name in study.categories) for one in study.sessions)
    return prevalence(study.categories, Counter(labels))


def corrected(study: Study, category: str) -> Estimate:
    """Return the share found, corrected by the sensitivity and specificity measured on the validation sessions."""
    flagged = [one for session in study.sessions if (one := session.shows(category, "found")) is not None]
    if not flagged:
        return Estimate(None, n=0, reason=NOTHING_ANSWERED)
    pairs = [(session.shows(category, "found"), session.shows(category, "planted")) for session in study.validation]
    sensitive = [one is True for one, truth in pairs if one is not None and truth]
    left_alone = [one is False for one, truth in pairs if one is not None and not truth]
    counts = [(sum(answers), len(answers)) for answers in (flagged, sensitive, left_alone)]
    return informative(rogan_gladen(counts[0], counts[1], counts[2]).estimate)


def by_week(study: Study, category: str, source: TruthSource) -> dict[int, Estimate]:
    """Week → the share of its sessions."""
    weeks = sorted({session.week for session in study.sessions})
    return {week: share((one for one in study.sessions if one.week == week), category, source) for week in weeks}


def sampled_by_day(study: Study, part: float, seed: int) -> Estimate:
    """Return the share of sessions in which anything is found, from a sample of each day that is drawn at random.

    Every day gives the same part of its sessions, so that a session stands for as many on any day, but for rounding.
    The interval is Wilson's of the sample: that days are sampled apart can only make it too wide.
    """
    days: defaultdict[str, list[StudiedSession]] = defaultdict(list)
    for session in study.sessions:
        days[session.day].append(session)
    draw = random.Random(seed)  # noqa: S311 (a sample)
    samples = [draw.sample(own, max(1, round(part * len(own)))) for _, own in sorted(days.items())]
    return share(chain.from_iterable(samples), ANY, "found")


class Versions(Struct, frozen=True):
    """A category in two versions: both shares, the first less the second, the test, its p-value adjusted by Holm."""

    category: str
    shares: tuple[Estimate, Estimate]
    difference: Estimate
    test: Significance
    adjusted: float | None


def compare_versions(study: Study, source: TruthSource) -> tuple[Versions, ...]:
    """Return every category in the first version against the second, in the order of their names."""
    names = sorted({session.version for session in study.sessions})
    if len(names) != 2:
        raise UsageError(f"{len(names)} versions of the agent: two are compared")
    arms = [[session for session in study.sessions if session.version == name] for name in names]
    rows = []
    for category in study.categories:
        first, second = (share(arm, category, source) for arm in arms)
        rows.append((category, (first, second), *_compared(first, second)))
    adjusted = holm([test.p_value for *_, test in rows]).p_values
    return tuple(Versions(*row, p_value) for row, p_value in zip(rows, adjusted, strict=True))


def _compared(first: Estimate, second: Estimate) -> tuple[Estimate, Significance]:
    if not first.n or not second.n:
        test = Significance(None, None, 0, "two-proportion z, pooled", NOTHING_ANSWERED)
        return Estimate(None, n=0, reason=NOTHING_ANSWERED), test
    counts = [number for one in (first, second) for number in (round((one.value or 0.0) * (one.n or 0)), one.n or 0)]
    return newcombe(*counts), pooled_z(*counts)


def by_rating(study: Study, category: str, source: TruthSource) -> dict[str, Estimate]:
    """Return what users said → the share of the sessions of which they said it; and the share of all."""
    ratings = {"Disliked": False, "Liked": True, "Not rated": None}
    rated = {
        name: share((one for one in study.sessions if one.liked is rating), category, source)
        for name, rating in ratings.items()
    }
    return rated | {"All": share(study.sessions, category, source)}
