"""Judge patches as a validator: at the end of an attempt, and in the agent's loop where the setting allows it.

The judge is shown the task with the failure, the patch, and what the validators say that run no test of the case
(section 6.2). Whether the tests pass is not shown: a judge of patches is measured against that.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from misstep_harness.items import Item, read_question
from misstep_harness.places import data_folder
from misstep_harness.protocols import Ask
from misstep_harness.repair.records import PATCH_JUDGE, UNCHANGED_TESTS, Signal, signal_line
from misstep_harness.verdict import Verdict

if TYPE_CHECKING:
    from misstep_harness.judges.runnable import RunnableJudge

ACCEPTABLE, UNACCEPTABLE = "acceptable", "unacceptable"
"""The labels of a judge of patches: the paper's class 1 and class 0."""

_NOT_SHOWN = frozenset({"oracle", "suite", UNCHANGED_TESTS, PATCH_JUDGE})
"""The validators that run tests of the case, and the judge itself; the suite is run only where the oracle passes."""

_UNACCEPTED = (
    "The patch judge does not find the change acceptable. Look at the change again: make sure that it mends the cause "
    "and nothing else. You can edit the file again."
)
_NO_CHECKS = "(no other check was made)"


def question_folder() -> Path:
    """Return the folder whose `benchmark.toml` says what a judge of patches is asked."""
    return data_folder() / "repair" / "patches"


def fitted_to_patches(judge: "RunnableJudge") -> "RunnableJudge":
    """Return a judge as it is asked about patches; raises `UsageError` if it is for other items or labels."""
    from misstep_harness.judges.runnable import fitted

    return fitted(judge, read_question(question_folder()), question_folder())


def patch_item(name: str, task: str, patch: str, signals: Iterable[Signal]) -> Item:
    """Return what a judge is shown of a patch."""
    lines = [signal_line(signal) for signal in signals if signal.validator not in _NOT_SHOWN]
    return Item(name, "patch", task=task, patch=patch, text="\n".join(lines) or _NO_CHECKS)


def with_failure(task: str, failure: object) -> str:
    """Return what the agent was told, and below it the failure where that leaves it out."""
    return f"{task.rstrip()}\n\nThe failure:\n{failure}" if isinstance(failure, str) and failure else task


class PatchJudge:
    """A judge, fitted to patches, as it is asked about those of one attempt; `verdicts` are its answers in order."""

    def __init__(self, judge: "RunnableJudge", ask: Ask) -> None:
        self._judge, self._ask = judge, ask
        self._last: Item | None = None
        self.verdicts: list[Verdict] = []

    async def signal(self, item: Item) -> Signal:
        """Return its verdict on a finished patch; without a label `passed` is `None` and the text says why."""
        verdict = await self._verdict(item)
        passed = None if verdict.label is None else verdict.label == ACCEPTABLE
        why = verdict.error or verdict.rationale
        missing = f"no verdict ({verdict.status}{f': {why}' if why else ''})"
        return Signal(PATCH_JUDGE, passed, missing if passed is None else verdict.rationale, verdict.score)

    async def feedback(self, item: Item) -> tuple[str, bool]:
        """Return what the agent is told of its patch so far, and whether that is a rejection."""
        verdict = await self._verdict(item)
        if verdict.label is None:
            return f"The patch judge was asked about the change and gave no verdict ({verdict.status}).", False
        if verdict.label == ACCEPTABLE:
            return f"The patch judge finds the change acceptable. {verdict.rationale}".rstrip(), False
        return f"{_UNACCEPTED}\n{verdict.rationale}".rstrip(), True

    async def _verdict(self, item: Item) -> Verdict:
        if item != self._last:
            self._last = item
            if reason := self._judge.skip_reason(item):
                verdict = Verdict(item.id, self._judge.name, None, "abstained", error=reason)
            else:
                verdict = await self._judge.verdict(item, None, self._ask)
            self.verdicts.append(verdict)
        return self.verdicts[-1]
