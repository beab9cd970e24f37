"""Tell by rule whether an agent recovered after an intervention: `recovery@rule` on any benchmark of recoveries.

`harness.recovery` decides, by which steps after the intervention show the misbehaviour again (Wink, section 4.1):

- a loop, where one of its calls is made again with nothing changed since, or the rule of loops finds another one;
- failing tools, where one of the tools fails again by the agent's own error, or two other calls do;
- what was ruled out, where the rule of that category finds it in the steps after alone, but for a change taken back.

With too few steps to see, nobody can tell. Nor where the rules see no misbehaviour before the intervention, and the
item names no evidence of one.
"""

import re
from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.classifiers import CLASSIFIERS, classify_all
from misstep_harness.classifiers.failures import own_failure
from misstep_harness.classifiers.history import Act, History
from misstep_harness.classifiers.repeated_calls import made_again
from misstep_harness.classifiers.tools import bare_name, edit_texts
from misstep_harness.classifiers.verdicts import counted
from misstep_harness.errors import InputError
from misstep_harness.intervention import (
    NOT_RECOVERED,
    RECOVERED,
    RECOVERY_RULE,
    ends_in_success,
    is_recovered,
    steps_after,
)
from misstep_harness.items import Item
from misstep_harness.judges.runnable import RunnableJudge
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Step, Trajectory
from misstep_harness.verdict import Verdict

_FAILURES = 2
"""Errors of other calls that are failing tools as well."""

_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)(')?|\"((?:[^\"\\]|\\.)*)(\")?", re.DOTALL)
"""A text in quotes; one that nobody closes is read to its end once and has no second group."""


class _Outcome(Struct, frozen=True):
    """Whether the agent recovered, `None` if nobody can tell; the steps that decide it, and one sentence why."""

    recovered: bool | None
    steps: tuple[int, ...]
    rationale: str


class RecoveryRule(Struct, frozen=True):
    """The rule as a judge of items of the kind `recovery`.

    `extra` of an item has `categories`, and `evidence`, the steps that showed them. Without them, the rules are asked.
    """

    labels: ClassVar[tuple[str, ...]] = (RECOVERED, NOT_RECOVERED)
    name: ClassVar[str] = RECOVERY_RULE

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:  # noqa: ARG002 (asks nobody)
        """Return whether the agent recovered."""
        if trajectory is None or item.step is None or not 0 <= item.step < len(trajectory.steps):
            message = f"item {item.id!r} has no run with an intervention"
            raise InputError(message, "Give the run and the step of the intervention.", field="step")
        categories = tuple(map(str, item.extra.get("categories", ())))
        evidence = tuple(int(step) for step in item.extra.get("evidence", ()))
        verdict = outcome(trajectory, item.step, categories, evidence)
        if verdict.recovered is None:
            return Verdict(item.id, self.name, None, "abstained", rationale=verdict.rationale)
        label = RECOVERED if verdict.recovered else NOT_RECOVERED
        return Verdict(item.id, self.name, label, steps=verdict.steps, rationale=verdict.rationale)


def outcome(run: Trajectory, step: int, categories: Sequence[str] = (), evidence: Sequence[int] = ()) -> _Outcome:
    """Return whether an agent recovered after an intervention."""
    before = replace(run, steps=run.steps[:step])
    if not (categories and evidence):
        verdicts = [one for one in classify_all(before, categories or tuple(CLASSIFIERS)) if one.label == "yes"]
        categories = categories or tuple(one.judge for one in verdicts)
        evidence = evidence or tuple(at for one in verdicts for at in one.steps)
        if not evidence:
            return _Outcome(None, (), "The rules see no misbehaviour before the intervention.")
    later = steps_after(run, step)
    until = replace(run, steps=(*run.steps[: step + 1], *later))
    history = History(until)
    own = [at for at, one in enumerate(until.steps) if at > step and one.role == "agent"]
    shown = [act for act in history.acts if act.step <= step and act.step in set(evidence)]
    again = {category: _comes_back(category, shown, history, step) for category in categories}
    misbehaves = set[int]().union(*again.values())
    decided = is_recovered([at in misbehaves for at in own], solved=ends_in_success(run, step, later))
    if decided is None:
        return _Outcome(None, (), "The steps after the intervention are too few to tell.")
    steps = tuple(sorted(set(own) & misbehaves))
    if not decided:
        names = ", ".join(category for category, at in again.items() if at) or "that was pointed out"
        where = f" ({counted(steps)})" if steps else ""
        return _Outcome(False, steps, f"The misbehaviour {names} does not end{where}.")
    calm = tuple(at for at in own if at not in misbehaves)
    return _Outcome(True, calm, f"The misbehaviour ends, and calm steps follow ({counted(calm)}).")


def _comes_back(category: str, shown: Sequence[Act], history: History, step: int) -> set[int]:
    """Return the steps after the intervention that show the misbehaviour again."""
    later = [act for act in history.acts if act.step > step]
    if category == "tool_call_failure":
        wrong = [act for act in later if own_failure(act) is not None]
        tools = {bare_name(act.call.name) for act in shown}
        others = [act for act in wrong if bare_name(act.call.name) not in tools]
        back = wrong if len(others) >= _FAILURES else [act for act in wrong if act not in others]
        return {act.step for act in back}
    # All steps keep their numbers.
    until = history.trajectory
    without = (Step("system") if one.role == "agent" and at < step else one for at, one in enumerate(until.steps))
    steps = _named(replace(until, steps=tuple(without)), category)
    if category == "infinite_loop":
        going_on = {act.step for act in made_again(history, shown)}
        return {at for at in steps | going_on | _named(until, category) if at > step}
    texts = [act for act in later if act.step in steps and not any(_takes_back(act, one) for one in shown)]
    return {act.step for act in texts}


def _named(run: Trajectory, category: str) -> set[int]:
    return {at for one in classify_all(run, (category,)) if one.label == "yes" for at in one.steps}


def _takes_back(act: Act, earlier: Act) -> bool:
    """Return whether an edit puts back what another one replaced: its texts are those of the other, exchanged."""
    if act.call.name != earlier.call.name:
        return False
    texts, others = _texts(act), _texts(earlier)
    return len(texts) > 1 and texts == others[::-1] and texts[0] != texts[-1]


def _texts(act: Act) -> tuple[str, ...]:
    """Return the old and the new text of an edit, or what is in quotes where it is asked for in words."""
    old, new = edit_texts(act.call)
    if old:
        return (old, new)
    arguments = act.call.arguments
    values = [arguments] if isinstance(arguments, str) else [str(value) for value in arguments.values()]
    quoted = (match for value in values for match in _QUOTED.finditer(value) if match[2] or match[4])
    return tuple(match[1] if match[2] else match[3] for match in quoted)


def recovery_judge(digest: str) -> RunnableJudge:
    """Return the rule as a run asks it; `digest` is that of its sources."""
    settings = {"judge": RECOVERY_RULE, "judge_digest": digest}
    rule = RecoveryRule()
    return RunnableJudge(rule, settings, kind="recovery", asks_model=False, skip_reason=_without_intervention)


def _without_intervention(item: Item) -> str:
    known = item.trajectory is not None and item.step is not None
    return item.unaskable or ("" if known else "it has no run with an intervention to judge")
