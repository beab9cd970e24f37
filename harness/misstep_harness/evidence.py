"""Name the kind of evidence, written where data are made and inferred from nothing; what says nothing is `real`."""

from collections.abc import Iterable
from typing import Literal

Evidence = Literal["generated", "real"]


def together(each: Iterable[Evidence]) -> Evidence:
    """Return the evidence of a figure over all of these: generated as soon as one of them is."""
    return "generated" if "generated" in set(each) else "real"


def noted(evidence: Evidence) -> dict[str, str]:
    """Return the field as tables have it; a table without it, as people write them, is of what is real."""
    return {"evidence": evidence}
