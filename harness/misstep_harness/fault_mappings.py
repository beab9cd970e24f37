"""What labels of public sets say of whose fault something is: `data/fault_mappings.toml`, read."""

from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, field

from misstep_harness.errors import InputError
from misstep_harness.places import data_folder
from misstep_harness.triage.records.attribution import Fault, taxonomy

_FILE = Path("fault_mappings.toml")

LabelOf = Literal["run", "error", "task", "list", "requirement"]
"""What a set's label is a label of."""


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
