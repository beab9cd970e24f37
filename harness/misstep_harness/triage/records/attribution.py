"""Whose fault a run is, and the evidence for it: what a triage judge answers (AutoTriage, section 3 and table 1).

A failed run is the fault of the task, of the agent or of the infrastructure. A run that passed is sound (`pass`), or
its reward is not earned. `data/codebooks/failure_attribution.toml` says in words what each label and subcategory
means, and what is to be done with such a run.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from misstep_harness.journal.records import VERDICTS, Records, read_records
from misstep_harness.places import data_folder
from misstep_harness.verdict import Verdict

Fault = Literal["task", "agent", "infrastructure", "pass"]
FAULTS: tuple[Fault, ...] = get_args(Fault)

Access = Literal["text", "read-only", "sandbox"]
"""A judge's material: texts alone; also the files of the run, the tests and the solution; also running them."""
ACCESSES: tuple[Access, ...] = get_args(Access)

Action = Literal["keep", "filter", "rerun", "repair_task"]
"""The use of a run in training data (table 1)."""

EvidenceKind = Literal["step", "log", "file", "command", "assertion", "difference", "record"]


class Evidence(Struct, frozen=True, omit_defaults=True):
    """One piece of evidence.

    - `kind`: What it is: a `step` of the run, a line of a `log`, a place in a `file`, a `command` that was run, an
      `assertion` of a test, a `difference` between two results, or what the `record` of the run says.
    - `where`: The place: a step's number, `path:line`, or the command as it was run.
    - `text`: The text there, or the output of the command, cut to a few lines.
    """

    kind: EvidenceKind
    where: str
    text: str


class TriageVerdict(Verdict, frozen=True, gc=False):
    """A verdict on a run: its label is one of `FAULTS`, or missing as in any verdict.

    - `subcategory`: The subcategory of the label, where the judge names one.
    - `evidence`: What the verdict rests on.
    - `access`: What the judge could use.

    Examples
    --------
        {"item": "case-7", "judge": "triage@rules", "label": "agent", "subcategory": "logical_failure", "evidence": []}
    """

    subcategory: str = ""
    evidence: tuple[Evidence, ...] = ()
    access: str = ""


class _Cell(Struct, frozen=True, forbid_unknown_fields=True):
    """The meaning of a label for runs that failed, or for those that passed, and the use of these runs."""

    meaning: str
    action: Action


class Subcategory(Struct, frozen=True, forbid_unknown_fields=True):
    """The meaning of a subcategory, and the runs among which it occurs."""

    meaning: str
    observed: Literal["failure", "success"]


class Category(Struct, frozen=True, forbid_unknown_fields=True):
    """One label of the taxonomy: its name in words, both cells of table 1, its subcategories."""

    name: str
    failure: _Cell | None = None
    success: _Cell | None = None
    subcategories: dict[str, Subcategory] = {}


def taxonomy() -> Mapping[Fault, Category]:
    """Return the code book: label → its meaning (table 1)."""
    return _read(data_folder() / "codebooks" / "failure_attribution.toml")


@cache
def _read(file: Path) -> Mapping[Fault, Category]:
    return MappingProxyType(msgspec.toml.decode(file.read_bytes(), type=dict[Fault, Category]))


_TRIAGE_RECORDS = Records(TriageVerdict, VERDICTS, "verdict")


def read_triage_verdicts(path: Path, *, unfinished: bool = False) -> Iterator[TriageVerdict]:
    """Return the verdicts of a judge of triage, with their evidence."""
    return read_records(path, _TRIAGE_RECORDS, unfinished=unfinished)
