"""The patching sub-agent alone: one file, one instruction, one reply."""

import asyncio

import pytest

from misstep_harness.agent.environment import Environment
from misstep_harness.agent.loop import run_agent
from misstep_harness.agent.policies.direct import DirectPolicy
from misstep_harness.agent.policies.model import ModelPatcher, ModelSettings
from misstep_harness.agent.protocols import Task
from misstep_harness.exchange import Failure, Outcome
from misstep_harness.trajectory import Trajectory
from tests.harness.agent.folders import FilesInMemory, replace_reply
from tests.harness.agent.policies.test_model import Answers, reply


def _run(*outcomes: Outcome, path: str = "a.py") -> tuple[Trajectory, Environment, Answers]:
    answers = Answers(*outcomes)
    patcher = ModelPatcher("Write {} so.".format, ModelSettings(name="patcher-1"))
    files = FilesInMemory({"a.py": "one = 1\n"})
    place = Environment(files, patcher=patcher, apply_reply=replace_reply, ask=answers)
    run = asyncio.run(run_agent(Task("c", "It fails."), DirectPolicy(path, "make it two"), place, answers))
    return run, place, answers


def test_the_model_is_asked_once_with_the_file_and_the_instruction() -> None:
    run, place, answers = _run(reply("= 1 => = 2"))
    assert place.text("a.py") == "one = 2\n"
    [asked] = answers.requests
    text = "\n".join(message.content for message in asked.messages)
    assert asked.model == "patcher-1"
    assert "one = 1" in text
    assert "make it two" in text
    assert "It fails." not in text
    assert run.extra["ended"] == "exit"
    [tokens] = place.patcher_tokens
    assert (tokens.prompt, tokens.completion, tokens.cost_usd) == (11, 3, 0.5)


@pytest.mark.parametrize(
    ("outcome", "path", "ended"),
    [
        (reply("= 7 => = 2"), "a.py", "exit"),
        (Failure("server", "it failed"), "a.py", "stopped"),
        (None, "b.py", "exit"),
    ],
    ids=["a reply that does not apply", "no reply", "no file"],
)
def test_nothing_is_tried_twice(outcome: Outcome | None, path: str, ended: str) -> None:
    run, place, answers = _run(*([outcome] if outcome else []), path=path)
    assert place.text("a.py") == "one = 1\n"
    assert len(answers.requests) == (outcome is not None)
    assert run.extra["ended"] == ended
