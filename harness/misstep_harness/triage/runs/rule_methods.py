"""The rule judges of triage cases and the baseline, as methods that are handed their access."""

from collections.abc import Callable
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import asdict

from misstep_harness.benchmarks.inputs import digest_of_sources
from misstep_harness.protocols import Ask
from misstep_harness.triage import phrases
from misstep_harness.triage.records.attribution import Access, TriageVerdict
from misstep_harness.triage.rules import judging
from misstep_harness.triage.rules.verdicts import Attribution, Undecided

_SOURCES = (
    "misstep_harness.triage", "misstep_harness.triage.rules", "misstep_harness.triage.passes",
    "misstep_harness.classifiers", "misstep_harness.workspace",
    "misstep_harness.triage.records", "misstep_harness.trajectory",
)  # fmt: skip
"""On what a verdict of a rule depends besides the case."""


class RuleMethod(Struct, frozen=True):
    """A rule that attributes a run from what its access allows; it asks no model."""

    name: str
    access: Access
    decide: Callable[[Any], Attribution | Undecided]
    uses_model: ClassVar[bool] = False

    def settings(self) -> dict[str, Any]:
        """Return the digest of the rules' sources."""
        return {"judge_digest": digest_of_sources(*_SOURCES)}

    async def judge(self, access: Any, ask: Ask) -> TriageVerdict:  # noqa: ARG002 (asks nobody)
        """Return what the rule finds; it abstains where the evidence does not decide."""
        result = self.decide(access)
        if isinstance(result, Undecided):
            return TriageVerdict(access.case.id, self.name, None, "abstained", **asdict(result))
        return TriageVerdict(access.case.id, self.name, **asdict(result))


TEXT = RuleMethod("triage@rules-text", "text", judging.by_texts)
READ_ONLY = RuleMethod("triage@rules-read-only", "read-only", judging.by_files)
SANDBOX = RuleMethod("triage@rules-sandbox", "sandbox", judging.by_running)
PHRASES = RuleMethod("triage@phrases", "text", phrases.look_up)
