"""The rules of the categories as judges: `infinite_loop@rule`; none asks a model."""

from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.benchmarks.inputs import digest_of_sources
from misstep_harness.classifiers import categories, classify_all
from misstep_harness.errors import InputError, UsageError
from misstep_harness.intervention import RECOVERY_RULE
from misstep_harness.items import Item
from misstep_harness.judges.runnable import RunnableJudge
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict

RULE = "@rule"


class RuleJudge(Struct, frozen=True):
    """The rule of one category; its name tells its verdicts from those of the prompted judge."""

    category: str
    labels: ClassVar[tuple[str, ...]] = ("yes", "no")

    @property
    def name(self) -> str:
        """Return the category and `@rule`."""
        return f"{self.category}{RULE}"

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:  # noqa: ARG002 (asks nobody)
        """Return the verdict of the rule on the run."""
        if trajectory is None:
            message = f"item {item.id!r} has no run"
            raise InputError(message, "A rule judges runs only; choose a judge with a prompt.", field="trajectory")
        (verdict,) = classify_all(trajectory, [self.category])
        return replace(verdict, item=item.id, judge=self.name)


def judge_names() -> tuple[str, ...]:
    """Return the names of the rules."""
    return (*(f"{category}{RULE}" for category in categories()), RECOVERY_RULE)


def judge_named(named: str, model: str = "") -> RunnableJudge:  # noqa: ARG001 (asks nobody)
    """Return the rule of a name."""
    if named not in judge_names():
        raise UsageError(f"unknown judge {named!r}", f"Rules are {', '.join(judge_names())}.")
    if named == RECOVERY_RULE:
        from misstep_harness.runs.judging.recovery_rule import recovery_judge

        return recovery_judge(digest_of_rules(recovery_judge.__module__))
    category = named.removesuffix(RULE)
    settings = {"judge": named, "judge_digest": digest_of_rules()}
    return RunnableJudge(
        RuleJudge(category),
        settings,
        kind="misbehaviour",
        asks_model=False,
        category=category,
        skip_reason=_without_run,
    )


def _without_run(item: Item) -> str:
    return item.unaskable or ("" if item.trajectory is not None else "it has no run for a rule to judge")


def digest_of_rules(*modules: str) -> str:
    """Return the digest of the sources of the rules, and of further modules."""
    return digest_of_sources("misstep_harness.classifiers", "misstep_harness.trajectory", *modules)
