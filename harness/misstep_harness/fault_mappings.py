"""Whose fault a run is: the taxonomy of AutoTriage's table 1, and the labels of public sets that map to it.

A failed run is the fault of the task, of the agent or of the infrastructure. A run that passed is sound (`pass`), or
its reward is not earned. `data/codebooks/failure_attribution.toml` has each label's meaning and the use of such a run,
`data/fault_mappings.toml` the labels of public sets.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

import msgspec
from msgspec import Struct, field

from misstep_harness.errors import InputError
from misstep_harness.places import data_folder

Fault = Literal["task", "agent", "infrastructure", "pass"]
FAULTS: tuple[Fault, ...] = get_args(Fault)
AGENT: Fault = "agent"
TASK: Fault = "task"

Action = Literal["keep", "filter", "rerun", "repair_task"]
"""The use of a run in training data (table 1)."""

_FILE = Path("fault_mappings.toml")

LabelOf = Literal["run", "error", "task", "list", "requirement"]
"""What a set's label is a label of."""


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
    return _read_taxonomy(data_folder() / "codebooks" / "failure_attribution.toml")


@cache
def _read_taxonomy(file: Path) -> Mapping[Fault, Category]:
    return MappingProxyType(msgspec.toml.decode(file.read_bytes(), type=dict[Fault, Category]))


_NEXT_STEPS: Mapping[Action, str] = {
    "keep": "keep",
    "filter": "leave out",
    "rerun": "run again",
    "repair_task": "repair the task",
}


def next_step(label: str | None, subcategory: str = "") -> str:
    """Return what to do with a run of a label; the subcategory tells whether it failed or passed."""
    category = {str(name): known for name, known in taxonomy().items()}.get(label or "")
    if category is None:
        return "look at it"
    known = category.subcategories.get(subcategory)
    cell = category.success if known is not None and known.observed == "success" else None
    cell = cell or category.failure or category.success
    return _NEXT_STEPS[cell.action] if cell else "look at it"


class FaultMapping(Struct, frozen=True, forbid_unknown_fields=True):
    """Some labels of a public set, and the label of the taxonomy that they are taken for, if any.

    - `dataset`: The set.
    - `of`: What its labels are labels of.
    - `labels`: The set's own labels.
    - `reason`: Why the mapping holds, or why not, in a sentence.
    - `fault`, `subcategory`: What the labels are taken for; no `fault` where the mapping does not hold.
    """

    dataset: str = field(name="set")
    of: LabelOf
    labels: tuple[str, ...]
    reason: str
    fault: Fault | None = field(name="label", default=None)
    subcategory: str = ""

    @property
    def holds(self) -> bool:
        """Return whether the labels are taken for one of the taxonomy."""
        return self.fault is not None

    def __post_init__(self) -> None:
        if self.subcategory and (self.fault is None or self.subcategory not in taxonomy()[self.fault].subcategories):
            raise ValueError(f"{self.subcategory!r} is not a subcategory of {self.fault}")


@cache
def fault_mappings() -> tuple[FaultMapping, ...]:
    """Return every mapping, in the order of the file."""
    raw = msgspec.toml.decode((data_folder() / _FILE).read_bytes())
    return msgspec.convert(raw["mapping"], tuple[FaultMapping, ...])


def mapping_of(dataset: str, label: str) -> FaultMapping:
    """Return the mapping of a set's label."""
    for mapping in fault_mappings():
        if mapping.dataset == dataset and label in mapping.labels:
            return mapping
    raise InputError(f"nothing says whose fault the label {label!r} of {dataset} is", "Add it.", file=_FILE)


def mapped_fault(dataset: str, label: str) -> Fault | None:
    """Whose fault a label of a set says it is; `None` where the mapping does not hold, and for labels of nobody's."""
    return next((one.fault for one in fault_mappings() if one.dataset == dataset and label in one.labels), None)
