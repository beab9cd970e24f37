"""What a rule says in the end: an attribution with its evidence, or that the evidence does not decide."""

from collections.abc import Sequence

from msgspec import Struct

from misstep_harness.fault_mappings import Fault
from misstep_harness.triage.records import Evidence
from misstep_harness.triage.rules.events import Event


class Attribution(Struct, frozen=True):
    """Whose fault a run is, as a rule found it; a judge makes a `TriageVerdict` of it.

    - `score`: How certain it is, from 0 to 1; `None` where a rule has no sense of it.
    """

    label: Fault
    subcategory: str
    score: float | None
    rationale: str
    evidence: tuple[Evidence, ...] = ()
    steps: tuple[int, ...] = ()


_MOST_EVIDENCE = 12


class Undecided(Struct, frozen=True):
    """Why a rule abstains, and what it found."""

    rationale: str
    evidence: tuple[Evidence, ...] = ()


def attributed(
    label: Fault, subcategory: str, rationale: str, evidence: Sequence[Evidence] = (), steps: Sequence[int] = ()
) -> Attribution:
    """Return an attribution of a rule; how certain a rule is has not been measured, so that it has no score."""
    return Attribution(label, subcategory, None, rationale, tuple(evidence)[:_MOST_EVIDENCE], tuple(steps))


def infrastructure(
    event: Event | None, rationale: str, evidence: Sequence[Evidence], steps: Sequence[int] = ()
) -> Attribution:
    """A fault of the infrastructure, of the kind that the harness's log tells; without an event there, its script's."""
    first = [event.evidence] if event is not None else []
    return attributed(
        "infrastructure", event.subcategory if event else "harness_bug", rationale, [*first, *evidence], steps
    )
