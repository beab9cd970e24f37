"""Records as pandas frames, for notebooks: printed figures, sessions, attempts, ratings, judges' answers, estimates."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from misstep_analysis.judging.sample import majority
from misstep_analysis.published import load_paper
from misstep_analysis.repair.attempts import counted

if TYPE_CHECKING:
    from pandas import DataFrame

    from misstep_analysis.judging.judged import JudgedItems
    from misstep_analysis.judging.ratings import JudgedRatings
    from misstep_analysis.observer.paper.generated_prevalence import Study
    from misstep_analysis.passing.solve_rates import SolvedSet
    from misstep_analysis.published import Figure, Paper
    from misstep_analysis.repair.attempts import RepairArm
    from misstep_analysis.sessions.validity import JudgedSet
    from misstep_analysis.stats.estimate import Estimate
    from misstep_analysis.triage.paper.agreement import RatedSet

_FIGURE = ("id", "place", "row", "column", "printed", "number", "unit", "numerator", "denominator")
_SESSION = ("dataset", "session", "category", "label", "first_step", "n_steps")
_ATTEMPT = ("title", "system", "task", "tried", "solved")
_REPAIR = ("policy", "author", "setting", "format", "instructions", "instructions_author", "benchmark", "evidence")
_REPAIRED = ("case", "sample", "solved", "patched", "iterations", "seconds")
_ANSWER = ("judge", "item", "cluster", "gold", "label", "status")
_RATING = ("title", "aspect", "run", "people", "judge")
_ESTIMATE = ("value", "low", "high", "n")


def frame_of(records: Iterable[Any], kind: type[msgspec.Struct]) -> "DataFrame":
    """Records of one kind as a frame: a row a record, a column a field, also without records."""
    return _frame((msgspec.to_builtins(record) for record in records), kind.__struct_fields__)


def printed(paper: str, opening: str = "") -> "DataFrame":
    """Return the figures that a paper prints, one row a figure, by id.

    `number` is missing for a text. `numerator` and `denominator` are the counts of a share, if both are printed.
    """
    known = load_paper(paper)
    rows = (
        (figure.id, figure.place, figure.row, figure.column, figure.printed, _number(figure), figure.unit, *counts)
        for figure in known.figure
        if figure.id.startswith(opening)
        for counts in [_counts(known, figure)]
    )
    return _frame(rows, _FIGURE).set_index("id")


def _number(figure: "Figure") -> float | None:
    return None if figure.unit == "text" else figure.number


def _counts(paper: "Paper", figure: "Figure") -> tuple[float | None, float | None]:
    ids = figure.inputs if figure.check == "percentage" else {}
    numbers = {name: _number(paper[str(ids[name])]) for name in ("count", "n", "repeats") if name in ids}
    count, n, repeats = numbers.get("count"), numbers.get("n"), numbers.get("repeats", 1.0)
    return (None, None) if count is None or n is None or repeats is None else (count, n * repeats)


def sessions(sets: Iterable["JudgedSet"]) -> "DataFrame":
    """Classified runs, a row a run and category; `label` is missing if unknown, `first_step` without evidence."""
    rows = (
        (judged.benchmark, one.item, one.judge, one.label, min(one.steps, default=None), judged.n_steps[one.item])
        for judged in sets
        for one in judged.verdicts
    )
    return _frame(rows, _SESSION)


def study_sessions(study: "Study") -> "DataFrame":
    """Return a generated study, one row a session and category: what was planted, and the rule's label."""
    rows = (
        (session.item, category, category in session.planted, session.found[category])
        for session in study.sessions
        for category in study.categories
    )
    return _frame(rows, ("item", "category", "planted", "label"))


def attempts(sets: Iterable["SolvedSet"]) -> "DataFrame":
    """Systems on tasks, one row a system and task: how often the task was tried, and how often of these solved."""
    rows = (
        (one.title, system, task, *counts)
        for one in sets
        for system, cells in one.systems.items()
        for task, counts in cells.items()
    )
    return _frame(rows, _ATTEMPT)


def repairs(arms: Iterable["RepairArm"]) -> "DataFrame":
    """Attempts at cases that hold, one row an attempt; one that broke before it was scored is not `solved`."""
    rows = (
        {name: getattr(arm, name) for name in _REPAIR}
        | {name: getattr(attempt, name) for name in _REPAIRED}
        | {"solved": attempt.solved is True}
        for arm in arms
        for attempt in counted(arm.attempts)
    )
    return _frame(rows, (*_REPAIR, *_REPAIRED))


def ratings(rated: "RatedSet") -> "DataFrame":
    """Return a set of ratings, a row an item and a column a rater; a label that was not given is missing."""
    names = dict(enumerate(rated.labels.categories))
    rows = ([names.get(code) for code in codes] for codes in rated.labels.codes.tolist())
    return _frame(rows, rated.labels.raters).set_axis(list(rated.labels.items), axis="index")


def answers(judged: Iterable["JudgedItems"]) -> "DataFrame":
    """Judges' answers beside people's label, one row a judge and item.

    `gold` is missing if people tie, `label` if the judge gave none. Items of one `cluster` hang together.
    """
    rows = (
        (one.title, item, one.clusters.get(item, item), gold.get(item), verdict.label, verdict.status)
        for one in judged
        for gold in [majority(one.gold).label_of]
        for verdict in one.verdicts
        for item in [verdict.item]
    )
    return _frame(rows, _ANSWER)


def run_ratings(judged: Iterable["JudgedRatings"]) -> "DataFrame":
    """Ratings of runs by a judge and by people, one row a judge, aspect and run; what was not rated is missing."""
    rows = (
        (one.title, aspect, run, rating, (one.judge.get(run) or {}).get(aspect))
        for one in judged
        for run, ratings in one.people.items()
        for aspect, rating in ratings.items()
    )
    return _frame(rows, _RATING)


def estimates(by_key: Mapping[Any, "Estimate"], *names: str) -> "DataFrame":
    """Estimates as a frame: value, low, high and n of each, by what it is of."""
    rows = [[getattr(estimate, name) for name in _ESTIMATE] for estimate in by_key.values()]
    return _indexed(rows, _ESTIMATE, list(by_key), names)


def values(by_key: Mapping[Any, float], *names: str) -> "DataFrame":
    """Numbers as a frame with one column, `value`."""
    return _indexed([[float(number)] for number in by_key.values()], _ESTIMATE[:1], list(by_key), names)


def _indexed(rows: Sequence[Any], columns: Sequence[str], keys: Sequence[Any], names: Sequence[str]) -> "DataFrame":
    import pandas as pd

    levels = names or ("quantity",)
    parts = list(zip(*keys, strict=True)) if len(levels) > 1 else [keys]
    index = [pd.Index(part, name=name) for part, name in zip(parts or [[] for _ in levels], levels, strict=True)]
    return pd.DataFrame(
        rows, index=index[0] if len(index) == 1 else pd.MultiIndex.from_arrays(index), columns=list(columns)
    )


def _frame(rows: Iterable[Any], columns: Sequence[str]) -> "DataFrame":
    import pandas as pd  # takes a second

    return pd.DataFrame(list(rows), columns=list(columns))
