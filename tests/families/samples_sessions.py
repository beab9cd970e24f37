"""A small made-up file of each format that records sessions, runs and traces, as its bytes."""

import json
from typing import Any


def _lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def claude_code() -> bytes:
    """A session: a question, a call with its result, an answer, and a sub-agent's two lines."""
    common = {"sessionId": "s1", "isSidechain": False, "cwd": "/home/kim/app", "version": "2.1.0", "gitBranch": "main"}
    called = {"id": "m1", "role": "assistant", "model": "claude-x", "usage": {"input_tokens": 9, "output_tokens": 5}}
    side = common | {"isSidechain": True, "agentId": "a7"}
    tool_use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    tool_result = {"type": "tool_result", "tool_use_id": "t1", "content": "Exit code 2\nno such file", "is_error": True}
    return _lines(
        {"type": "summary", "summary": "Renaming", "leafUuid": "u9"},
        common | {"type": "user", "uuid": "u1", "parentUuid": None, "message": _said("user", "Rename the flag")},
        common
        | {"type": "assistant", "uuid": "u2", "parentUuid": "u1", "message": called | {"content": [_thought("Look.")]}},
        common | {"type": "assistant", "uuid": "u3", "parentUuid": "u2", "message": called | {"content": [tool_use]}},
        common
        | {"type": "user", "uuid": "u4", "parentUuid": "u3", "message": _said("user", [tool_result])}
        | {"toolUseResult": {"stderr": "no such file"}},
        side | {"type": "user", "uuid": "v1", "parentUuid": None, "message": _said("user", "Search for flags")},
        side | {"type": "assistant", "uuid": "v2", "parentUuid": "v1", "message": _said("assistant", "Found two.")},
        common | {"type": "assistant", "uuid": "u5", "parentUuid": "u4", "message": _said("assistant", "Done.")},
    )


def _said(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def _thought(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": "c2ln"}


def codex() -> bytes:
    """A rollout: the environment, a question, two calls with their outputs, an answer written twice, tokens."""

    def line(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        return {"timestamp": "2026-01-05T10:00:00.000Z", "type": kind, "payload": payload}

    def message(role: str, text: str) -> dict[str, Any]:
        part = "output_text" if role == "assistant" else "input_text"
        return line("response_item", {"type": "message", "role": role, "content": [{"type": part, "text": text}]})

    output = json.dumps({"output": "a.py\n", "metadata": {"exit_code": 0, "duration_seconds": 0.1}})
    usage = {"input_tokens": 90, "cached_input_tokens": 50, "output_tokens": 7}
    return _lines(
        line("session_meta", {"id": "s1", "cwd": "/home/kim/app", "cli_version": "0.50.0"}),
        message("user", "<environment_context>\n  <cwd>/home/kim/app</cwd>\n</environment_context>"),
        line("turn_context", {"model": "gpt-x", "approval_policy": "never"}),
        message("user", "Rename the flag"),
        line("event_msg", {"type": "user_message", "message": "Rename the flag"}),
        line("response_item", {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look first."}]}),
        line(
            "response_item",
            {"type": "function_call", "name": "shell", "call_id": "c1", "arguments": '{"command": ["ls"]}'},
        ),
        line("response_item", {"type": "function_call_output", "call_id": "c1", "output": output}),
        line("event_msg", {"type": "token_count", "info": {"total_token_usage": usage, "last_token_usage": usage}}),
        line(
            "response_item",
            {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c2", "input": "*** Begin Patch"},
        ),
        line(
            "response_item",
            {"type": "custom_tool_call_output", "call_id": "c2", "output": "Exit code: 1\nOutput:\nno match"},
        ),
        line("event_msg", {"type": "agent_message", "message": "Done."}),
        message("assistant", "Done."),
        line("world_state", {"full": True}),
    )


def gemini_cli() -> bytes:
    """A session: its context, a question, an answer that grew by a call, the call's response, the end."""
    answer = {"id": "m2", "timestamp": "2026-01-05T10:00:05Z", "type": "gemini", "content": "", "model": "gemini-x"}
    answer |= {
        "thoughts": [{"subject": "Look", "description": "First list files."}],
        "tokens": {"input": 90, "output": 7, "cached": 50, "thoughts": 3},
    }
    response = {"functionResponse": {"id": "c1", "name": "list_directory", "response": {"output": "a.py"}}}
    call = {"id": "c1", "name": "list_directory", "args": {"path": "."}, "status": "success", "result": [response]}
    context = {
        "id": "m0",
        "type": "user",
        "content": [{"text": "<session_context>\nToday is Monday.\n</session_context>"}],
    }
    return _lines(
        {"sessionId": "s1", "projectHash": "9f", "startTime": "2026-01-05T10:00:00Z", "kind": "main"},
        {"$set": {"messages": [context], "lastUpdated": "2026-01-05T10:00:01Z"}},
        {"id": "m1", "type": "user", "content": [{"text": "Rename the flag"}]},
        answer,
        answer | {"toolCalls": [call]},
        {"id": "m3", "type": "user", "content": [response]},
        {"id": "m4", "type": "gemini", "content": "Done."},
        {"$set": {"lastUpdated": "2026-01-05T10:01:00Z"}},
    )


def aider() -> bytes:
    """A history of two runs: an edit that is applied and one that fails, then a question."""
    return b"""
# aider chat started at 2026-01-05 10:00:00

> /usr/bin/aider --model gpt-x\x20\x20
> Aider v0.86.0\x20\x20
> Model: gpt-x with diff edit format\x20\x20

#### Rename the flag\x20\x20
#### in both files\x20\x20

I rename it.

cli.py
```python
<<<<<<< SEARCH
verbose = False
=======
loud = False
>>>>>>> REPLACE
```

main.py
```python
<<<<<<< SEARCH
print(verbos)
=======
print(loud)
>>>>>>> REPLACE
```

> Tokens: 2.5k sent, 36 received. Cost: $0.0014 message, $0.0014 session.\x20\x20
> The LLM did not conform to the edit format.\x20\x20
> # 1 SEARCH/REPLACE block failed to match!\x20\x20
> ## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in main.py\x20\x20
> print(verbos)\x20\x20
> Applied edit to cli.py\x20\x20

# aider chat started at 2026-01-06 09:00:00

#### What does the flag do?\x20\x20

It is loud.

> Tokens: 900 sent, 4 received.\x20\x20
"""


def openhands() -> bytes:
    """A run as one line: a task, a command that fails, an edit that is refused, the end; the tests passed."""
    return _lines(
        {
            "instance_id": "kim__app-1",
            "instruction": "Rename the flag",
            "metadata": {"agent_class": "CodeActAgent", "llm_config": {"model": "gpt-x"}},
            "git_patch": "--- a/cli.py\n+++ b/cli.py\n",
            "report": {"resolved": True},
            "history": [
                {"id": 0, "source": "user", "action": "message", "args": {"content": "Rename the flag"}},
                {"id": 1, "source": "environment", "observation": "agent_state_changed", "content": ""},
                {"id": 2, "source": "agent", "action": "run", "args": {"command": "ls x", "thought": "Look around."}},
                {"id": 3, "source": "agent", "observation": "run", "cause": 2, "content": "no such file"}
                | {"extras": {"metadata": {"exit_code": 2}}},
                {"id": 4, "source": "agent", "action": "edit", "args": {"path": "cli.py", "old_str": "verbos"}},
                {"id": 5, "source": "agent", "observation": "edit", "cause": 4, "content": "ERROR:\nno match"},
                {"id": 6, "source": "agent", "observation": "error", "content": "Unknown tool 'sed'"},
                {"id": 7, "source": "agent", "action": "finish", "args": {"thought": "Done."}},
            ],
        }
    )


def inspect_ai() -> bytes:
    """A log of two epochs of one sample: a call that timed out, tokens in an event, a score each."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Use bash."},
        {"role": "user", "content": "Which file?"},
        {"role": "assistant", "id": "m1", "content": [{"type": "reasoning", "reasoning": "List them."}]}
        | {"tool_calls": [{"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}}]},
        {"role": "tool", "tool_call_id": "c1", "function": "bash", "content": "attachment://9f"}
        | {"error": {"type": "timeout", "message": "over 30 s"}},
        {"role": "assistant", "id": "m2", "content": "a.py"},
    ]
    event = {"event": "model", "timestamp": "2026-01-05T10:00:00+00:00"} | {
        "output": {
            "choices": [{"message": {"id": "m1"}}],
            "usage": {"input_tokens": 90, "output_tokens": 7, "input_tokens_cache_read": 50},
            "time": 1.5,
        }
    }
    sample = {"id": "a1", "input": "Which file?", "target": "a.py", "messages": messages, "events": [event]}
    sample |= {"attachments": {"9f": "a long text"}}
    log = {"version": 2, "status": "success", "eval": {"task": "triage", "model": "openai/gpt-x"}, "plan": {}}
    first = sample | {"epoch": 1, "scores": {"match": {"value": "C", "answer": "a.py"}}}
    second = sample | {"epoch": 2, "scores": {"match": {"value": 0.5}}}
    return json.dumps(log | {"samples": [first, second]}).encode()


def inspect_scout() -> bytes:
    """A row of a transcript database: a call that timed out, tokens in an event, metadata, a score."""
    log = json.loads(inspect_ai())["samples"][0]
    row = {"transcript_id": "Yx7", "source_type": "eval_log", "task_set": "triage", "task_id": "a1", "task_repeat": 1}
    row |= {"agent": "react", "model": "openai/gpt-x", "score": "C", "success": True, "message_count": 5}
    return json.dumps(row | {"messages": log["messages"], "events": log["events"], "garden": "north"}).encode()


def opentelemetry() -> bytes:
    """A trace: an agent, two model calls and a tool's call between them, each in a step's span."""

    def span(name: str, kind: str, number: int, attributes: dict[str, Any], *children: Any) -> dict[str, Any]:
        return {
            "span_id": f"a{number}",
            "parent_span_id": None,
            "span_name": name,
            "timestamp": f"2026-01-05T10:00:{number:02}.000000Z",
            "duration": "PT1.5S",
            "status_code": "Ok",
            "span_attributes": {"openinference.span.kind": kind} | attributes,
            "child_spans": [child | {"parent_span_id": f"a{number}"} for child in children],
        }

    def messages(way: str, *said: tuple[str, str]) -> dict[str, Any]:
        return {
            f"llm.{way}_messages.{place}.message.{name}": value
            for place, (role, content) in enumerate(said)
            for name, value in (("role", role), ("content", content))
        }

    asked = (("system", "Use tools."), ("user", "Rename the flag"))
    called = {
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "list_files",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"path": "."}',
    }
    first = messages("input", *asked) | messages("output", ("assistant", "I look.")) | called
    first |= {"llm.model_name": "gpt-x", "llm.token_count.prompt": "90", "llm.token_count.completion": 7}
    later = messages("input", *asked, ("assistant", "I look."), ("tool", "a.py")) | {
        "llm.input_messages.3.message.tool_call_id": "c1"
    }
    tool = {"tool.name": "list_files", "input.value": '{"path": "."}', "output.value": "a.py"}
    agent = span(
        "Renamer.run",
        "AGENT",
        1,
        {"input.value": '{"task": "Rename the flag"}'},
        span("Step 1", "CHAIN", 2, {}, span("Model", "LLM", 3, first), span("list_files", "TOOL", 4, tool)),
        span("Step 2", "CHAIN", 5, {}, span("Model", "LLM", 6, later | messages("output", ("assistant", "Done.")))),
    )
    return json.dumps({"trace_id": "t1", "spans": [agent]}).encode()
