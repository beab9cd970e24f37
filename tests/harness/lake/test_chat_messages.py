"""Sessions as the chat messages of Inspect."""

from misstep.harness.lake.chat_messages import chat_messages, message_count
from misstep.harness.trajectory import Source, Step, ToolCall, ToolResult, Trajectory


def test_a_turn_is_a_message_and_each_answer_of_a_tool_one_behind_it() -> None:
    steps = (
        Step("system", "Be brief."),
        Step("user", "Mend it."),
        Step(
            "agent",
            "Looking.",
            "I should look.",
            (ToolCall("bash", {"command": "ls"}, "c1"), ToolCall("bash", "{", parse_error="it ends early")),
            (ToolResult("gate", call_id="c1"), ToolResult("no such file", exit_code=2), ToolResult("", is_error=True)),
        ),
    )
    run = Trajectory("a", Source("atif"), steps=steps)
    assert chat_messages(run) == [
        {"id": "step-0", "role": "system", "content": "Be brief."},
        {"id": "step-1", "role": "user", "content": "Mend it."},
        {
            "id": "step-2",
            "role": "assistant",
            "content": [{"type": "reasoning", "reasoning": "I should look."}, {"type": "text", "text": "Looking."}],
            "tool_calls": [
                {"id": "c1", "function": "bash", "arguments": {"command": "ls"}, "type": "function"},
                {
                    "id": "step-2-call-1",
                    "function": "bash",
                    "arguments": {"arguments": "{"},
                    "type": "function",
                    "parse_error": "it ends early",
                },
            ],
        },
        {"id": "step-2-result-0", "role": "tool", "content": "gate", "tool_call_id": "c1", "function": "bash"},
        {
            "id": "step-2-result-1",
            "role": "tool",
            "content": "no such file",
            "tool_call_id": "step-2-call-1",
            "function": "bash",
            "error": {"type": "unknown", "message": "exit code 2"},
        },
        {
            "id": "step-2-result-2",
            "role": "tool",
            "content": "",
            "tool_call_id": "step-2-call-2",
            "function": None,
            "error": {"type": "unknown", "message": "the tool failed"},
        },
    ]
    assert message_count(run) == 6
