"""The baseline that everybody uses: a table from an exception's name or a phrase of a log to a cause.

The logs are read first, then the answers to the agent's last calls; the first row of `phrases.toml` with a phrase that
occurs decides. Where none occurs, the run counts as the agent's fault, as in harnesses that do it so; the rationale
says that it is this default.
"""

from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from misstep.harness.records.attribution import Evidence, Fault
from misstep.harness.triage.attributed import Attribution
from misstep.harness.triage.protocols import TextAccess
from misstep.harness.triage.texts import recorded_outcome

_LAST_STEPS = 3


class _Row(Struct, frozen=True, forbid_unknown_fields=True):
    """Phrases in small letters, and the cause that they stand for."""

    label: Fault
    subcategory: str
    phrases: tuple[str, ...]


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """`phrases.toml`."""

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
    texts = [(f"logs/{name}", text.lower()) for name, text in access.logs.items()]
    steps = access.trajectory.steps[-_LAST_STEPS:] if access.trajectory is not None else ()
    first = len(access.trajectory.steps) - len(steps) if access.trajectory is not None else 0
    for number, step in enumerate(steps, start=first):
        texts += [(str(number), result.text.lower()) for result in step.results]
    for row in table().row:
        for phrase in row.phrases:
            for where, text in texts:
                at = text.find(phrase)
                if at >= 0:
                    line = text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0].strip()[:300]
                    evidence = (Evidence("log" if where.startswith("logs/") else "step", where, line),)
                    return Attribution(row.label, row.subcategory, None, f"The table has {phrase!r}.", evidence)
    default = table()
    rationale = "No phrase of the table occurs; its default is the agent's fault."
    return Attribution(default.default, default.default_subcategory, None, rationale)
