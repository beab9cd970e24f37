"""A line of a log tells what happened; a setting, a wish, a denied value and a word on another run tell nothing."""

import pytest

from misstep_harness.triage.logs import outcome_in
from misstep_harness.triage.rules.events import agent_ran_out, broken_event, event_in, harness_event, last_error

NOTHING = [
    "agent timeout 900 s",
    "Agent timed out: false",
    '{"agent_timeout": null, "oom_killed": false, "exit_code": 0}',
    "agent_timeout=900",
    "agent timeout: 1800 seconds",
    "agent_timed_out = False",
    "harbor run --agent-timeout 900 --max-retries 3",
    "oom killed: false",
    "OOMKilled=false",
    "errors: 0, retries: 0, connection reset by peer: 0",
    "no network errors, without any connection refused errors",
    "network: disabled (by config)",
    "max retries 3; rate limit 60 per minute",
    "retry limit 3",
    "the agent did not time out and was not killed",
    "In an earlier run the agent timed out; connection refused",
    "# the docker daemon may be out of memory: killed process",
    "// RateLimitError, 503 Service Unavailable",
    "instruction: make sure that a connection refused is retried",
    "expected timeout after 5s in test_client",
    "tests/test_net.py::test_timeout_error PASSED",
    "test_connection_refused ... ok",
    "the container will be killed if it takes more memory",
    "verifier timeout = 300, setup timeout 60",
    "policy: quota exceeded means no space left on device",
    "timeout=None",
    '{"exception_info": null, "agent_timeout_multiplier": 1.0, "override_timeout_sec": 1800}',
    "agent timeout (sec): 900.0, elapsed: 312.4 s",
    "agent timeout: 15 minutes, cache hit",
    "step limit: 100, max_turns: 50, cost_limit=3.0, maximum number of turns: 30",
]
HAPPENED = [
    "AgentTimeoutError: Agent execution timed out after 900 s",
    "Agent timed out: true",
    "agent timeout (900 s)",
    "agent timeout of 900 s exceeded",
    "OOMKilled=true",
    "container oom-kill at 512 MB",
    "write /x: no space left on device",
    "toomanyrequests: You have reached your pull rate limit.",
    "ERROR dial tcp: lookup registry.example: no such host",
    "ERROR could not reach the daemon: connection refused",
    "Error response from daemon: pull access denied for task",
    "error: certificate has expired",
    "Max retries exceeded with url: /simple/ (failed)",
    "retries: 0 left, the docker daemon is lost",
]


def _events(line: str) -> list[object]:
    own = {"harness.log": line}
    found = [event_in(line, "logs/harness.log"), harness_event(own), broken_event(own), last_error(own)]
    return [one for one in [*found, agent_ran_out(own) or None] if one is not None]


@pytest.mark.parametrize("line", NOTHING)
def test_what_did_not_happen_is_no_event(line: str) -> None:
    assert _events(line) == []
    assert _events(f"2026-03-02 10:00:00 INFO {line}" if not line.startswith(("#", "//")) else f"  {line}") == []


@pytest.mark.parametrize("line", HAPPENED)
def test_what_happened_is_an_event_though_it_names_a_limit(line: str) -> None:
    assert _events(line)


def test_a_limit_that_is_set_hides_no_break_of_the_machine() -> None:
    log = "agent timeout 900 s, step limit: 100\nMemory cgroup out of memory: Killed process 12\n"
    assert harness_event({"harness.log": log}) is not None


@pytest.mark.parametrize(
    "wish",
    [
        "max reward=1 per task",
        "best reward: 1.0 (of 8 earlier runs)",
        "maximum possible reward: 1",
        "target_reward=1.0",
        '{"max_reward": 1.0}',
        "reward=1 per task",
        "previous run: result: passed",
        "mean reward: 1.0",
        "a run with reward=1 counts as passed",
        "expected result: passed",
        "# reward: 1",
        "reward: 1.0 is the best",
        "go on until reward=1",
        "oracle reward: 1.0",
        "you need reward=1 to pass",
        "solved: true if all tests pass",
    ],
)
def test_a_reward_that_is_possible_wished_or_earlier_is_no_outcome(wish: str) -> None:
    assert outcome_in({"harness.log": wish}) is None
    assert outcome_in({"harness.log": f"{wish}\nresult: failed reward=0\n"}) == "failed"
    assert outcome_in({"harness.log": f"{wish}\nended with reward: 1.0\n"}) == "passed"
