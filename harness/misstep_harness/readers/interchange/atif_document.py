"""The types of an ATIF document as it is in a file (RFC 0001 of Harbor, versions 1.0 to 1.8), read and written.

    {"schema_version": "ATIF-v1.8", "session_id": "run-7", "trajectory_id": "run-7/main",
     "agent": {"name": "fixer", "version": "2.1", "model_name": "m-large", "tool_definitions": [], "extra": {}},
     "steps": [{"step_id": 1, "source": "user", "message": "Repair the parser."},
               {"step_id": 2, "source": "agent", "timestamp": "2026-01-02T03:04:05Z", "model_name": "m-large",
                "reasoning_effort": "low", "reasoning_content": "A look first.", "message": "Reading it.",
                "tool_calls": [{"tool_call_id": "c1", "function_name": "read", "arguments": {"path": "a.py"}}],
                "observation": {"results": [{"source_call_id": "c1", "content": "x = 1"}]},
                "metrics": {"prompt_tokens": 900, "completion_tokens": 20, "cached_tokens": 0, "cost_usd": 0.002},
                "is_copied_context": false, "llm_call_count": 1, "extra": {}}],
     "notes": "", "final_metrics": {"total_steps": 2}, "continued_trajectory_ref": "next.json",
     "subagent_trajectories": [], "extra": {}}

A message or content is a text or, from version 1.6, a list of parts. Steps count from 1. What ATIF has no place for
is under `extra.misstep` of its level: `Own…` are the types of that.

A long text that is in a document many times, as when steps refer to one attachment, is written once.
The first place has the text, each further one says where that is, and `extra.misstep.repeated` names the places (JSON
pointers). A document is left alone unless what it repeats is most of it:

    {"repeated": {"/steps/2/observation/results/0/content": ["/steps/4/observation/results/0/content"]}}
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from misstep_harness.readers.input.decoding import convert, decode_json, unreadable
from misstep_harness.trajectory import Outcome, Role, Source, Tokens, ToolCall

LONG = 500
"""From how many characters on a text is written once."""

REPEATED, _OWN = "repeated", "misstep"
_LARGEST = 64 << 20


def folded(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document, or if repeated texts are most of it, one that has each once; `unfolded` is the inverse."""
    places: dict[str, list[str]] = {}
    for pointer, text in _texts(document):
        places.setdefault(text, []).append(pointer)
    repeated = {text: where for text, where in places.items() if len(where) > 1 and len(text) >= LONG}
    if sum(len(text) * (len(where) - 1) for text, where in repeated.items()) <= sum(map(len, places)):
        return document
    copy: dict[str, Any] = _copied(document)
    for first, *others in repeated.values():
        for pointer in others:
            _put(copy, pointer, f"[The same text as in {first}]")
    own = copy.setdefault("extra", {}).setdefault(_OWN, {})
    own[REPEATED] = {first: others for first, *others in repeated.values()}
    return copy


def unfolded(document: Any) -> Any:
    """Return the document with every text in its places."""
    if not (repeated := repeated_in(document)):
        return document
    copy, left = _copied(document), _LARGEST
    del copy["extra"][_OWN][REPEATED]
    for first, others in repeated.items():
        text = _at(copy, first)
        left -= len(text) * len(others)
        if left < 0:
            raise ValueError(f"the repeated texts come to over {_LARGEST >> 20} MiB")
        for pointer in others:
            _at(copy, pointer)
            _put(copy, pointer, text)
    return copy


def repeated_in(document: Any) -> dict[str, list[str]]:
    """Return first place → the others, of the texts that a document has once; empty if it was not folded."""
    table: Any = document
    for name in ("extra", _OWN, REPEATED):
        table = table.get(name) if isinstance(table, dict) else None
    is_table = isinstance(table, dict) and all(isinstance(others, list) for others in table.values())
    return dict(table) if is_table else {}


def _texts(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    pending: list[tuple[str, Any]] = [("", document)]
    while pending:
        pointer, value = pending.pop()
        if isinstance(value, str):
            yield pointer, value
        elif isinstance(value, dict):
            pending += [(f"{pointer}/{_escaped(name)}", value[name]) for name in reversed(value)]
        elif isinstance(value, list):
            pending += [(f"{pointer}/{place}", value[place]) for place in range(len(value) - 1, -1, -1)]


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _parent(document: Any, pointer: str) -> tuple[Any, str | int]:
    *names, last = [name.replace("~1", "/").replace("~0", "~") for name in str(pointer).split("/")[1:]] or [""]
    value = document
    for name in names:
        value = _child(value, name)
    return value, int(last) if isinstance(value, list) and last.isdecimal() else last


def _child(value: Any, name: str | int) -> Any:
    try:
        return value[int(name) if isinstance(value, list) and str(name).isdecimal() else name]
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{name!r} is named as the place of a repeated text, and does not exist") from error


def _at(document: Any, pointer: str) -> str:
    text = _child(*_parent(document, pointer))
    if not isinstance(text, str):
        raise ValueError(f"{pointer!r} is named as the place of a repeated text, and holds none")
    return text


def _put(document: Any, pointer: str, text: str) -> None:
    value, name = _parent(document, pointer)
    value[name] = text


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(item) for name, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


OWN = "misstep"
UNKNOWN = "unknown"
"""Replaces the agent's name or version, which ATIF requires, if it has none."""

Extra = dict[str, Any]


class AtifCall(Struct, gc=False, forbid_unknown_fields=True):
    """A tool call of a step."""

    function_name: str
    tool_call_id: str | None = None
    arguments: dict[str, Any] | str | None = None
    extra: Extra | None = None


class Result(Struct, gc=False, forbid_unknown_fields=True):
    """One result of a step's observation."""

    content: str | list[Any] | None = None
    source_call_id: str | None = None
    subagent_trajectory_ref: list[Any] | None = None
    extra: Extra | None = None


class AtifObservation(Struct, gc=False, forbid_unknown_fields=True):
    """The answer of the environment to a step."""

    results: list[Result] | None = None


class Metrics(Struct, gc=False, forbid_unknown_fields=True):
    """What a step cost."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    prompt_token_ids: list[int] | None = None
    completion_token_ids: list[int] | None = None
    logprobs: list[int | float] | None = None
    extra: Extra | None = None


class AtifStep(Struct, gc=False, forbid_unknown_fields=True):
    """One turn."""

    source: Role
    message: str | list[Any] | None = None
    step_id: int | None = None
    timestamp: str | None = None
    model_name: str | None = None
    reasoning_effort: str | int | float | None = None
    reasoning_content: str | None = None
    tool_calls: list[AtifCall] | None = None
    observation: AtifObservation | None = None
    metrics: Metrics | None = None
    is_copied_context: bool | None = None
    llm_call_count: int | None = None
    extra: Extra | None = None


class AtifAgent(Struct, gc=False, forbid_unknown_fields=True):
    """The program that ran."""

    name: str | None = None
    version: str | None = None
    model_name: str | None = None
    tool_definitions: list[Any] | None = None
    extra: Extra | None = None


class Document(Struct, gc=False, forbid_unknown_fields=True):
    """A whole document."""

    schema_version: str
    steps: list[AtifStep]
    agent: AtifAgent | None = None
    session_id: str | None = None
    trajectory_id: str | None = None
    notes: str | None = None
    final_metrics: Extra | None = None
    continued_trajectory_ref: str | None = None
    subagent_trajectories: "list[Document] | None" = None
    extra: Extra | None = None


class OwnTrajectory(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """What ATIF has no place for in a trajectory; `agent` and `task` only if ATIF's own would be read otherwise."""

    source: Source
    task: str | None = None
    outcome: Outcome = Outcome()
    agent: str | None = None
    parent: str | None = None
    extra: Extra = {}


class OwnStep(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """What ATIF has no place for in a step: tokens with those written to a cache; all that only an agent's step has."""

    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    tokens: Tokens | None = None
    timestamp: str | None = None
    speaker: str | None = None
    seconds: float | None = None
    extra: Extra = {}


class OwnCall(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """What ATIF has no place for in a call: arguments that do not parse or are not known, an id that looks made up."""

    id: str | None = None
    arguments: str | None = None
    parse_error: str | None = None
    extra: Extra = {}
    recorded: bool = True


class OwnResult(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """What ATIF has no place for in a result; `call_id` if the step has no such call."""

    is_error: bool | None = None
    exit_code: int | None = None
    call_id: str | None = None
    extra: Extra = {}


def made_up_id(index: int) -> str:
    """Return the id written for the `index`-th call of a step that has none: ATIF requires one."""
    return f"{OWN}-{index}"


_decoder = msgspec.json.Decoder(Document)


def decode(data: bytes, source: Source) -> Document:
    """Return the document in `data`; fields that no version of ATIF has are kept in `extra` of their level."""
    try:
        document = _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return typed(decode_json(data, source), source)
    return typed(decode_json(data, source), source) if repeated_in({"extra": document.extra}) else document


def typed(document: Any, source: Source) -> Document:
    """Return a decoded JSON value as a document, as `decode` gives it."""
    try:
        document = unfolded(document)
    except ValueError as error:
        raise unreadable(str(error), source) from error
    except RecursionError as error:
        raise unreadable("the data are nested too deep", source) from error
    return convert(_with_unknown_in_extra(document), Document, source)


def _with_unknown_in_extra(document: Any) -> Any:
    root = {"subagent_trajectories": [document]}
    pending = [root]
    while pending:
        parent = pending.pop()
        children = parent["subagent_trajectories"]
        if isinstance(children, list):
            parent["subagent_trajectories"] = [_tidy_document(child) for child in children]
            pending += [child for child in parent["subagent_trajectories"] if "subagent_trajectories" in _object(child)]
    return root["subagent_trajectories"][0]


def _tidy_document(document: Any) -> Any:
    document = _tidy(document, Document)
    if "agent" in _object(document):
        document["agent"] = _tidy(document["agent"], AtifAgent)
    if isinstance(steps := _object(document).get("steps"), list):
        document["steps"] = [_tidy_step(step) for step in steps]
    return document


def _tidy_step(step: Any) -> Any:
    step = dict(step) if isinstance(step, dict) else step
    if isinstance(observation := _object(step).get("observation"), dict):
        unknown = {name: value for name, value in observation.items() if name != "results"}
        results = observation.get("results")
        if isinstance(results, list):
            results = [_tidy(result, Result) for result in results]
        step["observation"] = {"results": results}
        if unknown:
            step = _with_extra(step, {"observation": unknown})
    if isinstance(calls := _object(step).get("tool_calls"), list):
        step["tool_calls"] = [_tidy(call, AtifCall) for call in calls]
    if "metrics" in _object(step):
        step["metrics"] = _tidy(step["metrics"], Metrics)
    return _tidy(step, AtifStep)


def _tidy(value: Any, known: type[Struct]) -> Any:
    if not isinstance(value, dict):
        return value
    unknown = {name: field for name, field in value.items() if name not in known.__struct_fields__}
    fields = {name: field for name, field in value.items() if name in known.__struct_fields__}
    return _with_extra(fields, unknown) if unknown else fields


def _with_extra(value: dict[str, Any], unknown: Extra) -> dict[str, Any]:
    extra = value.get("extra")
    if extra is not None and not isinstance(extra, dict):
        return value  # the wrong type, which the reading names
    return value | {"extra": beside(extra or {}, unknown)}


def beside(extra: Extra, fields: Extra) -> Extra:
    """Return `extra` and the fields, each under its name, with `_` behind it if that is taken: nothing is lost."""
    if not fields:
        return extra
    merged = dict(extra)
    for name, value in fields.items():
        while name in merged:
            name += "_"
        merged[name] = value
    return merged


def known_fields(**fields: Any) -> Extra:
    """Return the fields that are not null."""
    return {name: value for name, value in fields.items() if value is not None}


def more_metrics(metrics: Metrics) -> Extra:
    """Return the fields of a step's metrics for which our tokens have no place."""
    return known_fields(
        prompt_token_ids=metrics.prompt_token_ids,
        completion_token_ids=metrics.completion_token_ids,
        logprobs=metrics.logprobs,
        extra=metrics.extra,
    )


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
