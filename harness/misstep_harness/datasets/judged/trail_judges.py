"""The answers of three judges that TRAIL ships: raw text, one file a trace, from which errors are read.

A file `judge_outputs/<model>_<source>/<trace id>.json` is what a model wrote, not always JSON:

    ```json
    {"errors": [{"category": "Formatting Errors", "location": "36b1c6c7218394ab", "evidence": "…",
     "description": "…", "impact": "LOW"}], "scores": [{"reliability_score": 3, …}]}
    ```

An answer may be in a code fence, and may be a list of one such object. Anything else that is not JSON is unreadable. If
upstream's own program wrote that there was no output, the judge failed. The verdicts are on the items of `trail`; their
rationale is what the judge says of its errors of that category. `answers` also has errors of categories without an
item.

An annotation and a judge's answer both end in ratings from 1 to 5 of the trace:

    {"errors": [...], "scores": [{"reliability_score": 3, "security_score": 5, "instruction_adherence_score": 2,
     "plan_opt_score": 4, "overall": 3.5, "reliability_reasoning": "…"}]}

People also gave values between whole ones. `overall` is the mean of the four and is not read; an answer may lack an
aspect.

TRAIL: agent traces with the errors that annotators found in their spans.

One annotation, `annotations_<source>/<trace id>.json`, shortened:

    {"trace_id": "0f…", "errors": [{"category": "Formatting Errors", "location": "36b1c6c7218394ab",
     "evidence": "…", "description": "…", "impact": "LOW"}], "scores": [{"reliability_score": 4, …}]}

`location` names a span; if the trace is available it becomes the step that was made of the span. An item is a trace and
a category, `<trace id>/<category>`: present or absent. The categories are those that occur in the annotations.
`gold_errors.jsonl` has every single error. `trail_judges` reads `judge_outputs/` and the scores of a trace.
"""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from misstep_harness.datasets.benchmark import Facts, Gold, GoldError, Item, SetWriter
from misstep_harness.datasets.upstream import file_text, files_in, json_file, trajectories
from misstep_harness.errors import InputError
from misstep_harness.protocols import ReadFile
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Status, Verdict

NAME = "trail"
RATER = "annotators"
SOURCES = ("gaia", "swe_bench")


class Error(Struct, frozen=True):
    """One annotated error; one upstream record has no `description`."""

    category: str
    location: str
    evidence: str
    impact: str
    description: str = ""


class Annotation(Struct, frozen=True):
    """The annotations of one trace."""

    errors: tuple[Error, ...]


class _Trace(Struct, frozen=True):
    id: str
    source: str
    errors: tuple[Error, ...]
    run: Trajectory | None


def load(folder: Path, out: Path, read: ReadFile) -> None:
    """Write `trail`."""
    runs = {
        (name := path.name.partition(".")[0]): msgspec.structs.replace(run, id=name)
        for source in SOURCES
        for path in sorted((folder / f"traces_{source}").glob("*.json*"))
        for run in trajectories(path, read, NAME)
    }
    traces = [
        _Trace(path.name.removesuffix(".json"), source, json_file(path, Annotation).errors, runs.get(path.stem))
        for source in SOURCES
        for path in files_in(folder / f"annotations_{source}", "*.json")
    ]
    categories = sorted({error.category for trace in traces for error in trace.errors})
    pairs = [(trace, category) for trace in traces for category in categories]
    SetWriter(NAME, folder, out).write(
        [_item(trace, category) for trace, category in pairs],
        [Gold(item_id(trace.id, category), RATER, _label(trace, category)) for trace, category in pairs],
        {"traces": runs.values()},
        [error for trace in traces for error in _errors(trace)],
    )


def item_id(trace: str, category: str) -> str:
    """Return the id of the item that asks whether a trace has an error of a category."""
    return f"{trace}/{category}"


def _item(trace: _Trace, category: str) -> Item:
    return Item(
        id=item_id(trace.id, category),
        kind="misbehaviour",
        trajectory_id=None if trace.run is None else trace.id,
        task="" if trace.run is None else trace.run.task,
        unaskable="" if trace.run is not None else "its trace is not in the public files",
        extra={"trace": trace.id, "source": trace.source, "category": category, "cluster": trace.id},
    )


def _label(trace: _Trace, category: str) -> str:
    return "present" if any(error.category == category for error in trace.errors) else "absent"


def _errors(trace: _Trace) -> Iterator[GoldError]:
    step_of_span: dict[str, int] = {} if trace.run is None else trace.run.extra.get("step_of_span", {})
    for error in trace.errors:
        yield GoldError(
            trajectory=trace.id,
            label=error.category,
            step=step_of_span.get(error.location),
            location=error.location,
            impact=error.impact,
            reason=error.description,
            evidence=error.evidence,
        )


ASPECTS = {
    "reliability": "reliability_score",
    "security": "security_score",
    "instruction adherence": "instruction_adherence_score",
    "plan": "plan_opt_score",
}
"""An aspect → the field that has its rating."""

Ratings = dict[str, float]
"""Aspect → rating."""

_FENCE = "```"
_UNREAD = b"an answer that could not be read; its text is not recorded"
_NO_OUTPUT = ("Error processing file", "Context window exceeded", "No output produced")


class NamedError(Struct, frozen=True):
    """One error that a judge named: its category, the span that it is in, and what it says of it in any form."""

    category: str
    location: str
    description: Any = None

    @property
    def sentence(self) -> str:
        """Return what the judge says of the error, and where."""
        description = self.description.strip() if isinstance(self.description, str) else ""
        return f"span {self.location}: {description}" if description else f"span {self.location}"


class _Document(Struct, frozen=True):
    errors: tuple[NamedError, ...]
    scores: Any = None


class JudgeAnswer(Struct, frozen=True):
    """A judge's answer about one trace; `errors` is empty unless it is answered, `reason` says why it is not.

    `scores` is the value of that name, of any shape: see `ratings_in`.
    """

    trace: str
    status: Status
    errors: tuple[NamedError, ...] = ()
    reason: str = ""
    scores: Any = None


def recorded(folder: Path) -> dict[str, tuple[Verdict, ...]]:
    """Return the verdicts of each judge on whether a trace has an error of a category."""
    paths = [path for source in SOURCES for path in files_in(folder / f"annotations_{source}", "*.json")]
    categories = sorted({error.category for path in paths for error in json_file(path, Annotation).errors})
    return {
        judge: tuple(verdict for answer in each for verdict in _verdicts(judge, answer, categories))
        for judge, each in answers(folder).items()
    }


def answers(folder: Path) -> dict[str, tuple[JudgeAnswer, ...]]:
    """Return the answers of each judge, trace by trace."""
    by_judge: dict[str, tuple[JudgeAnswer, ...]] = {}
    for judge in sorted(path for path in files_in(folder / "judge_outputs", "*") if path.is_dir()):
        if not judge.name.endswith(SOURCES):
            known = ", ".join(SOURCES)
            raise InputError(f"the answers are about runs of an unknown source; known are {known}", file=judge)
        paths = files_in(judge, "*.json")
        by_judge[judge.name] = tuple(read_answer(path.name.removesuffix(".json"), file_text(path)) for path in paths)
    return by_judge


def read_answer(trace: str, text: str) -> JudgeAnswer:
    """Return what a judge's text says of a trace."""
    reply = text.strip()
    if reply.startswith(_NO_OUTPUT):
        return JudgeAnswer(trace, "failed", reason=reply)
    try:
        decoded = msgspec.json.decode(_unfenced(reply), type=_Document | list[_Document])
    except msgspec.DecodeError as error:
        return JudgeAnswer(trace, "unreadable", reason=str(error))
    parts = decoded if isinstance(decoded, list) else [decoded]
    errors = tuple(error for part in parts for error in part.errors)
    scores = next((part.scores for part in parts if part.scores), None)
    return JudgeAnswer(trace, "answered", errors, scores=scores)


def _unfenced(text: str) -> str:
    """Return the text in a code fence that encloses all of it; any other text as it is."""
    if not (text.startswith(_FENCE) and text.endswith(_FENCE)):
        return text
    return text.partition("\n")[2].removesuffix(_FENCE)


def _verdicts(judge: str, answer: JudgeAnswer, categories: list[str]) -> list[Verdict]:
    model = next(judge.removesuffix(f"_{source}") for source in SOURCES if judge.endswith(source))
    named: dict[str, list[str]] = {}
    for error in answer.errors:
        named.setdefault(error.category, []).append(error.sentence)
    return [
        Verdict(
            item_id(answer.trace, category),
            judge,
            None if answer.status != "answered" else "present" if category in named else "absent",
            answer.status,
            rationale="; ".join(named.get(category, ())),
            model=model,
            error=answer.reason or None,
        )
        for category in categories
    ]


class _Scores(Struct, frozen=True):
    scores: tuple[dict[str, object], ...] = ()


def people_ratings(folder: Path) -> dict[str, Ratings]:
    """Return what people gave each trace; an aspect that they did not rate is left out."""
    return {
        path.name.removesuffix(".json"): ratings_in(json_file(path, _Scores).scores)
        for source in SOURCES
        for path in files_in(folder / f"annotations_{source}", "*.json")
    }


def judge_ratings(folder: Path) -> dict[str, dict[str, Ratings | None]]:
    """Return judge → trace → what the judge gave it, `None` if it gave no answer."""
    return {judge: {answer.trace: _of_answer(answer) for answer in each} for judge, each in answers(folder).items()}


def ratings_in(scores: object) -> Ratings:
    """Return the ratings in an object or a list of one; whatever is not a number is not a rating."""
    first = scores[0] if isinstance(scores, list | tuple) and scores else scores
    if not isinstance(first, dict):
        return {}
    grades = {aspect: first.get(field) for aspect, field in ASPECTS.items()}
    return {
        aspect: float(value)
        for aspect, value in grades.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _of_answer(answer: JudgeAnswer) -> Ratings | None:
    return ratings_in(answer.scores) if answer.status == "answered" else None


class RatedTrace(Struct, frozen=True):
    """A trace and what people gave it."""

    trace: str
    source: str
    reliability: float | None = None
    security: float | None = None
    instruction_adherence: float | None = None
    plan: float | None = None


class MarkedSpan(Struct, frozen=True):
    """An error that people marked; the spans that anybody marked in a trace are numbered from 0."""

    trace: str
    span: int
    category: str
    impact: str = ""


class RatedAnswer(Struct, frozen=True):
    """Whether a judge answered about a trace, and what it gave it."""

    judge: str
    trace: str
    status: Status
    reliability: float | None = None
    security: float | None = None
    instruction_adherence: float | None = None
    plan: float | None = None


class NamedSpan(Struct, frozen=True):
    """An error that a judge named; its span has the number that it has in people's marks."""

    judge: str
    trace: str
    span: int
    category: str = ""


def _annotations(folder: Path) -> Iterator[tuple[str, str, Annotation]]:
    for source in SOURCES:
        for path in files_in(folder / f"annotations_{source}", "*.json"):
            yield source, path.name.removesuffix(".json"), json_file(path, Annotation)


def _fields(ratings: Ratings) -> dict[str, float]:
    return {aspect.replace(" ", "_"): value for aspect, value in ratings.items()}


def _numbered(folder: Path) -> dict[str, dict[str, int]]:
    """Return trace → span → number: a judge may call anything a span."""
    spans: dict[str, dict[str, int]] = defaultdict(dict)
    marked = [(trace, error.location) for _, trace, one in _annotations(folder) for error in one.errors]
    named = [(one.trace, error.location) for each in answers(folder).values() for one in each for error in one.errors]
    for trace, span in (*marked, *named):
        spans[trace].setdefault(span, len(spans[trace]))
    return spans


def _rated_traces(folder: Path) -> Iterator[RatedTrace]:
    ratings = people_ratings(folder)
    for source, trace, _ in _annotations(folder):
        yield RatedTrace(trace, source, **_fields(ratings[trace]))


def _marked_spans(folder: Path) -> Iterator[MarkedSpan]:
    spans = _numbered(folder)
    for _, trace, annotation in _annotations(folder):
        for error in annotation.errors:
            yield MarkedSpan(trace, spans[trace][error.location], error.category, error.impact)


def _rated_answers(folder: Path) -> Iterator[RatedAnswer]:
    for judge, each in answers(folder).items():
        for answer in each:
            yield RatedAnswer(judge, answer.trace, answer.status, **_fields(_of_answer(answer) or {}))


def _named_spans(folder: Path) -> Iterator[NamedSpan]:
    spans = _numbered(folder)
    for judge, each in answers(folder).items():
        for answer in each:
            for error in answer.errors:
                yield NamedSpan(judge, answer.trace, spans[answer.trace][error.location], error.category)


TRACES = Facts(NAME, "traces", RatedTrace, _rated_traces)
MARKS = Facts(NAME, "marks", MarkedSpan, _marked_spans)
ANSWERS = Facts(NAME, "answers", RatedAnswer, _rated_answers)
NAMED = Facts(NAME, "named", NamedSpan, _named_spans)
FACTS: tuple[Facts[Any], ...] = (TRACES, MARKS, ANSWERS, NAMED)
"""All that is read of the set but its texts and runs."""


def lay_out(folder: Path) -> None:
    """Write the facts as the files of the set; texts are empty, and an answer that was not read stays unread."""
    marks, named = defaultdict(list), defaultdict(list)
    for mark in MARKS.recorded():
        error = {"category": mark.category, "location": str(mark.span), "evidence": "", "impact": mark.impact}
        marks[mark.trace].append(error)
    for one in NAMED.recorded():
        named[one.judge, one.trace].append({"category": one.category, "location": str(one.span)})
    for trace in TRACES.recorded():
        document = {"errors": marks[trace.trace], "scores": [_scores(trace)]}
        _write(folder / f"annotations_{trace.source}", trace.trace, msgspec.json.encode(document))
    for answer in ANSWERS.recorded():
        read = {"errors": named[answer.judge, answer.trace], "scores": [_scores(answer)]}
        reply = {"answered": msgspec.json.encode(read), "failed": _NO_OUTPUT[-1].encode()}
        _write(folder / "judge_outputs" / answer.judge, answer.trace, reply.get(answer.status, _UNREAD))


def _scores(rated: RatedTrace | RatedAnswer) -> dict[str, float | None]:
    return {field: getattr(rated, aspect.replace(" ", "_")) for aspect, field in ASPECTS.items()}


def _write(folder: Path, trace: str, content: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{trace}.json").write_bytes(content)
