"""Tell by rule whether an agent recovered after an intervention: `recovery@rule` on any benchmark of recoveries.

`harness.recovery` decides, by which steps after the intervention show the misbehaviour again (Wink, section 4.1):

- a loop, where one of its calls is made again with nothing changed since, or the rule of loops finds another one;
- failing tools, where one of the tools fails again by the agent's own error, or two other calls do;
- what was ruled out, where the rule of that category finds it in the steps after alone, but for a change taken back.

With too few steps to see, nobody can tell. Nor where the rules see no misbehaviour before the intervention, and the
item names no evidence of one.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.benchmarks.folders import digest_of_sources
from misstep_harness.classifiers import CLASSIFIERS, categories, classify_all
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
from misstep_harness.items import Item, Kind, Question
from misstep_harness.judges.fit import check_fit
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Step, Trajectory
from misstep_harness.verdict import Verdict

RULE = "@rule"


class RuleJudge(Struct, frozen=True):
    """The rule of one category; it asks no model."""

    category: str
    kind: ClassVar[Kind] = "misbehaviour"
    labels: ClassVar[Mapping[str, str]] = {"yes": "", "no": ""}
    uses_model: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """Return the category and `@rule`, so that its verdicts are told from those of the prompted judge."""
        return f"{self.category}{RULE}"

    def settings(self) -> dict[str, Any]:
        """Return the digest of the rules' sources."""
        return {"judge": self.name, "judge_digest": digest_of_rules()}

    def reads_run(self, item: Item) -> bool:  # noqa: ARG002
        """Return that it looks at runs."""
        return True

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
    return digest_of_sources("misstep_harness.classifiers", "misstep_harness.trajectory", *modules)


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
    name: ClassVar[str] = RECOVERY_RULE

    def settings(self) -> dict[str, Any]:
        """Return the digest of the rules' sources."""
        return {"judge": self.name, "judge_digest": digest_of_rules("misstep_harness.runs.judging.recovery_rule")}

    def reads_run(self, item: Item) -> bool:  # noqa: ARG002
        """Return that it looks at runs."""
        return True

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
