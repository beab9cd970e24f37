"""The kind of evidence: a field of every benchmark, case and session, written where it is made.

What says nothing is `real`: somebody's own data. Nothing infers the kind from names, raters or folders.
"""

from collections.abc import Iterable
from typing import Literal

Evidence = Literal["generated", "real"]


def together(each: Iterable[Evidence]) -> Evidence:
    """Return the evidence of a figure over all of these: generated as soon as one of them is."""
    return "generated" if "generated" in set(each) else "real"


def noted(evidence: Evidence) -> dict[str, str]:
    """Return the field as tables have it: what is real says nothing."""
    return {"evidence": evidence} if evidence == "generated" else {}
