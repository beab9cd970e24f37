"""The rule judges of triage cases and the baseline, as methods that are handed their access.

The baseline looks a cause up in a table of exceptions' names and phrases of logs. Without a match the run is the
agent's fault, as in harnesses that do so.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from misstep_harness.benchmarks.folders import digest_of_sources
from misstep_harness.fault_mappings import Fault
from misstep_harness.protocols import Ask
from misstep_harness.triage.protocols import TextAccess
from misstep_harness.triage.records import Access, Evidence, EvidenceKind, TriageVerdict
from misstep_harness.triage.rules import judging
from misstep_harness.triage.rules.verdicts import Attribution, Undecided
from misstep_harness.triage.texts import recorded_outcome

_LAST_STEPS = 3


class _Row(Struct, frozen=True, forbid_unknown_fields=True):
    label: Fault
    subcategory: str
    phrases: tuple[str, ...]


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    default: Fault
    default_subcategory: str
    row: tuple[_Row, ...]


@cache
def table() -> _Table:
    """Return the table."""
    return msgspec.toml.decode((Path(__file__).parent / "phrases.toml").read_bytes(), type=_Table)


def look_up(access: TextAccess) -> Attribution:
    """Return the cause that the table names for a run; one that passed is a pass."""
    if recorded_outcome(access) == "passed":
        return Attribution("pass", "", None, "The run is recorded as passed.")
    texts: list[tuple[EvidenceKind, str, str]] = [
        ("log", f"logs/{name}", text.lower()) for name, text in access.logs.items()
    ]
    steps = list(enumerate(access.trajectory.steps if access.trajectory is not None else ()))[-_LAST_STEPS:]
    texts += [("step", str(number), result.text.lower()) for number, step in steps for result in step.results]
    for row, phrase in ((one, phrase) for one in table().row for phrase in one.phrases):
        for kind, where, text in texts:
            if phrase in text:
                at = text.find(phrase)
                line = text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0].strip()[:300]
                evidence = (Evidence(kind, where, line),)
                return Attribution(row.label, row.subcategory, None, f"The table has {phrase!r}.", evidence)
    rationale = "No phrase of the table occurs; its default is the agent's fault."
    return Attribution(table().default, table().default_subcategory, None, rationale)


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
PHRASES = RuleMethod("triage@phrases", "text", look_up)
