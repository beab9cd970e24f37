"""What a model wrote → a label, or the reason why there is none.

    {"reasoning": "…", "label": "yes", "score": 0.8, "steps": [4, 7]}

Fences and prose around the object do no harm. A reply that could be read in two ways is unreadable; no label is ever
guessed, and no reply, however it is made, is more than one unreadable item.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from misstep_harness.escaping import without_surrogates
from misstep_harness.judges.fencing import fenced_parts
from misstep_harness.verdict import Status

_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
"""What a model thinks before it answers; a thought without an end is not an answer."""

_THOUGHT_ENDS = "</think>"

_MOST_CHARACTERS = 1_000_000
_MOST_STEPS = 1 << 31
"""Where it is not known how many steps a run has: no run has so many."""

_MOST_BROKEN = 200
"""How many braces may open text that is not an object: each costs a look at all the text before it."""


class Answer(Struct, frozen=True):
    """What was read in one reply: a label exactly where the status is `answered`; `error` says what was wrong.

    `more` are the other fields of the object that answered, as they were decoded, each that is there once.
    """

    label: str | None
    status: Status
    score: float | None = None
    steps: tuple[int, ...] = ()
    rationale: str = ""
    error: str | None = None
    more: dict[str, Any] = {}


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs, so that a key that comes twice is seen."""

    def get(self, key: str) -> Any:
        return next((value for name, value in self if name == key), None)

    def has(self, key: str) -> bool:
        return any(name == key for name, _ in self)


class _Object(Struct, frozen=True):
    """A JSON object as it is in a text, from `start` to `end`."""

    value: _Pairs
    start: int
    end: int


_FIELDS = ("reasoning", "label", "score", "steps")

_BRACE = re.compile(r"[{}]")

_DECODER = json.JSONDecoder(object_pairs_hook=_Pairs, strict=False)
"""Reads a raw line break inside a text as well, which models do write."""

_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))|,(?=\s*+[}\]])', re.DOTALL)
"""A comma behind the last of an object or a list; or a text, in which a comma is a comma."""


def schema_of(labels: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of a reply with one of the labels; reasoning comes first, so that the label follows from it."""
    return {
        "type": "object",
        "properties": {
            "reasoning": {"type": "string"},
            "label": {"type": "string", "enum": list(labels)},
            "score": {"type": "number", "minimum": 0, "maximum": 1},
            "steps": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["reasoning", "label", "score", "steps"],
        "additionalProperties": False,
    }


def read_reply(
    text: str | None,
    labels: Mapping[str, str] | Sequence[str],
    *,
    refusal: str | None = None,
    finish: str | None = None,
    steps: int | None = None,
    shown: str = "",
) -> Answer:
    """Return what a reply says."""
    if refusal:
        return Answer(None, "refused", rationale=without_surrogates(refusal), error="the model refused")
    if finish == "content_filter":
        filtered = without_surrogates(text or "")
        return Answer(None, "refused", rationale=filtered, error="the server's content filter cut the reply")
    if text is None or not text.strip():
        return Answer(None, "unreadable", error=_cut(finish) or "the reply is empty")
    if len(text) > _MOST_CHARACTERS:
        return _unreadable(text, f"the reply has {len(text):,} characters")
    meant = labels if isinstance(labels, Mapping) else dict(zip(labels, labels, strict=True))
    reply = without_surrogates(_THOUGHT.sub("", text, count=1))
    objects, fault = _objects(reply)
    # Some servers leave out where a thought begins.
    _, closed, behind = reply.rpartition(_THOUGHT_ENDS)
    ends = len(reply) - len(behind)
    if closed and not any(one.start < ends < one.end for one in objects) and "{" in behind:
        reply, (objects, fault) = behind, _objects(behind)
    parts = [one for one in objects if one.value.has("label")]
    if not parts:
        return _unreadable(text, _cut(finish) or ("no object has a label" if objects else fault or "no JSON object"))
    # A reply that was cut is an answer only if it is an object and nothing else.
    around = reply[: objects[0].start] + reply[objects[0].end :]
    if fault or (finish == "length" and (len(objects) > 1 or around.strip())):
        return _unreadable(text, _cut(finish) or fault)
    answers = [_answer(one.value, meant, steps) for one in parts]
    labelled = {answer.label for answer in answers if answer.status == "answered"}
    if len(answers) > 1 and (len(labelled) > 1 or any(answer.status != answers[0].status for answer in answers)):
        return _unreadable(text, "several objects that say different things")
    own = [
        answer for one, answer in zip(parts, answers, strict=True) if not _is_quoted(reply[one.start : one.end], shown)
    ]
    if not own:
        return _unreadable(text, "the object stands word for word in the record that was shown")
    answer = own[-1]
    return _unreadable(text, answer.error or "no label") if answer.status == "unreadable" else answer


def _is_quoted(source: str, shown: str) -> bool:
    return source in shown and any(source in part for part in fenced_parts(shown))


def _cut(finish: str | None) -> str:
    return "the reply was cut at the most tokens it may have" if finish == "length" else ""


def _unreadable(text: str, error: str) -> Answer:
    return Answer(None, "unreadable", rationale=without_surrogates(text), error=error)


def _objects(text: str) -> tuple[list[_Object], str]:
    """The JSON objects that stand side by side in a text, and what is wrong with the braces outside of them, if any."""
    objects: list[_Object] = []
    depth, place, broken = 0, 0, 0
    while (brace := _BRACE.search(text, place)) is not None:
        sign = brace.start()
        if text[sign] == "{" and depth == 0:
            value, end = _decoded(text, sign)
            if value is None:
                depth, place, broken = 1, sign + 1, broken + 1
            else:
                place = end
                objects.append(_Object(value, sign, place))
            if broken > _MOST_BROKEN:
                return objects, f"more than {_MOST_BROKEN} braces that open no object"
            continue
        depth += 1 if text[sign] == "{" else -1
        if depth < 0:
            return objects, "the braces do not close"
        place = sign + 1
    return objects, "" if depth == 0 else "the braces do not close" if objects else "no JSON object"


def _decoded(text: str, start: int) -> tuple[Any, int]:
    """Return the object that begins at a place, and where it ends; a comma behind its last field is passed over."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):  # no JSON, a number of thousands of digits, thousands of brackets
        repaired = _TRAILING_COMMA.sub(lambda match: match[1] or " ", text[start:])
    if repaired == text[start:]:
        return None, start
    try:
        value, length = _DECODER.raw_decode(repaired)
    except (ValueError, RecursionError):
        return None, start
    return value, start + length


def _answer(fields: _Pairs, meant: Mapping[str, str], steps: int | None) -> Answer:
    values = [value for name, value in fields if name == "label"]
    if len(values) > 1 and not (all(isinstance(value, str) for value in values) and len(set(values)) == 1):
        return Answer(None, "unreadable", error="two labels in one object")
    rationale = fields.get("reasoning")
    rationale = without_surrogates(rationale) if isinstance(rationale, str) else ""
    if values[0] is None:
        return Answer(None, "abstained", rationale=rationale, error="the judge gave no label")
    if not isinstance(values[0], str):
        return Answer(None, "unreadable", error=f"the label {_short(values[0])} is not text")
    label = label_meant(values[0], meant)
    if label is None:
        return Answer(None, "unreadable", error=f"the label {_short(values[0])} is none of {', '.join(meant)}")
    score, wrong_score = _score(fields.get("score"))
    evidence, wrong_steps = _steps(fields.get("steps"), steps)
    error = "; ".join(filter(None, (wrong_score, wrong_steps))) or None
    names = Counter(name for name, _ in fields)
    more = {name: value for name, value in fields if names[name] == 1 and name not in _FIELDS}
    return Answer(label, "answered", score, evidence, rationale, error, more)


def label_meant(text: str, meant: Mapping[str, str]) -> str | None:
    """The label that is meant, letter case and white space left aside as in the prompt, where that is one only."""
    if text in meant:
        return meant[text]
    plain = " ".join(text.split()).casefold()
    alike = {label for name, label in meant.items() if " ".join(name.split()).casefold() == plain}
    return alike.pop() if len(alike) == 1 else None


def _score(score: Any) -> tuple[float | None, str]:
    if score is None:
        return None, ""
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        return None, f"the score {_short(score)} is not a number from 0 to 1 and was left out"
    return float(score), ""


def cited_steps(cited: Any, steps: int | None) -> tuple[int, ...]:
    """Return the steps of a run that a field of a reply names, each once and in order; what is none is left out."""
    return _steps(cited, steps)[0]


def _steps(cited: Any, steps: int | None) -> tuple[tuple[int, ...], str]:
    if cited is None:
        return (), ""
    values = cited if isinstance(cited, list) and not isinstance(cited, _Pairs) else [cited]
    most = _MOST_STEPS if steps is None else steps
    evidence = [one for one in values if isinstance(one, int) and not isinstance(one, bool) and 0 <= one < most]
    left_out = len(values) - len(evidence)
    error = f"{left_out} of {len(values)} evidence steps are not in the run" if left_out else ""
    return tuple(sorted(set(evidence))), error


def _short(value: Any) -> str:
    try:
        shown = without_surrogates(json.dumps(value, ensure_ascii=False))
    except RecursionError:
        return "of a thousand brackets"
    except ValueError:
        return "of thousands of digits"
    return shown if len(shown) <= 60 else f"{shown[:57]}…"
