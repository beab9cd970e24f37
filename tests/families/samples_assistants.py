"""A small made-up file of each format of a coding assistant that keeps its sessions its own way, as its bytes."""

import json
from typing import Any


def _lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def copilot_cli() -> bytes:
    """A session: a question, a call with its result, a sub-agent that answers, the end."""

    def event(number: int, kind: str, data: dict[str, Any], **more: Any) -> dict[str, Any]:
        stamp = f"2026-01-05T10:00:{number:02}.000Z"
        return {"type": kind, "data": data, "id": f"e{number}", "parentId": None, "timestamp": stamp} | more

    def asks(name: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"toolCallId": name, "name": tool, "arguments": arguments, "type": "function"}

    shell = {"content": "no such file\n<exited with exit code 2>"}
    return _lines(
        event(0, "session.start", {"sessionId": "s1", "copilotVersion": "1.0.0", "context": {"cwd": "/home/kim/app"}}),
        event(1, "user.message", {"content": "Rename the flag", "transformedContent": "Rename the flag, kindly"}),
        event(2, "assistant.turn_start", {"turnId": "0"}),
        event(3, "assistant.reasoning", {"reasoningId": "r1", "content": "Look first."}),
        event(
            4,
            "assistant.message",
            {"messageId": "m1", "content": "I look.", "model": "gpt-x", "reasoningText": "Look first."}
            | {"outputTokens": 7, "toolRequests": [asks("c1", "bash", {"command": "ls x"})]},
        ),
        event(5, "tool.execution_start", {"toolCallId": "c1", "toolName": "bash", "arguments": {"command": "ls x"}}),
        event(6, "tool.execution_complete", {"toolCallId": "c1", "success": True, "result": shell}),
        event(
            7,
            "assistant.message",
            {"messageId": "m2", "content": "", "toolRequests": [asks("c2", "task", {"prompt": "Search for flags"})]},
        ),
        event(8, "subagent.started", {"toolCallId": "c2", "agentName": "explore"}, agentId="a7"),
        event(9, "assistant.message", {"messageId": "n1", "content": "Found two."}, agentId="a7"),
        event(10, "tool.execution_complete", {"toolCallId": "c2", "success": False, "error": {"message": "stopped"}}),
        event(11, "assistant.message", {"messageId": "m3", "content": "Done."}),
        event(12, "session.shutdown", {"shutdownType": "routine", "totalPremiumRequests": 1}),
    )


def cursor() -> bytes:
    """A composer: a question, a thought with a command that fails, an answer."""
    command = {"toolCallId": "c1", "modelCallId": "mc1", "name": "run_terminal_cmd", "status": "completed"}
    command |= {"rawArgs": '{"command": "ls x"}', "result": '{"output": "no such file", "exitCodeV2": 2}'}
    composer = {"composerId": "s1", "name": "Rename", "createdAt": 1767607200000, "status": "completed"}
    bubbles = [
        {"bubbleId": "b1", "type": 1, "text": "Rename the flag", "createdAt": "2026-01-05T10:00:00.000Z"}
        | {"modelInfo": {"modelName": "gpt-x"}},
        {"bubbleId": "b2", "type": 2, "text": "", "thinking": {"text": "Look first.", "signature": "c2ln"}},
        {"bubbleId": "b3", "type": 2, "text": "", "toolFormerData": command},
        {"bubbleId": "b4", "type": 2, "text": "Done.", "tokenCount": {"inputTokens": 90, "outputTokens": 7}},
    ]
    line = {"misstep_database": "cursor", "composerData": composer, "bubbles": bubbles}
    return json.dumps(line).encode()


def cursor_agent() -> bytes:
    """A stream: a question, a text with a command that fails, an answer, the result."""
    common = {"session_id": "s1"}
    failed = {"failure": {"command": "ls x", "exitCode": 2, "stdout": "", "stderr": "no such file"}}
    call = common | {"type": "tool_call", "call_id": "c1"}
    return _lines(
        common | {"type": "system", "subtype": "init", "cwd": "/home/kim/app", "model": "gpt-x"},
        common | {"type": "user", "message": _said("user", "Rename the flag")},
        common | {"type": "assistant", "message": _said("assistant", "I look.")},
        call | {"subtype": "started", "tool_call": {"shellToolCall": {"args": {"command": "ls x"}}}},
        call
        | {"subtype": "completed", "tool_call": {"shellToolCall": {"args": {"command": "ls x"}, "result": failed}}},
        common | {"type": "assistant", "message": _said("assistant", "Done."), "timestamp_ms": 1767607209000},
        common | {"type": "result", "subtype": "success", "duration_ms": 900, "result": "I look.Done."},
    )


def _said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def cline() -> bytes:
    """A task: a question, a written call with its result, a call as a block, the person's words with its result."""
    around = {"type": "text", "text": "<environment_details>\n# Current Mode\nACT MODE\n</environment_details>"}
    written = "I look.\n<execute_command>\n<command>ls x</command>\n</execute_command>"
    metrics = {"tokens": {"prompt": 90, "completion": 7, "cached": 50}, "cost": 0.001}
    denied = "The user answered:\n<feedback>\nOnly in cli.py\n</feedback>"
    messages = [
        {"role": "user", "ts": 1767607200000, "content": [_text("<task>\nRename the flag\n</task>"), around]},
        {"role": "assistant", "ts": 1767607201000, "content": [_text(written)]}
        | {"modelInfo": {"providerId": "openai", "modelId": "gpt-x"}, "metrics": metrics},
        {
            "role": "user",
            "content": [_text("[execute_command for 'ls x'] Result:"), _text("Exit code: 2\nno such file"), around],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Now rename.", "signature": "c2ln"},
                {"type": "tool_use", "id": "c1", "name": "write_to_file", "input": {"path": "main.py"}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [_text(denied)]}]},
        {"role": "assistant", "content": "Done."},
    ]
    return json.dumps(messages).encode()


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def opencode() -> bytes:
    """A session: a question with an injected text, a command that fails, an answer of a second step."""
    usage = {"input": 40, "output": 7, "reasoning": 3, "cache": {"read": 50, "write": 0}}
    state = {"status": "completed", "input": {"command": "ls x"}, "output": "no such file", "metadata": {"exit": 2}}
    asked = [
        {"id": "p1", "type": "text", "text": "Rename the flag"},
        {"id": "p2", "type": "text", "text": "The file cli.py is open.", "synthetic": True},
    ]
    answered = [
        {"id": "p3", "type": "step-start"},
        {"id": "p4", "type": "reasoning", "text": "Look first.", "time": {"start": 1767607201000}},
        {"id": "p5", "type": "tool", "callID": "c1", "tool": "bash", "state": state},
        {"id": "p6", "type": "step-finish", "reason": "tool-calls", "cost": 0.001, "tokens": usage},
        {"id": "p7", "type": "step-start"},
        {"id": "p8", "type": "text", "text": "Done."},
        {"id": "p9", "type": "step-finish", "reason": "stop", "cost": 0.002, "tokens": usage},
    ]
    about = {"id": "ses_1", "directory": "/home/kim/app", "title": "Rename", "parentID": "ses_0"}
    answer = {"id": "msg_2", "role": "assistant", "modelID": "gpt-x", "providerID": "openai"}
    answer |= {"time": {"created": 1767607201000, "completed": 1767607209000}, "cost": 0.003}
    messages = [
        {"info": {"id": "msg_1", "role": "user", "time": {"created": 1767607200000}}, "parts": asked},
        {"info": answer, "parts": answered},
    ]
    return json.dumps({"info": about, "messages": messages}).encode()


def opencode_stream() -> bytes:
    """A run as it is printed: a call of a tool that there is not, an answer, what it cost."""
    state = {"status": "completed", "input": {"tool": "write", "error": "no such tool"}, "output": "It is invalid."}
    usage = {"input": 40, "output": 7, "reasoning": 3, "cache": {"read": 50, "write": 0}}
    parts = [
        {"id": "p1", "messageID": "msg_2", "type": "step-start"},
        {"id": "p2", "messageID": "msg_2", "type": "tool", "callID": "c1", "tool": "invalid", "state": state},
        {"id": "p3", "messageID": "msg_3", "type": "text", "text": "Done."},
        {"id": "p4", "messageID": "msg_3", "type": "step-finish", "cost": 0.001, "tokens": usage},
    ]
    kinds = ("step_start", "tool_use", "text", "step_finish")
    lines = [
        {"type": kind, "timestamp": 1767607201000, "sessionID": "ses_1", "part": part}
        for kind, part in zip(kinds, parts, strict=True)
    ]
    return _lines(*lines)


def _goose_messages() -> list[dict[str, Any]]:
    shell = {"name": "developer__shell", "arguments": {"command": "ls x"}}
    broken = {"status": "error", "error": "The arguments are not JSON"}
    failed = {"content": [_text("no such file")], "isError": True}
    return [
        {"id": "m1", "role": "user", "created": 1767607200, "content": [_text("Rename the flag")]},
        {
            "id": "m2",
            "role": "assistant",
            "created": 1767607201,
            "content": [
                {"type": "thinking", "thinking": "Look first.", "signature": "c2ln"},
                _text("I look."),
                {"type": "toolRequest", "id": "c1", "toolCall": {"status": "success", "value": shell}},
                {"type": "toolRequest", "id": "c2", "toolCall": broken},
            ],
        },
        {
            "role": "user",
            "created": 1767607202,
            "content": [
                {"type": "toolResponse", "id": "c1", "toolResult": {"status": "success", "value": failed}},
                {"type": "toolResponse", "id": "c2", "toolResult": {"status": "error", "error": "-32602: no JSON"}},
            ],
        },
        {"role": "assistant", "created": 1767607203, "content": [_text("Done.")], "metadata": {"userVisible": True}},
    ]


def goose() -> bytes:
    """A session as it is exported: a question, two calls with their errors, an answer."""
    about = {"id": "20260105_1", "name": "Rename", "working_dir": "/home/kim/app", "provider_name": "openai"}
    about |= {"model_config": {"model_name": "gpt-x"}, "input_tokens": 90, "output_tokens": 7}
    return json.dumps(about | {"conversation": _goose_messages()}).encode()


def goose_jsonl() -> bytes:
    """The same session as earlier versions wrote it."""
    header = {"working_dir": "/home/kim/app", "description": "Rename", "message_count": 4, "total_tokens": 97}
    return _lines(header, *_goose_messages())


def pi() -> bytes:
    """A forked session: an entry of the one before it, a question, a call with its result, a summary, an answer."""

    def entry(number: int, message: dict[str, Any]) -> dict[str, Any]:
        stamp = f"2026-01-05T10:00:{number:02}.000Z"
        return {"type": "message", "id": f"e{number}", "parentId": None, "timestamp": stamp, "message": message}

    usage = {"input": 40, "output": 7, "cacheRead": 50, "cacheWrite": 0, "cost": {"total": 0.001}}
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls x"}}
    header = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-05T10:00:05.000Z"}
    return _lines(
        header | {"cwd": "/home/kim/app", "parentSession": "/home/kim/2026-01-04T10-00-00-000Z_s0.jsonl"},
        entry(1, {"role": "user", "content": "Look around"}),
        {"type": "model_change", "id": "e5", "timestamp": "2026-01-05T10:00:05.000Z", "modelId": "gpt-x"},
        entry(6, {"role": "user", "content": [_text("Rename the flag")]}),
        entry(
            7,
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "Look first."}, call], "model": "gpt-x"}
            | {"provider": "openai", "usage": usage, "stopReason": "toolUse"},
        ),
        entry(8, {"role": "toolResult", "toolCallId": "c1", "content": [_text("no such file")], "isError": True}),
        entry(9, {"role": "bashExecution", "command": "git status", "output": "clean", "exitCode": 0}),
        {"type": "compaction", "id": "e10", "timestamp": "2026-01-05T10:00:10.000Z", "summary": "The flag is renamed."},
        entry(11, {"role": "assistant", "content": [_text("Done.")]}),
    )
