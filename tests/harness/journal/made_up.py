"""A made-up manifest."""

from misstep_harness.journal.records import SCHEMA, Inputs, Manifest


def manifest(**changes: object) -> Manifest:
    """The manifest of a run of `classify`, but for some fields."""
    values = {"schema": SCHEMA, "command": "classify", "arguments": ["ü \\ \x7f", "--out"], "misstep": "1"}
    more = {"python": "3", "started": "then", "settings": {"categories": ["a", "b"]}, "inputs": Inputs(1, 2, "ff")}
    return Manifest(**(values | more | changes))  # type: ignore[arg-type]
