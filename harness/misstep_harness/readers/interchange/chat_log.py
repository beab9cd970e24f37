"""Chats of people and agents as lists of messages, whatever their fields are called: what other formats leave over.

    {"question": "How many bridges are there?", "history": [
        {"role": "human", "content": "How many bridges are there?"},
        {"role": "Planner (thought)", "content": "Somebody has to count."},
        {"role": "assistant", "name": "Counter", "content": "There are three."},
        {"role": "user", "name": "Code_terminal", "content": "exitcode: 0 (execution succeeded)"}]}

    {"id": 7, "conversations": [{"from": "human", "value": "Sort it."}, {"from": "gpt", "value": "Sorted."}]}

A message says who speaks (`role`, `from`, `sender`, `speaker`, `source`, `author`, a `type` such as `human`, or `name`)
and what (`content`, `value`, `text`, `message`, `system_prompt` or `parts`); the list that holds them may have any
name. A speaker who is not a role but a name is an agent, unless it is named as a person or as what runs code; if
several are named the name tells, not the role. `extra["step_of_message"]` has the step of each message, both counted
from 0.
"""

import re
from collections.abc import Iterator
from typing import Any

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.decoding import convert, decode_json, name_of, unreadable
from misstep_harness.readers.input.fields import text_or_none
from misstep_harness.readers.interchange.chat import ANSWERS, ROLES, ChatMessage, Transcript, result_of, turn_of
from misstep_harness.readers.interchange.content import as_text, parse_arguments, tool_call
from misstep_harness.readers.interchange.conversation import Turn
from misstep_harness.trajectory import Role, Source, ToolCall, Trajectory

FORMAT = "chat_log"
UNIT: Unit = "value"

SPEAKERS = ("role", "from", "sender", "speaker", "source", "author", "type", "name")
TEXTS = ("content", "value", "text", "message", "system_prompt")

_AGENT_WORDS = {"gpt", "chatgpt", "bot", "chatbot", "agent", "llm"}
_AGENTS = _AGENT_WORDS | {word for word, role in ROLES.items() if role == "agent"}
_CALLS = {"function_call", "tool_call"}
_ANSWERS = {*ANSWERS, "observation", "environment", "function_response", "tool_response", "tool_result", "ipython"}
_KNOWN = {*ROLES, *_AGENTS, *_CALLS, *_ANSWERS}
_PEOPLE = {"user", "human", "person", "customer"}
_MACHINES = {"terminal", "executor", "interpreter", "environment", "console", "shell", "system", "tool"}
_OUTPUT = "exitcode: "
_NO_CHAT = "no list of messages that say who speaks, among them an agent"
_IDENTITIES = ("id", "instance_id", "conversation_id", "session_id", "trajectory_id", "task_id", "uuid")
_TASKS = ("task", "question", "query", "instruction", "problem_statement", "goal")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

Raw = dict[str, Any]


def refuse(sample: Sample) -> str | None:
    """Return why the file holds no chats; what has a format of its own is asked about before."""
    if not isinstance(sample.first, dict | list):
        return "not JSON"
    return _NO_CHAT if next(_chats(sample.first), None) is None else None


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the chats of one document or line, in order."""
    value = decode_json(data, source)
    chats = list(_chats(value))
    if not chats:
        raise unreadable(_NO_CHAT, source)
    for number, (fields, messages) in enumerate(chats, 1):
        yield _trajectory(fields, messages, source, "" if len(chats) == 1 else f"-{number}")


def _trajectory(fields: Raw, messages: str, source: Source, suffix: str) -> Trajectory:
    raws: list[Raw] = fields[messages]
    plain = [_plain(raw) for raw in raws]
    typed = convert(plain, list[ChatMessage], source)
    named = {message.name for message in typed if message.name}
    transcript = Transcript()
    places = [_add(transcript, raw, message, several=len(named) > 1) for raw, message in zip(plain, typed, strict=True)]
    identity = next((fields[name] for name in _IDENTITIES if isinstance(fields.get(name), str | int)), None)
    task = next((fields[name] for name in _TASKS if isinstance(fields.get(name), str) and fields[name].strip()), None)
    rest = {name: value for name, value in fields.items() if name != messages and value not in (None, "", [], {})}
    return transcript.trajectory(
        f"{name_of(source)}{suffix}" if identity is None else str(identity),
        source,
        task=task or "",
        model=text_or_none(fields.get("model")),
        extra=rest | {"step_of_message": places},
    )


def _chats(value: Any) -> Iterator[tuple[Raw, str]]:
    if isinstance(value, list) and _is_chat(value):
        yield {"messages": value}, "messages"
        return
    if isinstance(value, dict):
        own = [name for name, field in value.items() if isinstance(field, list) and _is_chat(field)]
        if len(own) == 1:
            yield value, own[0]
            return
        lists = [field for field in value.values() if isinstance(field, list) and _is_list_of_chats(field)]
        inside = lists[0] if len(lists) == 1 else list(value.values()) if not own else []
    else:
        inside = value if isinstance(value, list) else []
    if _is_list_of_chats(inside):
        for one in inside:
            name = _messages_of(one)
            if name is not None:
                yield one, name


def _is_list_of_chats(values: list[Any]) -> bool:
    return bool(values) and all(isinstance(one, dict) for one in values) and _messages_of(values[0]) is not None


def _messages_of(value: Raw) -> str | None:
    own = [name for name, field in value.items() if isinstance(field, list) and _is_chat(field)]
    return own[0] if len(own) == 1 else None


def _is_chat(values: list[Any]) -> bool:
    if not values or not all(isinstance(raw, dict) and _is_message(raw) for raw in values):
        return False
    by_role = all(isinstance(raw.get("role"), str) for raw in values)
    words = {_speaker(raw).lower() for raw in values}
    answers = words & _AGENTS or (by_role and words - _KNOWN)
    return bool(answers) and (by_role or bool(words & _KNOWN))


def _is_message(raw: Raw) -> bool:
    content = next((raw[name] for name in (*TEXTS, "parts") if name in raw), "tool_calls" if "tool_calls" in raw else 0)
    return bool(_speaker(raw)) and (content is None or isinstance(content, str | list))


def _speaker_fields(raw: Raw) -> Iterator[str]:
    for name in SPEAKERS:
        if isinstance(raw.get(name), str) and (name != "type" or raw[name] in _KNOWN):
            yield name


def _speaker(raw: Raw) -> str:
    return next((raw[name] for name in _speaker_fields(raw)), "")


def _plain(raw: Raw) -> Raw:
    speaker = next(_speaker_fields(raw))
    text = next((name for name in TEXTS if name in raw), "content")
    message = {"role": raw[speaker], "content": raw.get(text)}
    return message | {name: value for name, value in raw.items() if name not in (speaker, text)}


def _add(transcript: Transcript, raw: Raw, message: ChatMessage, *, several: bool) -> int:
    word = message.role.lower()
    turn = turn_of(raw, message)
    if word in _ANSWERS and not turn.results:
        return transcript.answer(result_of(raw, message), message.name)
    if word in _CALLS:
        turn.role, turn.calls, turn.texts = "agent", [_call(message)], []
    elif word not in _KNOWN:
        turn.role, turn.speaker = _role_of(message.role, turn), message.name or message.role
    elif several and message.name and word in ("user", "assistant"):
        turn.role = _role_of(message.name, turn)
    elif word in _AGENTS:
        turn.role = "agent"
    if turn.extra.get("role") == turn.speaker:
        turn.extra.pop("role", None)
    return transcript.place(turn)


def _role_of(name: str, turn: Turn) -> Role:
    words = [word.lower() for word in _WORD.findall(name)] or [""]
    if words[-1] in _MACHINES or "".join(turn.texts).startswith(_OUTPUT):
        return "system"
    return "user" if words[0] in _PEOPLE else "agent"


def _call(message: ChatMessage) -> ToolCall:
    text = as_text(message.content)
    parsed, error = parse_arguments(text)
    if not isinstance(parsed, dict) or not isinstance(parsed.get("name"), str):
        return ToolCall(message.name or "", parsed, None, error)
    extra = {name: value for name, value in parsed.items() if name not in ("name", "arguments")}
    return tool_call(parsed["name"], parsed.get("arguments"), None, extra)
