"""Decide whether the agent is to run on a task, and if not, which rules say no and why.

The paper's agent published mends for tests that were mended already, or flaky: it was given a further run of the test
before the start, and simple rules (section 9.2). A rule looks at facts measured at the head; none asks a model.
"""

from collections.abc import Iterator

from msgspec import Struct

from misstep.harness.repair.failure_bot.flakiness import Flakiness
from misstep.harness.repair.failure_bot.tasks import RepairTask


class Situation(Struct, frozen=True):
    """The facts about a task at the moment at which the agent would start.

    - `failed_at_head`: Whether its tests failed at the head of the branch; `None` if they were not run there.
    - `commits_since`: How many commits have landed since the task's commit.
    - `flakiness`: The state of its first test at the head.
    """

    task: RepairTask
    failed_at_head: bool | None = None
    commits_since: int = 0
    flakiness: Flakiness | None = None
    blamed: bool = True


class Objection(Struct, frozen=True):
    """A rule that says no, and why."""

    rule: str
    reason: str


class RuleDecision(Struct, frozen=True):
    """Every rule that says no; the agent runs if there is none."""

    objections: tuple[Objection, ...]

    @property
    def run(self) -> bool:
        """Return whether the agent is to run."""
        return not self.objections


def decide(situation: Situation) -> RuleDecision:
    """Ask every rule."""
    return RuleDecision(tuple(_objections(situation)))


def _objections(situation: Situation) -> Iterator[Objection]:
    since, flaky = situation.commits_since, situation.flakiness
    if situation.task.state != "open":
        yield Objection("task_closed", f"the task is {situation.task.state}")
    if situation.task.attached_diff.strip():
        yield Objection("diff_attached", f"a diff is attached to task {situation.task.id}: review that one first")
    if situation.failed_at_head is False and since:
        yield Objection("fix_landed", f"the tests pass at the head, {since} commits later: a fix has landed")
    if situation.failed_at_head is False and not since:
        yield Objection("not_reproducible", "the tests do not fail at the commit of the task")
    if flaky is not None and flaky.state == "flaky":
        seen = f"it failed in {flaky.failures} of {flaky.runs} runs (posterior {flaky.flaky:.0%})"
        yield Objection("flaky", f"the test is flaky: {seen}")
    if flaky is not None and flaky.state == "undecided" and not flaky.unseen:  # what no rerun sees cannot be told
        reason = f"{flaky.runs} runs do not tell whether the test is flaky (posterior {flaky.flaky:.0%})"
        yield Objection("flakiness_undecided", reason)
    if not situation.blamed:
        yield Objection("no_change_to_blame", "no change is to blame: none was found after which the tests fail")
