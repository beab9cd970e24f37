"""What a rule finds in a case: a label with its certainty, its reason and its evidence."""

from msgspec import Struct

from misstep.harness.records.attribution import Evidence, Fault


class Attribution(Struct, frozen=True):
    """Whose fault a run is, as a rule found it; a judge makes a `TriageVerdict` of it.

    - `subcategory`: The subcategory of the label; empty where the taxonomy names none for such a run.
    - `score`: How certain it is, from 0 to 1; `None` where a rule has no sense of it.
    - `evidence`: What it rests on, the strongest first.
    - `steps`: The steps of the run that are evidence, counted from 0.
    """

    label: Fault
    subcategory: str
    score: float | None
    rationale: str
    evidence: tuple[Evidence, ...] = ()
    steps: tuple[int, ...] = ()
