r"""SWE-agent trajectories (`.traj`), old and new, and its demonstrations, which have a `history` alone.

    {"environment": "swe_main", "replay_config": "{\"agent\": {\"model\": {\"name\": \"m-large\"}}}",
     "trajectory": [{"thought": "A look first.", "action": "ls -F\n", "observation": "a.py\n", "execution_time": 0.2,
                     "response": "A look first.\n```\nls -F\n```", "state": {"working_dir": "/src"}}],
     "history": [{"role": "system", "content": "You repair code.", "agent": "main"},
                 {"role": "user", "content": "An example run.", "agent": "main", "is_demo": true},
                 {"role": "user", "content": "Repair the parser.", "agent": "main"},
                 {"role": "assistant", "thought": "A look first.", "action": "ls -F\n", "agent": "main",
                  "content": "A look first.\n```\nls -F\n```", "tool_calls": []},
                 {"role": "user", "content": "a.py\n(Open file: n/a)\nbash-$", "agent": "main"}],
     "info": {"exit_status": "submitted", "submission": "diff --git …", "model_stats": {"api_calls": 1}}}

The history gives what came before the first item of `trajectory`, and the calls that the model made as JSON; otherwise
an action is a call named by its first word with the whole as `command`. `exit_status` does not say whether the task was
solved, so the outcome is unknown. An answer that was turned down (format, blocked command, syntax) is only in
`trajectory`, and the complaint about it only in the `query` of the next item.

Checked with the agents of versions 0.7 and 1.1 (3ea751c0).
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.decoding import convert, decode_json, name_of
from misstep_harness.readers.input.fields import at, rest_of, text_or_none
from misstep_harness.readers.interchange.chat import Call, call_of, is_chat
from misstep_harness.readers.interchange.content import parse_arguments, place_parts, split_content
from misstep_harness.readers.interchange.conversation import Turn, first_words_of_user
from misstep_harness.trajectory import Role, Source, ToolCall, ToolResult, Trajectory

FORMAT = "swe_agent"
UNIT: Unit = "value"

_OPENING: dict[str, Role] = {"system": "system", "user": "user"}
_ENDS = ("Exit due to ", "Exiting due to ")
"""What the program says in the model's stead when it ends a run; before 1.0 with an action `exit_…` as well."""


class _Run(Struct):
    trajectory: list[dict[str, Any]] | None = None
    history: list[dict[str, Any]] | None = None
    instance_id: str | None = None


class _Item(Struct):
    action: str | None = None
    observation: str | None = None
    response: str | None = None
    thought: str | None = None
    execution_time: float | None = None


class _Message(Struct):
    role: str
    content: str | list[Any] | None = None
    thought: str | None = None
    action: str | None = None
    tool_calls: list[Call] | None = None
    tool_call_ids: list[str] | None = None
    is_demo: bool | None = None


class _Entry(Struct, frozen=True):
    raw: dict[str, Any]
    message: _Message

    def rest(self) -> dict[str, Any]:
        return rest_of(self.raw, _Message)


def refuse(sample: Sample) -> str | None:
    """Return why the file is not a trajectory of SWE-agent."""
    value = sample.first
    if not isinstance(value, dict):
        return "no JSON object"
    items, history = value.get("trajectory"), value.get("history")
    if isinstance(items, list) and (items or isinstance(history, list)):
        known = all(isinstance(item, dict) and "action" in item and "observation" in item for item in items)
        return None if known else "items of `trajectory` without `action` and `observation`"
    if not isinstance(history, list):
        return "no list `trajectory` and no list `history`"
    if is_chat(history) and any("agent" in raw for raw in history):
        return None
    return "messages of `history` without `role` and `agent`"


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the one run or demonstration of a document or line."""
    fields = decode_json(data, source)
    run = convert(fields, _Run, source)
    raws = run.history or []
    history = [_Entry(raw, message) for raw, message in zip(raws, convert(raws, list[_Message], source), strict=True)]
    own = [entry for entry in history if not entry.message.is_demo]
    if run.trajectory:
        turns, left = _turns_of_run(run.trajectory, convert(run.trajectory, list[_Item], source), own)
    else:
        turns, left = _turns_of_history(own), []
    steps = tuple(turn.step() for turn in turns)
    extra = {
        "demonstrations": [entry.raw for entry in history if entry.message.is_demo],
        "history": [entry.raw for entry in left],
    }
    yield Trajectory(
        id=run.instance_id or name_of(source),
        source=source,
        task=first_words_of_user(steps),
        steps=steps,
        agent="swe-agent",
        model=text_or_none(at(parse_arguments(fields.get("replay_config"))[0], "agent", "model", "name")),
        extra=rest_of(fields, _Run) | {name: messages for name, messages in extra.items() if messages},
    )


def _turns_of_run(
    raws: list[dict[str, Any]], items: list[_Item], history: list[_Entry]
) -> tuple[list[Turn], list[_Entry]]:
    """Return the turns of a run, and what of its history is neither before the first nor repeated by them."""
    began = next((index for index, entry in enumerate(history) if entry.message.role == "assistant"), len(history))
    opening = [index for index in range(began) if history[index].message.role in _OPENING]
    turns = [_opening_turn(history[index]) for index in opening]
    placed = set(opening)
    answers = _Answers(history)
    for place, (raw, item) in enumerate(zip(raws, items, strict=True)):
        complaint = _complaint(item, raws[place + 1]) if place + 1 < len(raws) else None
        index = answers.next_of(item) if complaint is None else None
        if index is None:
            turns.append(_turn(raw, item, None, None, complaint))
            continue
        placed.add(index)
        after = history[index + 1] if index + 1 < len(history) else None
        if after is not None and _repeats(after, item):
            placed.add(index + 1)
        else:
            after = None
        turns.append(_turn(raw, item, history[index], after))
    return turns, [entry for index, entry in enumerate(history) if index not in placed]


class _Answers:
    """The model's answers in a history by what they say, each to be found once and in order."""

    def __init__(self, history: list[_Entry]) -> None:
        self._last = -1
        self._at: dict[tuple[str | None, str | None], list[int]] = {}
        for index in range(len(history) - 1, -1, -1):
            message = history[index].message
            if message.role == "assistant":
                self._at.setdefault((message.thought, message.action), []).append(index)

    def next_of(self, item: _Item) -> int | None:
        waiting = self._at.get((item.thought, item.action), [])
        while waiting:
            index = waiting.pop()
            if index > self._last:
                self._last = index
                return index
        return None


def _repeats(entry: _Entry, item: _Item) -> bool:
    if entry.message.role not in ("user", "tool") or item.observation is None:
        return False
    return item.observation.strip() in split_content(entry.message.content)[0]


def _complaint(item: _Item, after: dict[str, Any]) -> str | None:
    """Return why the model was asked again instead of its action being run."""
    query = after.get("query")
    asked = query[-2:] if isinstance(query, list) else []
    if len(asked) < 2 or item.observation or at(asked[0], "message_type") != "assistant":
        return None
    return split_content(at(asked[1], "content"))[0] if at(asked[0], "content") == item.response else None


def _turn(
    raw: dict[str, Any],
    item: _Item,
    answer: _Entry | None,
    observed: _Entry | None,
    complaint: str | None = None,
) -> Turn:
    thought = item.thought if item.thought is not None else item.response
    ended = (item.thought or "").startswith(_ENDS) and (not item.action or item.action.startswith("exit_"))
    by_program = ended and (item.response or "").lower() == (item.thought or "").lower()
    calls = [] if ended else _calls(answer, item.action)
    results = []
    if complaint is not None:
        results = [ToolResult(complaint, True, call_id=calls[0].id if calls else None)]
    elif item.observation is not None:
        call_id = calls[0].id if calls else None
        results = [ToolResult(item.observation, call_id=call_id, extra=observed.rest() if observed else {})]
    extra = (answer.rest() if answer else {}) | rest_of(raw, _Item)
    if item.response and item.response != thought:
        extra["response"] = item.response
    role: Role = "system" if by_program else "agent"
    turn = Turn(role, texts=[thought or ""], calls=calls, results=results, seconds=item.execution_time)
    place_parts(turn, extra.pop("thinking_blocks", None))
    turn.extra = extra
    return turn


def _turns_of_history(history: list[_Entry]) -> list[Turn]:
    """Return the turns of a demonstration: what the user or a tool says right after the agent is a result."""
    turns: list[Turn] = []
    for entry in history:
        message = entry.message
        text = split_content(message.content)[0]
        if message.role == "assistant":
            calls = _calls(entry, message.action)
            extra = entry.rest()
            if message.thought is not None and text != message.thought:
                extra["response"] = text
                text = message.thought
            turns.append(Turn("agent", texts=[text], calls=calls, extra=extra))
        elif turns and turns[-1].role == "agent" and (message.role == "tool" or not turns[-1].results):
            answered = turns[-1].calls[0].id if turns[-1].calls else None
            call_id = message.tool_call_ids[0] if message.tool_call_ids else answered
            held = message.content is not None
            turns[-1].add_result(ToolResult(text, call_id=call_id, extra=entry.rest(), recorded=held))
        else:
            turns.append(_opening_turn(entry))
    return turns


def _opening_turn(entry: _Entry) -> Turn:
    text, others = split_content(entry.message.content)
    extra = entry.rest()
    if others:
        extra["content"] = entry.message.content
    if entry.message.role not in _OPENING:
        extra["role"] = entry.message.role
    return Turn(_OPENING.get(entry.message.role, "system"), texts=[text], extra=extra)


def _calls(entry: _Entry | None, action: str | None) -> list[ToolCall]:
    if entry is not None and entry.message.tool_calls:
        return [call_of(entry.raw["tool_calls"][index], call) for index, call in enumerate(entry.message.tool_calls)]
    words = (action or "").split(maxsplit=1)
    return [ToolCall(words[0], {"command": action})] if words else []
