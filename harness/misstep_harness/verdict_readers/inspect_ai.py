"""Inspect eval logs, JSON and `.eval`: each scorer is a judge, and each epoch an attempt.

A log (made up)::

    {"version": 2, "status": "success", "eval": {"task": "triage", "model": "openai/gpt-x",
     "scorers": [{"name": "model_graded_qa"}]}, "samples": [
     {"id": "a1", "epoch": 1, "metadata": {"case": "k7"}, "scores": {"model_graded_qa":
      {"value": "C", "answer": "a.py", "explanation": "GRADE: C"}}},
     {"id": "a2", "epoch": 1, "scores": {"model_graded_qa":
      {"value": "I", "explanation": "Grade not found in model output: It is fine."}}}]}

The label is the value as Inspect wrote it (`C`, `I`, `1`). A value that is a mapping has a judge for each of its keys,
`SCORER/KEY`. A scorer without a verdict writes NaN (`Score.unscored`); older model graded scorers wrote `I` if they
found no grade in the reply: both are unreadable.

Sources: https://inspect.aisi.org.uk/eval-logs.html, https://inspect.aisi.org.uk/scoring-policy.html,
https://github.com/UKGovernmentBEIS/inspect_ai (src/inspect_ai/scorer/_model.py).
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from misstep_harness.values import plain
from misstep_harness.verdict_readers.written import Place, WrittenVerdict, mapping, objects, scalars, text

NAME = "an Inspect eval log"

_NO_GRADE = "Grade not found in model output"
_ANY = "*"
"""Matches the names of several keys in a name."""
_UNCHANGED = "UNCHANGED"
_UNSCORED = "the scorer gave no verdict"
_FORM = "See https://inspect.aisi.org.uk/eval-logs.html for the form."


def is_own(value: dict[str, Any]) -> bool:
    """Return whether an object is a log: it has a version, and says what was evaluated."""
    about = value.get("eval")
    return isinstance(value.get("version"), int) and isinstance(about, dict) and ("task" in about or "model" in about)


def verdicts(value: dict[str, Any], place: Place) -> Iterator[WrittenVerdict]:
    """Return the scores of all samples, scorer by scorer."""
    samples, judges = value.get("samples"), list(_judges(value))
    for number, sample in enumerate(samples if isinstance(samples, list) else ()):
        if not isinstance(sample, dict) or not isinstance(sample.get("id"), str | int):
            raise place.error("the sample is not an object with an id", _FORM, f"samples[{number}]")
        yield from _of_sample(sample, judges, place)


def _of_sample(sample: dict[str, Any], judges: list[str], place: Place) -> Iterator[WrittenVerdict]:
    item, epoch = plain(sample["id"]), sample.get("epoch")
    attempt = epoch if isinstance(epoch, int) else 1
    names = scalars(sample) | scalars(sample.get("metadata"))
    scores = mapping(sample.get("scores")) or {"score": sample.get("score")}
    judged = set()
    for scorer, score in scores.items():
        if isinstance(score, dict):
            value = score.get("value")
            keys = (
                {f"{scorer}/{key}": one for key, one in value.items()} if isinstance(value, dict) else {scorer: value}
            )
            for judge, graded in keys.items():
                judged.add(judge)
                yield _verdict(item, judge, graded, score, place, attempt, names)
    if isinstance(raised := sample.get("error"), dict):
        error = f"the sample ended with an error: {text(raised.get('message'))}"
        for judge in judges:
            if judge not in judged:
                yield WrittenVerdict(item, None, place, judge, "failed", error=error, attempt=attempt, names=names)


def _verdict(
    item: str, judge: str, graded: Any, score: dict[str, Any], place: Place, attempt: int, names: dict[str, str]
) -> WrittenVerdict:
    rationale = text(score.get("explanation"))
    label = None if graded is None or isinstance(graded, list | dict) else plain(graded)
    error = _UNSCORED if graded is None else "the score is not a single value" if label is None else None
    written_as = ""
    if rationale.startswith(_NO_GRADE) and not _is_edited(score):
        error, written_as, label = "the reply of the grader has no grade", label or "", None
    return WrittenVerdict(
        item,
        label,
        place,
        judge,
        "unreadable" if label is None else "answered",
        rationale=rationale,
        error=error,
        written_as=written_as,
        attempt=attempt,
        names=names,
    )


def _is_edited(score: dict[str, Any]) -> bool:
    """Return whether somebody put another value in the scorer's place; the first of a history is the scorer's own."""
    return any(one.get("provenance") and one.get("value") != _UNCHANGED for one in objects(score.get("history")))


def _judges(log: dict[str, Any]) -> Iterator[str]:
    """Return the judges that the log was made with, as samples name them.

    Inspect leaves the package out and numbers a scorer that comes again from 1.
    """
    counts: Counter[str] = Counter()
    for one in objects(log["eval"].get("scorers")):
        if name := text(one.get("name")).rpartition("/")[2]:
            scorer = f"{name}{counts[name] or ''}"
            counts[name] += 1
            keys = one.get("metrics")
            if isinstance(keys, dict):
                yield from (f"{scorer}/{key}" for key in keys if _ANY not in key)
            else:
                yield scorer
