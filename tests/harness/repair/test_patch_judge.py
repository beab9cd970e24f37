"""A judge of patches as a validator: what it is shown, what its verdicts mean, and what a missing one does not."""

import asyncio

import pytest

from misstep_harness.errors import UsageError
from misstep_harness.items import Item, read_question
from misstep_harness.judges.fencing import fenced_parts
from misstep_harness.judges.prompted import requests_of
from misstep_harness.judges.runnable import RunnableJudge
from misstep_harness.protocols import Ask
from misstep_harness.repair.patch_judge import (
    ACCEPTABLE,
    UNACCEPTABLE,
    PatchJudge,
    fitted_to_patches,
    patch_item,
    question_folder,
)
from misstep_harness.repair.records import Signal
from misstep_harness.runs.judging.known_judges import known_judge
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import UNANSWERED, Status, Verdict
from tests.harness.agent.folders import NoModel
from tests.harness.repair.judging import LooksForTheLoop

SIGNALS = (
    Signal("oracle", True, "the oracle's words"),
    Signal("static_analysis", False, "ruff: price.py:4:1:\n F821 undefined name"),
    Signal("test_files", True, "changes no test"),
    Signal("revert", None, "there is no change to compare with"),
    Signal("suite", False, "newly failing: a test"),
    Signal("patch_judge", False, "an earlier verdict"),
)
ITEM = patch_item("price/search", "1 failure: assert -3 == 3", "+        found += price\n", SIGNALS)


class Gives:
    """Gives one verdict, whatever it is asked."""

    name = "gives"
    kind = "patch"
    labels = (ACCEPTABLE, UNACCEPTABLE)

    def __init__(self, label: str | None, status: Status = "answered", error: str | None = None) -> None:
        self.given = (label, status, error)

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:  # noqa: ARG002
        label, status, error = self.given
        return Verdict(item.id, self.name, label, status, rationale="The cause is mended.", error=error)


def _judge(written: object) -> PatchJudge:
    return PatchJudge(RunnableJudge(written, {}), NoModel())


def test_the_judge_is_shown_task_patch_and_the_checks_that_run_no_test() -> None:
    assert (ITEM.kind, ITEM.task, ITEM.patch) == ("patch", "1 failure: assert -3 == 3", "+        found += price\n")
    assert ITEM.text.splitlines() == [
        "static_analysis: failed (ruff: price.py:4:1: F821 undefined name)",
        "test_files: passed (changes no test)",
        "revert: could not tell (there is no change to compare with)",
    ]
    failing = (Signal("oracle", False, "1 test failed"), *SIGNALS[1:4])
    assert patch_item(ITEM.id, ITEM.task, ITEM.patch, failing) == ITEM, "it does not see whether the tests pass"


def test_all_that_comes_from_outside_stands_fenced_in_the_prompt() -> None:
    spec = known_judge("patch_judge", model="small-1").spec  # type: ignore[attr-defined]
    (request,) = requests_of(spec, ITEM, None).requests
    assert fenced_parts(request.messages[-1].content) == (ITEM.task, ITEM.patch, ITEM.text)


@pytest.mark.parametrize(("label", "passed"), [(ACCEPTABLE, True), (UNACCEPTABLE, False)])
def test_an_answer_is_a_signal_with_its_reason(label: str, passed: bool) -> None:
    signal = asyncio.run(_judge(Gives(label)).signal(ITEM))
    assert signal == Signal("patch_judge", passed, "The cause is mended.")


@pytest.mark.parametrize("status", UNANSWERED)
def test_a_missing_answer_is_neither_accepted_nor_rejected_and_says_why(status: Status) -> None:
    judge = _judge(Gives(None, status, "the reply is empty"))
    assert asyncio.run(judge.signal(ITEM)) == Signal("patch_judge", None, f"no verdict ({status}: the reply is empty)")
    text = f"The patch judge was asked about the change and gave no verdict ({status})."
    assert asyncio.run(judge.feedback(ITEM)) == (text, False)


class Breaks(Gives):
    """Raises an error, whatever it is asked."""

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:  # noqa: ARG002
        raise ZeroDivisionError("no number")


@pytest.mark.parametrize(
    ("content", "item", "text"),
    [(Breaks(None), ITEM, "ZeroDivisionError: no number"), (Gives(ACCEPTABLE), Item("a", "patch"), "abstained")],
)
def test_a_judge_that_raises_or_cannot_be_asked_costs_its_verdict_alone(content: Gives, item: Item, text: str) -> None:
    signal = asyncio.run(_judge(content).signal(item))
    assert signal.passed is None
    assert text in signal.text


def test_the_agent_hears_the_reason_and_what_it_can_do() -> None:
    accepted = asyncio.run(_judge(Gives(ACCEPTABLE)).feedback(ITEM))
    assert accepted == ("The patch judge finds the change acceptable. The cause is mended.", False)
    text, is_rejected = asyncio.run(_judge(Gives(UNACCEPTABLE)).feedback(ITEM))
    assert is_rejected
    assert "You can edit the file again.\nThe cause is mended." in text


def test_the_same_patch_is_asked_about_once() -> None:
    written = LooksForTheLoop()
    judge = _judge(written)

    async def both() -> None:
        await judge.feedback(ITEM)
        await judge.signal(ITEM)

    asyncio.run(both())
    assert (written.asked, len(judge.verdicts)) == ([ITEM], 1)


@pytest.mark.parametrize("name", ["patch_judge", "patch_acceptability", "benchmark_question"])
def test_a_shipped_judge_of_patches_has_the_labels_that_signals_are_read_from(name: str) -> None:
    question = read_question(question_folder())
    assert (set(question.labels), question.positive) == ({ACCEPTABLE, UNACCEPTABLE}, UNACCEPTABLE)
    assert set(fitted_to_patches(known_judge(name, model="small-1")).labels) == {ACCEPTABLE, UNACCEPTABLE}


@pytest.mark.parametrize("name", ["recovery", "infinite_loop@rule"])
def test_a_judge_of_something_else_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="has patch"):
        fitted_to_patches(known_judge(name, model="small-1"))
