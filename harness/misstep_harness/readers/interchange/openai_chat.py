"""OpenAI chat messages: one conversation a document or a line, as a list or under `messages`.

    {"messages": [{"role": "user", "content": "Where is my parcel?"},
                  {"role": "assistant", "content": "On its way."}],
     "model": "m-small", "metadata": {"ticket": 4}}

Items of OpenAI's Responses API may be between messages. How messages become steps is in `chat`;
`extra["step_of_message"]` has the step of each, both counted from 0.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.coding_agents.cline import refuse as refuse_task
from misstep_harness.readers.coding_agents.goose import refuse as refuse_session
from misstep_harness.readers.coding_agents.mini_swe_agent import refuse as refuse_run
from misstep_harness.readers.evaluations.inspect_scout import refuse as refuse_transcript
from misstep_harness.readers.input.decoding import convert, decode_json, name_of
from misstep_harness.readers.input.fields import rest_of
from misstep_harness.readers.interchange.chat import is_chat, steps_of
from misstep_harness.readers.interchange.content import as_message
from misstep_harness.readers.interchange.conversation import first_words_of_user
from misstep_harness.trajectory import Source, Trajectory

FORMAT = "openai_chat"
UNIT: Unit = "value"

_HOLD_WORDS = {"content", "parts", "tool_calls", "function_call"}
_IDENTITIES = ("id", "instance_id", "conversation_id", "session_id")


class _Chat(Struct):
    messages: list[dict[str, Any]]
    model: str | None = None


def refuse(sample: Sample) -> str | None:
    """Return why the file is not a chat."""
    value = sample.first
    messages = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(messages, list):
        return "no list `messages`"
    if not is_chat([as_message(item) for item in messages]):
        return "its messages are not objects with `role`"
    if not any(_HOLD_WORDS & as_message(item).keys() for item in messages):
        return "its messages have no `content`"
    known = {
        "a run of mini-swe-agent": refuse_run,
        "a task of Cline": refuse_task,
        "a Goose session": refuse_session,
        "a transcript of Inspect Scout": refuse_transcript,
    }
    return next((name for name, refuse_one in known.items() if refuse_one(sample) is None), None)


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the one conversation of a document or line."""
    value = decode_json(data, source)
    fields: dict[str, Any] = {"messages": value} if isinstance(value, list) else value
    chat = convert(fields, _Chat, source)
    steps, step_of_message = steps_of([as_message(item) for item in chat.messages], source)
    rest = rest_of(fields, _Chat)
    named = next((key for key in _IDENTITIES if isinstance(rest.get(key), str)), None)
    yield Trajectory(
        id=rest.pop(named) if named else name_of(source),
        source=source,
        task=first_words_of_user(steps),
        steps=steps,
        model=chat.model,
        extra=rest | {"step_of_message": list(step_of_message)},
    )
