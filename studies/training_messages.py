"""A run as the list of chat messages that training tools read: those of the chat API of OpenAI, under `messages`."""

from collections.abc import Iterator

from misstep.analysis.pages.notebooks.data_card import ChatCall, ChatFunction, ChatMessage
from misstep.harness.journal.records import encode
from misstep.harness.trajectory import Step, ToolCall, Trajectory

_ROLES = {"user": "user", "system": "system", "agent": "assistant"}


def training_messages(run: Trajectory) -> tuple[ChatMessage, ...]:
    """Return the messages of a run; its task opens them where no step of a user says anything."""
    has_task = any(step.role == "user" and step.text for step in run.steps)
    task = () if has_task or not run.task else (ChatMessage("user", run.task),)
    return (*task, *(message for number, step in enumerate(run.steps) for message in _of_step(step, number)))


def _of_step(step: Step, number: int) -> Iterator[ChatMessage]:
    calls = tuple(_call(call, _id(number, place)) for place, call in enumerate(step.calls))
    if step.text or calls or step.reasoning:
        yield ChatMessage(_ROLES[step.role], step.text, step.reasoning or None, calls)
    for place, result in enumerate(step.results):
        yield ChatMessage("tool", result.text, tool_call_id=result.call_id or _id(number, place))


def _call(call: ToolCall, otherwise: str) -> ChatCall:
    """Return a call; its arguments are JSON text, or as the agent wrote them where they could not be parsed."""
    written = call.arguments if isinstance(call.arguments, str) else encode(call.arguments).decode()
    return ChatCall(call.id or otherwise, ChatFunction(call.name, written))


def _id(number: int, place: int) -> str:
    return f"step-{number}-call-{place}"
