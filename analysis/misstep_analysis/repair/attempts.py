"""Choose the attempts of one system under one setting that count, and group them by case.

An attempt at a case that was not affirmed, or whose oracle is flaky, counts nowhere. An attempt that broke before its
patch was scored has no label: the solve rate takes it as unsolved, and a second rate leaves it out.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from misstep_harness.repair.records.repair_attempt import FLAKY, NOT_AFFIRMED, RepairAttempt

CUT_OFF = frozenset({"iterations", "seconds"})
_WITHOUT_ERROR = CUT_OFF | {"", "exit"}

Evidence = Literal["generated", "real"]


class RepairArm(Struct, frozen=True):
    """The attempts of one policy in one setting and edit format on one set of cases.

    - `attempts`: All of them, also those that do not count; of two with one id the last.
    - `version`: What tells the cases' contents from others.
    - `instructions`: How the cases say what to do (`high-level`, `detailed`); empty if they do not differ in it.
    - `instructions_by`: The model and prompt that wrote these from the fixes; empty for texts that the cases came with.
    """

    name: str
    policy: str
    setting: str
    format: str
    attempts: tuple[RepairAttempt, ...]
    benchmark: str = ""
    version: str = ""
    instructions: str = ""
    evidence: Evidence = "real"
    dataset: str = ""
    instructions_by: str = ""
    model: str = ""

    @property
    def author(self) -> str:
        """Return the policy, with the model that it asks."""
        return f"{self.policy} with {self.model}" if self.model else self.policy

    @property
    def instructions_author(self) -> str:
        """Return who wrote the instructions: a model, the templates of planted faults, or the cases' maker."""
        if not self.instructions:
            return ""
        own = "templates" if self.evidence == "generated" else "the cases' maker"
        return self.instructions_by.partition(",")[0] or own


def counted(attempts: Iterable[RepairAttempt]) -> list[RepairAttempt]:
    """Return the attempts at cases that hold, in order of case and number: of two with one id the last."""
    last = in_order(attempts)
    left_out = {attempt.case for attempt in last if attempt.ended in (NOT_AFFIRMED, FLAKY)}
    return [attempt for attempt in last if attempt.case not in left_out]


def in_order(attempts: Iterable[RepairAttempt]) -> list[RepairAttempt]:
    """Return attempts in order of case and number: of two with one id the last."""
    last = {attempt.id: attempt for attempt in attempts}
    return sorted(last.values(), key=lambda attempt: (attempt.case, attempt.sample, attempt.id))


def by_case(attempts: Iterable[RepairAttempt]) -> dict[str, list[RepairAttempt]]:
    """Case → its attempts, in order."""
    cases: dict[str, list[RepairAttempt]] = {}
    for attempt in attempts:
        cases.setdefault(attempt.case, []).append(attempt)
    return cases


def ended_as(end: str, attempts: Iterable[RepairAttempt]) -> list[RepairAttempt]:
    """Return the attempts that ended in one way, of two with one id the last."""
    last = {attempt.id: attempt for attempt in attempts}
    return [attempt for attempt in last.values() if attempt.ended == end]


def had_error(attempt: RepairAttempt) -> bool:
    """Return whether the run or its scoring broke, or it was stopped from outside; a limit reached is not an error."""
    return bool(attempt.error) or attempt.ended not in _WITHOUT_ERROR


def was_cut_off(attempt: RepairAttempt) -> bool:
    """Return whether the run reached its limit of iterations or seconds."""
    return attempt.ended in CUT_OFF


def ran(attempt: RepairAttempt) -> bool:
    """Return whether the agent ran at all, so that its iterations say something."""
    return bool(attempt.ended) or attempt.iterations > 0


def noted(attempt: RepairAttempt, name: str) -> int | None:
    """What an attempt's trajectory notes by a name: `test_runs` counted from its calls, others where recorded."""
    run = attempt.trajectory
    if run is None:
        return None
    value = run.extra.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if name == "test_runs" and run.steps:
        return sum(call.name == "run_tests" for step in run.steps for call in step.calls)
    return None


def solved_counts(cases: Mapping[str, Sequence[RepairAttempt]]) -> list[tuple[int, int]]:
    """Each case's number of attempts, and of solved ones."""
    return [(len(tries), sum(attempt.solved is True for attempt in tries)) for tries in cases.values()]
