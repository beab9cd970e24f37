"""Look a cause up in a table of exceptions' names and phrases of logs, the baseline that everybody uses.

Without a phrase, the run counts as the agent's fault, as in harnesses that do it so.
"""

from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from misstep_harness.fault_mappings import Fault
from misstep_harness.triage.protocols import TextAccess
from misstep_harness.triage.records import Evidence, EvidenceKind
from misstep_harness.triage.rules.verdicts import Attribution
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
