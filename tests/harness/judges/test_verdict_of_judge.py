"""A judge asked about one item: what it raises is a verdict without a label, never an end of the run."""

import asyncio
from collections.abc import Callable

import pytest

from misstep_harness.errors import InputError, MissingPrerequisite
from misstep_harness.items import Item
from misstep_harness.judges.runnable import RunnableJudge
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict
from tests.harness.agent.folders import NoModel

ITEM = Item("i1", "text", text="an apple")


class Judges:
    """Gives or raises what a test prepares."""

    name = "judges"
    labels = ("yes", "no")

    def __init__(self, does: Callable[[], Verdict]) -> None:
        self.does = does

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:  # noqa: ARG002
        return self.does()


def _raises(error: Exception) -> Callable[[], Verdict]:
    def does() -> Verdict:
        raise error

    return does


def _answered(does: Callable[[], Verdict]) -> Verdict:
    return asyncio.run(RunnableJudge(Judges(does), {}, model="small-1").verdict(ITEM, None, NoModel()))


def test_an_answer_is_given_as_it_is() -> None:
    given = Verdict("i1", "judges", "yes", rationale="it says so")
    assert _answered(lambda: given) is given


@pytest.mark.parametrize(
    ("does", "text"),
    [
        (_raises(InputError("no text", field="text")), "no text"),
        (_raises(ValueError("what\nnow")), "judging it raised ValueError: what now"),
        (_raises(KeyError()), "judging it raised KeyError"),
        (lambda: Verdict("i2", "judges", "yes"), "not a Verdict on item 'i1'"),
        (lambda: Verdict("i1", "judges", "yes", score=object()), "judging it raised TypeError"),
    ],
)
def test_what_goes_wrong_is_a_failed_verdict_that_says_why(does: Callable[[], Verdict], text: str) -> None:
    given = _answered(does)
    wanted = ("i1", "judges", None, "failed", "small-1")
    assert (given.item, given.judge, given.label, given.status, given.model) == wanted
    assert text in (given.error or "")


def test_what_ends_more_than_the_item_is_raised() -> None:
    with pytest.raises(MissingPrerequisite):
        _answered(_raises(MissingPrerequisite("no server", "Start it.")))
