"""Tell by rule whether an agent recovered after an intervention: `recovery@rule` on any benchmark of recoveries.

The agent recovered if, in the 15 steps after the intervention and before a user speaks, the misbehaviour does not come
back and a call that is new works (Wink, section 4.1). What comes back depends on the category:

- a loop, if one of its calls is made again;
- failing tools, if one of the tools fails again by the agent's own error, or two other calls do;
- what was ruled out, if the rule of that category finds it in the steps after alone, but for a change taken back.

If the steps do not show enough, the agent has not recovered. Where the rules see no misbehaviour before the
intervention, and the item names no evidence of one, nobody can tell whether it came back.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.classifiers import CLASSIFIERS, categories, classify_all
from misstep.harness.classifiers.calls.failures import failed, own_failure
from misstep.harness.classifiers.calls.history import Act, History
from misstep.harness.classifiers.calls.identity import Spelling, call_key
from misstep.harness.classifiers.calls.tools import bare_name, edit_texts
from misstep.harness.classifiers.verdicts import counted
from misstep.harness.errors import InputError
from misstep.harness.items import Item, Kind, Question
from misstep.harness.judges.fit import check_fit
from misstep.harness.judges.placeholders import STEPS_AFTER
from misstep.harness.protocols import Ask
from misstep.harness.runs.judging.benchmarks import digest_of_sources
from misstep.harness.trajectory import Step, Trajectory
from misstep.harness.verdict import Verdict

RULE = "@rule"


class RuleJudge(Struct, frozen=True):
    """The rule of one category; it asks no model."""

    category: str
    kind: ClassVar[Kind] = "misbehaviour"
    labels: ClassVar[Mapping[str, str]] = {"yes": "", "no": ""}
    uses_model: ClassVar[bool] = False
    reads_trajectories: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """Return the category and `@rule`, so that its verdicts are told from those of the prompted judge."""
        return f"{self.category}{RULE}"

    def settings(self) -> dict[str, Any]:
        """Return the digest of the rules' sources."""
        return {"judge": self.name, "judge_digest": digest_of_rules()}

    def skip_reason(self, item: Item) -> str:
        """Return a rule judges runs."""
        return item.unaskable or ("" if item.trajectory is not None else "it has no run for a rule to judge")

    def fitted(self, question: Question, folder: Path) -> "RuleJudge":
        """Return the judge as it is."""
        check_fit(self, question, folder)
        return self

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:  # noqa: ARG002 (asks nobody)
        """Return the verdict of the rule on the run; nobody is asked."""
        if trajectory is None:
            message = f"item {item.id!r} has no run"
            raise InputError(message, "A rule judges runs only; choose a judge with a prompt.", field="trajectory")
        (verdict,) = classify_all(trajectory, [self.category])
        return replace(verdict, item=item.id, judge=self.name)


def rule_judges() -> tuple[str, ...]:
    """Return the names of the rule judges."""
    return tuple(f"{category}{RULE}" for category in categories())


def digest_of_rules(*modules: str) -> str:
    """Return the digest of the sources of the rules, and of further modules."""
    return digest_of_sources("misstep.harness.classifiers", "misstep.harness.trajectory", *modules)


NAME = f"recovery{RULE}"
RECOVERED, NOT_RECOVERED = "recovered", "not_recovered"
_FEWEST_STEPS = 2
"""Steps of the agent after the intervention that a verdict needs at least."""

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
    """The rule as a judge of items of the kind `recovery`; it asks no model.

    `extra` of an item has `categories`, and `evidence`, the steps that showed them. Without them, the rules are asked.
    """

    kind: ClassVar[Kind] = "recovery"
    labels: ClassVar[Mapping[str, str]] = {RECOVERED: "", NOT_RECOVERED: ""}
    uses_model: ClassVar[bool] = False
    reads_trajectories: ClassVar[bool] = True
    name: ClassVar[str] = NAME

    def settings(self) -> dict[str, Any]:
        """Return the digest of the rules' sources."""
        return {"judge": self.name, "judge_digest": digest_of_rules("misstep.harness.runs.judging.recovery_rule")}

    def skip_reason(self, item: Item) -> str:
        """Return a rule judges runs with an intervention."""
        known = item.trajectory is not None and item.step is not None
        return item.unaskable or ("" if known else "it has no run with an intervention to judge")

    def fitted(self, question: Question, folder: Any) -> "RecoveryRule":
        """Return the judge as it is."""
        check_fit(self, question, folder)
        return self

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
    later_steps = tuple(takewhile(lambda one: one.role != "user", run.steps[step + 1 : step + 1 + STEPS_AFTER]))
    until = replace(run, steps=(*run.steps[: step + 1], *later_steps))
    acts = History(until).acts
    first = next((place for place, act in enumerate(acts) if act.step > step), len(acts))
    earlier, later = acts[:first], acts[first:]
    if len({act.step for act in later}) < _FEWEST_STEPS:
        return _Outcome(False, (), "The steps after the intervention are too few to tell.")
    shown = [act for act in earlier if act.step in set(evidence)]
    for category in categories:
        back = _comes_back(category, shown, later, until, step)
        if back:
            steps = tuple(sorted({act.step for act in back}))
            return _Outcome(False, steps, f"The misbehaviour {category} comes back ({counted(steps)}).")
    spelling = Spelling(acts)
    known = {call_key(act, spelling) for act in earlier}
    new = [act for act in later if act.kind != "finish" and call_key(act, spelling) not in known and not failed(act)]
    if not new:
        return _Outcome(False, (), "No new call works after the intervention.")
    steps = tuple(sorted({act.step for act in new}))
    return _Outcome(True, steps, f"The misbehaviour does not come back, and new calls work ({counted(steps)}).")


def _comes_back(category: str, shown: Sequence[Act], later: Sequence[Act], until: Trajectory, step: int) -> list[Act]:
    if category == "infinite_loop":
        spelling = Spelling([*shown, *later])
        calls = {call_key(act, spelling) for act in shown}
        return [act for act in later if call_key(act, spelling) in calls]
    if category == "tool_call_failure":
        wrong = [act for act in later if own_failure(act) is not None]
        tools = {bare_name(act.call.name) for act in shown}
        again = [act for act in wrong if bare_name(act.call.name) in tools]
        return again or (wrong if len(wrong) >= _FAILURES else [])
    # All steps keep their numbers.
    without = (Step("system") if one.role == "agent" and at < step else one for at, one in enumerate(until.steps))
    alone = replace(until, steps=tuple(without))
    steps = {at for one in classify_all(alone, (category,)) if one.label == "yes" for at in one.steps}
    return [act for act in later if act.step in steps and not any(_takes_back(act, earlier) for earlier in shown)]


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
