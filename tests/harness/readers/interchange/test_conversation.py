"""A conversation in the making: which call an answer belongs to, whatever ids a program gives."""

from misstep_harness.readers.interchange.conversation import Conversation
from misstep_harness.trajectory import ToolCall, ToolResult


def runs(*calls: tuple[str | None, str]) -> Conversation:
    conversation = Conversation()
    for call_id, command in calls:
        conversation.call(conversation.say("agent", []), ToolCall("bash", {"command": command}, call_id))
        conversation.result(ToolResult(f"of {command}", call_id=call_id))
    return conversation


def seen(conversation: Conversation) -> list[tuple[list[str], list[str]]]:
    steps = conversation.steps()
    return [([str(call.arguments) for call in one.calls], [result.text for result in one.results]) for one in steps]


def test_an_id_that_is_used_again_for_another_call_or_is_empty_loses_no_call() -> None:
    expected = [(["{'command': 'a'}"], ["of a"]), (["{'command': 'b'}"], ["of b"])]
    for call_id in ("call_0", "", None):
        assert seen(runs((call_id, "a"), (call_id, "b"))) == expected
    assert [call.id for step in runs(("", "a")).steps() for call in step.calls] == [None]


def test_the_same_call_written_again_is_made_once() -> None:
    conversation = runs(("c1", "a"))
    conversation.call(conversation.say("agent", []), ToolCall("bash", {"command": "a"}, "c1"))
    assert seen(conversation) == [(["{'command': 'a'}"], ["of a"]), ([], [])]
