"""One made-up recording in each format that tools for evaluation write: small, with all that a reader must place."""

import json
from typing import Any

COMPLAINT = "Format error: give exactly one action."


def _bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


def atif() -> bytes:
    """A run with a sub-agent, parts in a message, a failed call and everything else that the format has."""
    helper = {
        "schema_version": "ATIF-v1.7",
        "trajectory_id": "gate-helper",
        "session_id": "gate-1",
        "agent": {"name": "searcher", "version": "0.3"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "Find the hinge."},
            {"step_id": 2, "source": "agent", "message": "It is in gate.py."},
        ],
    }
    return _bytes(
        {
            "schema_version": "ATIF-v1.7",
            "trajectory_id": "gate-main",
            "session_id": "gate-1",
            "agent": {
                "name": "mender",
                "version": "2.1",
                "model_name": "m-large",
                "tool_definitions": [{"type": "function", "function": {"name": "read"}}],
                "extra": {"temperature": 0.2},
            },
            "steps": [
                {"step_id": 1, "source": "system", "message": "You mend gates."},
                {
                    "step_id": 2,
                    "source": "user",
                    "message": [
                        {"type": "text", "text": "Mend the gate."},
                        {"type": "image", "source": {"media_type": "image/png", "path": "gate.png"}},
                    ],
                },
                {
                    "step_id": 3,
                    "timestamp": "2026-02-03T04:05:06Z",
                    "source": "agent",
                    "model_name": "m-small",
                    "reasoning_effort": "low",
                    "message": "A look first.",
                    "reasoning_content": "The hinge may be loose.",
                    "tool_calls": [
                        {
                            "tool_call_id": "c1",
                            "function_name": "read",
                            "arguments": {"path": "gate.py"},
                            "extra": {"attempt": 1},
                        },
                        {"tool_call_id": "c2", "function_name": "delegate", "arguments": {"task": "Find the hinge."}},
                    ],
                    "observation": {
                        "results": [
                            {"source_call_id": "c1", "content": "hinge = None", "extra": {"is_error": False}},
                            {
                                "source_call_id": "c2",
                                "content": [{"type": "text", "text": "It is in gate.py."}],
                                "subagent_trajectory_ref": [{"trajectory_id": "gate-helper"}],
                            },
                        ]
                    },
                    "metrics": {
                        "prompt_tokens": 900,
                        "completion_tokens": 20,
                        "cached_tokens": 100,
                        "cost_usd": 0.002,
                        "logprobs": [-0.1, -0.2],
                        "extra": {"reasoning_tokens": 7},
                    },
                    "llm_call_count": 1,
                    "is_copied_context": False,
                    "extra": {"turn": "first"},
                },
                {"step_id": 4, "source": "agent", "message": "Done."},
            ],
            "notes": "Made up.",
            "final_metrics": {"total_prompt_tokens": 900, "total_steps": 4},
            "continued_trajectory_ref": "gate-2.json",
            "subagent_trajectories": [helper],
            "extra": {"weather": "rain"},
        }
    )


def _orders(call_id: str | None) -> list[dict[str, Any]]:
    """A short service conversation with one tool call."""
    call: dict[str, Any] = {"type": "function", "function": {"name": "find_order", "arguments": '{"order": "W12"}'}}
    answer: dict[str, Any] = {"role": "tool", "name": "find_order", "content": "on its way"}
    if call_id is not None:
        call["id"] = answer["tool_call_id"] = call_id
    return [
        {"role": "system", "content": "Be polite."},
        {"role": "user", "content": "Where is my order W12?", "name": "Ida"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        answer,
        {"role": "assistant", "content": [{"type": "text", "text": "It is on its way."}], "reasoning_content": "Easy."},
    ]


def openai_chat() -> bytes:
    """One conversation under `messages`."""
    return _bytes(
        {
            "messages": _orders("call_1"),
            "model": "m-small",
            "tools": [{"type": "function", "function": {"name": "find_order"}}],
            "metadata": {"shop": 4},
        }
    )


def taubench() -> bytes:
    """Two trials of one task, the second solved."""
    return _bytes(
        [
            {
                "task_id": 3,
                "trial": trial,
                "reward": reward,
                "info": {
                    "task": {"user_id": "ida_1", "instruction": "You want order W12.", "actions": [], "outputs": []},
                    "user_cost": 0.01,
                    "reward_info": {"reward": reward},
                },
                "traj": _orders(f"call_{trial}"),
            }
            for trial, reward in ((0, 0.0), (1, 1.0))
        ]
    )


def mini_swe_agent() -> bytes:
    """A run of version 1.1 with tool calls, a complaint about the format and a submission."""
    usage = {
        "prompt_tokens": 300,
        "completion_tokens": 9,
        "cost": 0.001,
        "prompt_tokens_details": {"cached_tokens": 50},
    }
    return _bytes(
        {
            "trajectory_format": "mini-swe-agent-1.1",
            "instance_id": "acme__gate-7",
            "info": {
                "exit_status": "Submitted",
                "submission": "diff --git a/gate.py b/gate.py",
                "mini_version": "2.0.0",
                "model_stats": {"instance_cost": 0.003, "api_calls": 3},
                "config": {"model": {"model_name": "m-large"}},
            },
            "messages": [
                {"role": "system", "content": "You mend code."},
                {"role": "user", "content": "Mend the gate."},
                {
                    "role": "assistant",
                    "content": "A look first.",
                    "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
                    ],
                    "extra": {
                        "actions": [{"command": "ls", "tool_call_id": "c1"}],
                        "response": {"usage": usage, "choices": [{"message": {"reasoning": "What is there?"}}]},
                        "cost": 0.001,
                        "timestamp": 1770000000.5,
                    },
                },
                {
                    "role": "tool",
                    "tool_call_id": "c1",
                    "content": "<returncode>0</returncode>\n<output>\ngate.py\n</output>",
                    "extra": {"raw_output": "gate.py\n", "returncode": 0, "exception_info": ""},
                },
                {
                    "role": "user",
                    "content": COMPLAINT,
                    "extra": {"interrupt_type": "FormatError", "model_response": "I will think."},
                },
                {
                    "role": "assistant",
                    "content": "Handing it in.\n\n```bash\nsubmit\n```",
                    "extra": {"actions": [{"command": "submit"}]},
                },
                {
                    "role": "exit",
                    "content": "diff --git a/gate.py b/gate.py",
                    "extra": {"exit_status": "Submitted", "submission": "diff --git a/gate.py b/gate.py"},
                },
            ],
        }
    )


def swe_agent() -> bytes:
    """A newer run: a demonstration before it, one action as JSON and one as words."""
    return _bytes(
        {
            "environment": "main",
            "replay_config": json.dumps({"agent": {"model": {"name": "m-large"}}}),
            "trajectory": [
                {
                    "thought": "A look first.",
                    "action": "open gate.py",
                    "observation": "hinge = None",
                    "response": "A look first.",
                    "execution_time": 0.25,
                    "state": {"working_dir": "/src"},
                },
                {
                    "thought": "Handing it in.\n",
                    "action": "submit\n",
                    "observation": "diff --git a/gate.py b/gate.py",
                    "response": "Handing it in.\n```\nsubmit\n```",
                    "execution_time": 0.5,
                    "state": {"working_dir": "/src"},
                },
            ],
            "history": [
                {"role": "system", "content": "You mend code.", "agent": "main"},
                {"role": "user", "content": "An example of a run.", "agent": "main", "is_demo": True},
                {"role": "user", "content": "Mend the gate.", "agent": "main"},
                {
                    "role": "assistant",
                    "content": "A look first.",
                    "thought": "A look first.",
                    "action": "open gate.py",
                    "agent": "main",
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "open", "arguments": '{"path": "gate.py"}'},
                        }
                    ],
                },
                {"role": "tool", "content": "OBSERVATION:\nhinge = None", "agent": "main", "tool_call_ids": ["c1"]},
            ],
            "info": {"exit_status": "submitted", "submission": "diff", "model_stats": {"api_calls": 2}},
        }
    )


def chat_log() -> bytes:
    """What a person, three agents and a terminal say, under names and not roles."""
    return _bytes(
        {
            "question": "How many bridges are there?",
            "level": 2,
            "history": [
                {"role": "human", "content": "How many bridges are there?"},
                {"role": "Planner (thought)", "content": "Somebody has to count."},
                {"role": "assistant", "name": "Counting_Expert", "content": "I count them."},
                {"role": "user", "name": "Code_terminal", "content": "exitcode: 0 (execution succeeded)"},
                {"role": "assistant", "name": "Counting_Expert", "content": "There are three."},
            ],
        }
    )


def intercode() -> bytes:
    """A run whose second action failed and whose last one was blocked, and one that answered at once."""
    blocked = {
        "environment": "ic_bash",
        "task_id": 0,
        "query": "Count the planks.",
        "turn_history": {
            "thoughts": ["A look first.", "Count.", ""],
            "actions": ["ls", "wc -l plank", "rm -r /"],
            "observations": ["planks", "no such file"],
            "rewards": [0.2, 0.2, 0],
            "valid_action": [True, False],
        },
        "summary": {"max_reward": 0.2, "turns_taken": 3, "turns_max": 10},
    }
    turns = {"actions": ["cat planks"], "observations": ["3"], "rewards": [1.0]}
    return _bytes({"0": blocked, "1": {"query": "How many?", "turn_history": turns, "summary": {"max_reward": 1}}})


def misstep() -> bytes:
    """Two runs as Misstep writes them: one with all that a run has, one that somebody wrote by hand."""
    step = {
        "role": "agent",
        "text": "A look first.",
        "reasoning": "The hinge may be loose.",
        "calls": [{"name": "read", "arguments": {"path": "gate.py"}, "id": "c1", "extra": {"attempt": 1}}],
        "results": [{"text": "no such file", "is_error": True, "exit_code": 1, "call_id": "c1"}],
        "speaker": "mender",
        "timestamp": "2026-02-03T04:05:06Z",
        "seconds": 1.5,
        "tokens": {"prompt": 90, "completion": 7, "cost_usd": 0.01},
        "extra": {"effort": "low"},
    }
    whole = {
        "id": "gate-main",
        "source": {"format": "misstep"},
        "task": "Mend the gate.",
        "steps": [{"role": "user", "text": "Mend the gate."}, step],
        "outcome": {"status": "passed", "reward": 1.0},
        "agent": "mender",
        "model": "m-large",
        "parent": "gate-0",
        "extra": {"round": 2},
    }
    by_hand = {"steps": [{"role": "user", "text": "Mend it."}, {"role": "agent", "text": "Done."}]}
    return b"\n".join(map(_bytes, (whole, by_hand)))
