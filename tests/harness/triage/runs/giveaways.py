"""Whether words or lengths give away the cause of a failed run: task against agent, families held out in turn."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from misstep_harness.readers import read_file
from misstep_harness.trajectory import Trajectory

Array = np.ndarray[Any, Any]


class Area(Struct, frozen=True):
    """Area under the curve of a model, with its interval and the number of runs."""

    name: str
    value: float
    low: float
    high: float
    n: int


class VisibleRun(Struct, frozen=True):
    """What anyone sees of a failed run, and what only the generator knows of it."""

    text: str
    lengths: tuple[float, ...]
    agent_at_fault: bool
    family: str


def areas(runs: Sequence[VisibleRun]) -> tuple[Area, Area]:
    """Return how well words, and lengths, tell the agent's fault from the task's."""
    texts = np.array([run.text for run in runs], dtype=object)
    lengths = np.array([run.lengths for run in runs], float)
    labels = np.array([run.agent_at_fault for run in runs])
    groups = np.array([run.family for run in runs])
    words = make_pipeline(TfidfVectorizer(sublinear_tf=True, min_df=2), LogisticRegression(C=10, max_iter=2000))
    sizes = make_pipeline(StandardScaler(), LogisticRegression())
    return (_area("words", words, texts, labels, groups), _area("lengths", sizes, lengths, labels, groups))


def _area(name: str, model: Pipeline, shown: Array, labels: Array, groups: Array) -> Area:
    split = GroupKFold(min(10, len(set(groups))))
    scores = cross_val_predict(model, shown, labels, groups=groups, cv=split, method="predict_proba")[:, 1]
    low, high = _interval(labels, scores, groups)
    return Area(name, float(roc_auc_score(labels, scores)), low, high, len(labels))


def visible_runs(folder: Path) -> Iterator[VisibleRun]:
    """Return the failed runs of a generated benchmark that are the task's or the agent's fault."""
    gold = _column(folder / "gold.csv", "label")
    family = _column(folder / "gold_construction.csv", "family")
    for item in sorted(gold):
        (run,) = read_file(folder / item / "trajectory.json")
        if gold[item] not in ("task", "agent") or not isinstance(run, Trajectory) or run.outcome.status != "failed":
            continue
        texts = [part for step in run.steps for part in (step.text, *(str(call.arguments) for call in step.calls))]
        answers = [result.text for step in run.steps for result in step.results]
        logs = [(folder / item / "logs" / name).read_text() for name in ("tests.log", "misstep_harness.log")]
        sizes = (len(run.steps), *(sum(map(len, part)) for part in (texts, answers, logs)), len(run.task))
        yield VisibleRun("\n".join([*texts, *answers, *logs]), sizes, gold[item] == "agent", family[item])


def _column(file: Path, name: str) -> dict[str, str]:
    with file.open(newline="") as stream:
        return {row["item"]: row[name] for row in csv.DictReader(stream)}


def _interval(labels: Array, scores: Array, groups: Array) -> tuple[float, float]:
    random = np.random.default_rng(0)
    places = [np.flatnonzero(groups == name) for name in sorted(set(groups))]
    shares: list[float] = []
    while len(shares) < 1000:
        drawn = np.concatenate([places[n] for n in random.integers(0, len(places), len(places))])
        if 0 < labels[drawn].mean() < 1:
            shares.append(roc_auc_score(labels[drawn], scores[drawn]))
    low, high = np.quantile(shares, [0.025, 0.975])
    return float(low), float(high)
