"""The rules engine: whether the agent is to run on a task, and if not, which rules say no and why.

The paper's agent published mends for tests that were mended already, or flaky (47 of its comments on it): it was given
a further run of the test before the start, and simple rules (section 9.2). A rule looks at facts that were measured
at the head of the branch; none asks a model.
"""

from collections.abc import Callable

from msgspec import Struct

from misstep.harness.repair.failure_bot.flakiness import Flakiness
from misstep.harness.repair.failure_bot.tasks import RepairTask


class Situation(Struct, frozen=True):
    """What is known of a task at the moment at which the agent would start.

    - `failed_at_task`, `failed_at_head`: Whether its tests failed at the task's commit and at the head of the branch,
      none where they were not run.
    - `commits_since`: How many commits have landed between the two.
    - `flakiness`: What its first test is at the head.
    - `blamed`: Whether a change is blamed with the confidence that was asked for.
    """

    task: RepairTask
    failed_at_task: bool | None = None
    failed_at_head: bool | None = None
    commits_since: int = 0
    flakiness: Flakiness | None = None
    blamed: bool = True


class Objection(Struct, frozen=True):
    """A rule that says no, and why."""

    rule: str
    reason: str


class RuleDecision(Struct, frozen=True):
    """Whether the agent is to run; every rule that says no is named."""

    run: bool
    objections: tuple[Objection, ...]


def decide(situation: Situation) -> RuleDecision:
    """Ask every rule; the agent runs where none says no."""
    said = ((name, rule(situation)) for name, rule in RULES.items())
    objections = tuple(Objection(name, reason) for name, reason in said if reason is not None)
    return RuleDecision(not objections, objections)


def _closed(situation: Situation) -> str | None:
    return f"the task is {situation.task.state}" if situation.task.state != "open" else None


def _diff_attached(situation: Situation) -> str | None:
    return "a diff is attached to the task" if situation.task.attached_diff.strip() else None


def _fix_landed(situation: Situation) -> str | None:
    if situation.failed_at_head is not False or not situation.commits_since:
        return None
    return f"the tests pass at the head, {situation.commits_since} commits later: a fix has landed"


def _not_reproducible(situation: Situation) -> str | None:
    if situation.failed_at_task is False or (situation.failed_at_head is False and not situation.commits_since):
        return "the tests do not fail at the commit of the task"
    return None


def _flaky(situation: Situation) -> str | None:
    found = situation.flakiness
    if found is None or found.state != "flaky":
        return None
    return f"the test is flaky: it failed in {found.failures} of {found.runs} runs (posterior {found.flaky:.0%})"


def _undecided(situation: Situation) -> str | None:
    found = situation.flakiness
    if found is None or found.state != "undecided" or found.unseen:  # a test that no rerun sees cannot be told
        return None
    return f"{found.runs} runs do not tell whether the test is flaky (posterior {found.flaky:.0%})"


def _no_change(situation: Situation) -> str | None:
    return None if situation.blamed else "no change is to blame: none was found after which the tests fail"


RULES: dict[str, Callable[[Situation], str | None]] = {
    "task_closed": _closed,
    "diff_attached": _diff_attached,
    "fix_landed": _fix_landed,
    "not_reproducible": _not_reproducible,
    "flaky": _flaky,
    "flakiness_undecided": _undecided,
    "no_change_to_blame": _no_change,
}
"""Name → what gives the reason not to run, or none."""
