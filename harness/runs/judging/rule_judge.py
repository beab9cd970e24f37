"""A rule classifier as a judge: `infinite_loop@rule` on any benchmark of misbehaviour."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.classifiers import categories, classify_all
from misstep.harness.errors import InputError
from misstep.harness.items import Item, Kind, Question
from misstep.harness.judges.fit import check_fit
from misstep.harness.protocols import Ask
from misstep.harness.runs.judging.benchmarks import digest_of_sources
from misstep.harness.trajectory import Trajectory
from misstep.harness.verdict import Verdict

RULE = "@rule"
"""What stands behind the category in the name of a rule judge."""


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
        return item.unaskable or ("" if item.trajectory is not None else "there is no run for a rule to judge")

    def fitted(self, question: Question, folder: Path) -> "RuleJudge":
        """Return the judge as it is."""
        check_fit(self, question, folder)
        return self

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:  # noqa: ARG002 (asks nobody)
        """Return what the rule finds in the run; nobody is asked."""
        if trajectory is None:
            raise InputError(
                f"item {item.id!r} has no run",
                "A rule judges runs only; choose a judge with a prompt.",
                field="trajectory",
            )
        (found,) = classify_all(trajectory, [self.category])
        return replace(found, item=item.id, judge=self.name)


def rule_judges() -> tuple[str, ...]:
    """Return the names of the rule judges."""
    return tuple(f"{category}{RULE}" for category in categories())


def digest_of_rules(*modules: str) -> str:
    """Return the digest of the sources of the rules, and of further modules."""
    return digest_of_sources("misstep.harness.classifiers", "misstep.harness.trajectory", *modules)
