"""Judges of real data sets with their scores: what the tables of `analysis.measures.judging.tables` are made of."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from misstep.analysis.gold import GoldLabel
from misstep.analysis.measures.judging.people.marked import Mark, MarkedScores, marked_scores
from misstep.analysis.measures.judging.sample import JudgedSample, judged_sample
from misstep.analysis.measures.judging.scores import Scores, score
from misstep.harness.verdict import Verdict

NO_JUDGES = "No judge's recorded answers are available."


class JudgedItems(Struct, frozen=True):
    """One judge's verdicts on some items of a data set, with what people said.

    - `verdicts`, `gold`, `clusters`: As `scores.score` takes them.
    - `on`: Which part of the data set the items are, for people; empty where they are all of it.
    """

    judge: str
    dataset: str
    source: str
    verdicts: tuple[Verdict, ...]
    gold: tuple[GoldLabel, ...]
    clusters: Mapping[str, str]
    labels: tuple[str, ...]
    positive: str
    on: str = ""

    @property
    def title(self) -> str:
        """Return the judge and what it judged."""
        return f"{self.judge} on {self.on}" if self.on else self.judge


class ScoredItems(Struct, frozen=True):
    """The same with its scores."""

    judged: JudgedItems
    scores: Scores


class JudgedMarks(Struct, frozen=True):
    """The errors that one judge named in some runs of a data set, and those that people marked; see `marked`."""

    title: str
    dataset: str
    source: str
    people: Mapping[str, frozenset[Mark]]
    judge: Mapping[str, tuple[Mark, ...] | None]


class ScoredMarks(Struct, frozen=True):
    """The same with its scores."""

    judged: JudgedMarks
    scores: MarkedScores


def datasets_of(judged: Iterable[JudgedItems | JudgedMarks]) -> tuple[str, ...]:
    """Return the data sets that some judges' items are of."""
    return tuple(dict.fromkeys(one.dataset for one in judged))


def sample_of(judged: JudgedItems) -> JudgedSample:
    """Return a judge's verdicts beside people's labels, as the questions about one run take them."""
    return judged_sample(
        judged.verdicts, judged.gold, judged.labels, clusters=judged.clusters, positive=judged.positive
    )


def scored_items(judged: JudgedItems, resamples: int = 10_000, seed: int = 0) -> ScoredItems:
    """Return a judge's verdicts with their scores; `resamples` and `seed` are of the bootstrap."""
    scores = score(
        judged.verdicts,
        judged.gold,
        judged.labels,
        benchmark=judged.dataset,
        clusters=judged.clusters,
        resamples=resamples,
        seed=seed,
    )
    return ScoredItems(judged, scores)


def scored_marks(judged: JudgedMarks, resamples: int = 10_000, seed: int = 0) -> ScoredMarks:
    """Return a judge's marks with their scores; `resamples` and `seed` are of the bootstrap."""
    return ScoredMarks(judged, marked_scores(judged.people, judged.judge, resamples=resamples, seed=seed))
