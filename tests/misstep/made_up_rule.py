"""A made-up rule that judges triage cases by one word of their logs, for tests of what surrounds rules."""

from typing import Any

from msgspec import Struct

from misstep_harness.triage.records import Access, Evidence, TriageVerdict


class ByOneWord(Struct, frozen=True):
    """It blames the infrastructure where a log says `disk`, abstains without logs, and else blames the agent."""

    access: Access = "text"
    uses_model: bool = False

    @property
    def name(self) -> str:
        return f"triage@rules-{self.access}"

    def settings(self) -> dict[str, Any]:
        return {}

    async def judge(self, access: Any, ask: Any) -> TriageVerdict:  # noqa: ARG002
        if "break" in access.instruction:
            raise ValueError("this rule breaks")
        if not access.logs:
            return TriageVerdict("", "", None, "abstained", rationale="there are no logs")
        name, text = next(iter(access.logs.items()))
        label, subcategory = ("infrastructure", "sandbox_crash") if "disk" in text else ("agent", "logical_failure")
        evidence = (Evidence("log", f"logs/{name}:1", text),)
        return TriageVerdict("", "", label, score=0.75, subcategory=subcategory, evidence=evidence)


TEXT = ByOneWord()
READ_ONLY = ByOneWord("read-only")
SANDBOX = ByOneWord("sandbox")
