"""OpenHands runs: a document that lists events, or one run a line with its `history` of events.

    {"id": 0, "timestamp": "2026-01-05T10:00:00", "source": "user", "action": "message", "args": {"content": "Fix it"}}
    {"id": 3, "source": "agent", "action": "run", "args": {"command": "ls", "thought": "Look around."}}
    {"id": 4, "source": "agent", "observation": "run", "cause": 3, "content": "a.py",
     "extras": {"metadata": {"exit_code": 0}}}

A run: `{"instance_id": "x-1", "instruction": "Fix it", "history": [events], "git_patch": "…", "error": null,
"report": {"resolved": true}}`, or with `issue` instead of `instance_id`; `history` may hold pairs `[action,
observation]`. Older events have neither id nor source, and their arguments are in the event itself.

Actions of one answer of the model are one step. An observation is the result of its `cause`; an error without a cause
is a step of its own, as the call that it refuses was never recorded.

Read beside the program at 156d0686 (`events/`, `controller/`, `core/main.py`) and the user that its evaluations play:
what that user says, a delegate's task, a condensation and the sentences of `finish` and `reject` are the program's. The
exit code -1 is of a command that still runs; a call that was stopped or that the person rejected has not failed.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from msgspec import Struct

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.decoding import convert, decode_json, unreadable
from misstep_harness.readers.input.fields import at, filled, first_whole, rest_of, text_or_none, without
from misstep_harness.readers.interchange.content import as_text, parse_arguments
from misstep_harness.readers.interchange.conversation import Conversation, Turn
from misstep_harness.trajectory import Outcome, Role, Source, Tokens, ToolCall, ToolResult, Trajectory

FORMAT = "openhands"
UNIT: Unit = "value"

_INTERNAL_ACTIONS = frozenset({"change_agent_state", "null", "start", "pause", "resume", "stop"})
_INTERNAL_OBSERVATIONS = frozenset({"agent_state_changed", "null"})
_ACTIONS_OF_PROGRAM = frozenset({"condensation", "condensation_request"})
_PLAYED_USER = (
    "Please continue working on the task on whatever approach you think is suitable.",
    "Let's get back on track. If you experienced errors before, do NOT resume your task.",
)
_CLOSING_SENTENCES = ("All done! What's next on the agenda?", "Task is rejected by the agent.")
_STOPPED = "AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED"
_CLOSING_ACTIONS = frozenset({"finish", "reject"})
_FILE_OBSERVATIONS = frozenset({"edit", "read", "write"})


class _Event(Struct):
    id: int | None = None
    timestamp: str | None = None
    source: str | None = None
    message: str | None = None
    action: str | None = None
    observation: str | None = None
    cause: int | None = None
    args: dict[str, Any] | None = None
    content: Any = None
    extras: dict[str, Any] | None = None
    tool_call_metadata: dict[str, Any] | None = None


class _Issue(Struct):
    owner: str | None = None
    repo: str | None = None
    number: int | None = None


class _Report(Struct):
    resolved: bool | None = None


class _Settings(Struct):
    model: str | None = None


class _Metadata(Struct):
    llm_config: _Settings | None = None


class _Run(Struct):
    history: list[Any]
    instance_id: str | None = None
    issue: _Issue | None = None
    instruction: str | None = None
    metadata: _Metadata | None = None
    report: _Report | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: dict[str, Any] | None = None
    cache_creation_input_tokens: int | None = None


class _Response(Struct):
    id: str | None = None
    model: str | None = None
    usage: _Usage | None = None
    choices: list[Any] | None = None


def refuse(sample: Sample) -> str | None:
    """Return why the file is not an OpenHands run."""
    first = sample.first
    if isinstance(first, list):
        return None if _are_events(first) else "a list whose objects have no action or observation with args or source"
    if not isinstance(first, dict):
        return "not JSON"
    history = first.get("history")
    if not isinstance(history, list):
        return "neither a list of events nor an object with a history"
    if not history and ("instance_id" in first or "issue" in first):
        return None
    return None if _are_events(list(_flat(history))) else "its history holds no events with action or observation"


def _are_events(values: list[Any]) -> bool:
    events = values[:5]
    return bool(events) and all(_is_event(event) for event in events)


def _is_event(value: Any) -> bool:
    if not isinstance(value, dict) or "role" in value:
        return False
    kinds = [isinstance(value.get(name), str) for name in ("action", "observation")]
    return any(kinds) and not all(kinds)


def _flat(history: list[Any]) -> Iterator[Any]:
    for event in history:
        yield from event if isinstance(event, list) else [event]


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the run in one document or line."""
    value = decode_json(data, source)
    if isinstance(value, dict):
        run = convert(value, _Run, source)
        rest = rest_of(value, _Run) | filled((name, value.get(name)) for name in ("issue", "metadata", "report"))
    elif isinstance(value, list):
        run, rest = _Run(value), {}
    else:
        raise unreadable("neither an object nor a list", source)
    reading = _Reading(source)
    for place, event in enumerate(_flat(run.history)):
        reading.place(place, event)
    configured = run.metadata.llm_config.model if run.metadata and run.metadata.llm_config else None
    yield reading.conversation.trajectory(
        _identity(run, source),
        source,
        task=run.instruction or "",
        outcome=_outcome(run.report, rest),
        agent="openhands",
        model=configured or reading.model,
        extra=rest | filled([("other_events", reading.others)]),
    )


def _identity(run: _Run, source: Source) -> str:
    if run.instance_id:
        return run.instance_id
    if run.issue is not None and run.issue.number is not None:
        return f"{run.issue.owner}/{run.issue.repo}#{run.issue.number}"
    stem = PurePath(source.file).name.split(".")[0] or FORMAT
    return stem if source.line is None else f"{stem}:{source.line}"


def _outcome(report: _Report | None, rest: dict[str, Any]) -> Outcome:
    answers = [report.resolved if report else None, at(rest, "test_result", "report", "resolved"), rest.get("resolved")]
    resolved = next((answer for answer in answers if isinstance(answer, bool)), None)
    return Outcome() if resolved is None else Outcome("passed" if resolved else "failed")


class _Reading:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.conversation = Conversation()
        self.others: list[Any] = []
        self.model: str | None = None
        self._answers: dict[str, Turn] = {}
        self._call_of_event: dict[int, str] = {}

    def place(self, place: int, value: Any) -> None:
        if not isinstance(value, dict):
            raise unreadable(f"an event is not an object - at `$.history[{place}]`", self.source)
        event = convert(value, _Event, self.source)
        if event.observation is not None:
            self._place_observation(event, value)
        elif event.action in _INTERNAL_ACTIONS or event.action is None:
            self.others.append(value)
        else:
            self._place_action(event, value, event.id if event.id is not None else place)

    def _place_action(self, event: _Event, value: dict[str, Any], number: int) -> None:
        extra = filled([("event", event.id)])
        if event.args is None:
            arguments = rest_of(value, _Event) | filled([("content", event.content)])
        else:
            arguments, extra = dict(event.args), extra | rest_of(value, _Event)
        text = as_text(arguments.get("content"))
        by_agent = event.source == "agent" if event.source else not (event.action == "message" and _asks(arguments))
        asked_by_model = event.tool_call_metadata is not None
        if event.action == "message":
            extra |= without(arguments, "content")
            asked: Role = (
                "system" if text.startswith(_PLAYED_USER) or text == "/exit" or self._delegates(text) else "user"
            )
            self._begin("agent" if by_agent else asked, event, text, extra)
        elif event.action == "system" or not by_agent or (event.action in _ACTIONS_OF_PROGRAM and not asked_by_model):
            extra |= without(arguments, "content")
            self._begin("system", event, text or event.message or "", extra | {"action": event.action})
        else:
            self._place_call(event, arguments, extra, number)

    def _delegates(self, text: str) -> bool:
        last = self.conversation.last_of_agent
        calls = last.calls if last is not None and last is self.conversation.turns[-1] else []
        return any(
            call.name == "delegate" and text == f"TASK: {at(call.arguments, 'inputs', 'task')}" for call in calls
        )

    def _place_call(self, event: _Event, arguments: dict[str, Any], extra: dict[str, Any], number: int) -> None:
        metadata = event.tool_call_metadata or {}
        response = convert(metadata.get("model_response") or {}, _Response, self.source)
        self.model = self.model or response.model
        thought = as_text(arguments.pop("thought", None))
        held = bool(arguments) or event.args == {}
        if event.action in _CLOSING_ACTIONS:
            thought = _closing_words(thought, event, arguments)
        elif event.message and event.message != thought:
            extra["message"] = event.message
        turn = self._answers.get(response.id) if response.id else None
        if turn is None:
            turn = self._begin("agent", event, thought, {})
            turn.tokens = _tokens(response.usage)
            thoughts = [at(choice, "message", "reasoning_content") for choice in response.choices or []]
            turn.reasoning += [text for text in thoughts if isinstance(text, str) and text]
            if response.id:
                self._answers[response.id] = turn
                turn.extra["response"] = response.id
        elif thought and thought not in turn.texts:
            turn.texts.append(thought)
        call_id = text_or_none(metadata.get("tool_call_id"))
        call_id = str(number) if call_id is None else call_id
        self._call_of_event[number] = call_id
        extra |= filled([("function", _function(response, call_id))])
        self.conversation.call(turn, ToolCall(event.action or "", arguments, call_id, extra=extra, recorded=held))

    def _begin(self, role: Role, event: _Event, text: str, extra: dict[str, Any]) -> Turn:
        return self.conversation.say(role, [text], event.timestamp, extra)

    def _place_observation(self, event: _Event, value: dict[str, Any]) -> None:
        if event.observation in _INTERNAL_OBSERVATIONS:
            self.others.append(value)
            return
        text = as_text(event.content)
        message = None if event.message == text else event.message
        fields = [("observation", event.observation), ("event", event.id), ("message", message)]
        extra = filled([*fields, ("extras", event.extras)]) | rest_of(value, _Event, "exit_code")
        refused = event.observation in _FILE_OBSERVATIONS and text.startswith("ERROR:")
        reported = at(event.extras, "error") is True or (event.observation == "mcp" and _is_error_of_server(text))
        failed = True if event.observation == "error" or refused or reported else None
        if at(event.extras, "error_id") == _STOPPED:
            failed = None
        call_id = self._call_of_event.get(event.cause) if event.cause is not None else None
        if call_id is None and event.source is None and event.cause is None:
            last = self.conversation.last_of_agent
            call_id = last.calls[-1].id if last is not None and last.calls else None
        held = event.content is not None
        result = ToolResult(text, failed, _exit_code(event.extras, value), call_id, extra, held)
        if call_id is not None:
            self.conversation.result(result)
        elif failed:
            self._begin("agent", event, "", {}).results.append(result)
        else:
            self._begin("system", event, text, extra)


def _closing_words(thought: str, event: _Event, arguments: dict[str, Any]) -> str:
    """Return what the agent says when it ends: its thought, its last message, and what it hands over, each once."""
    outputs = arguments.get("outputs")
    handed = [outputs.get(name) for name in ("content", "reason")] if isinstance(outputs, dict) else []
    texts: list[str] = []
    message = None if (event.message or "").startswith(_CLOSING_SENTENCES) else event.message
    for text in (thought, arguments.get("final_thought"), message, *handed):
        if isinstance(text, str) and text.strip() and not any(text.strip() in before for before in texts):
            texts.append(text)
    return "\n".join(texts)


def _asks(arguments: dict[str, Any]) -> bool:
    """Return whether an old message without a source is the user's: only the agent's waits for an answer."""
    return not arguments.get("wait_for_response")


def _exit_code(extras: dict[str, Any] | None, value: dict[str, Any]) -> int | None:
    code = first_whole([at(extras, "metadata", "exit_code"), at(extras, "exit_code"), value.get("exit_code")])
    return None if code == -1 else code


def _is_error_of_server(text: str) -> bool:
    """Return whether a tool of another server says in its answer, which is JSON, that it failed."""
    answer, _ = parse_arguments(text)
    return at(answer, "isError") is True


def _tokens(usage: _Usage | None) -> Tokens | None:
    if usage is None:
        return None
    cached = (usage.prompt_tokens_details or {}).get("cached_tokens")
    read = cached if isinstance(cached, int) else None
    return Tokens(usage.prompt_tokens, usage.completion_tokens, read, None, usage.cache_creation_input_tokens)


def _function(response: _Response, call_id: str) -> Any:
    for choice in response.choices or []:
        calls = at(choice, "message", "tool_calls")
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, dict) and call.get("id") == call_id:
                return call.get("function")
    return None
