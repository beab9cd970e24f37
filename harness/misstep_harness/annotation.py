"""What a rater says of a case in an annotation study: a line of the study's `answers.jsonl`, never changed.

A study has three phases (AutoTriage, section 4.1). All raters label the same few cases and then see each other's
labels (`calibration`); each labels the others blind (`independent`); and cases in dispute are looked at together
(`reconciliation`). A rater who changes an answer adds one.
"""

from typing import Literal, get_args

from msgspec import Struct

Phase = Literal["calibration", "independent", "reconciliation"]
PHASES: tuple[Phase, ...] = get_args(Phase)

Certainty = Literal["low", "medium", "high"]
CERTAINTIES: tuple[Certainty, ...] = get_args(Certainty)


class RaterAnswer(Struct, frozen=True, omit_defaults=True):
    """One answer of a rater.

    - `item`, `rater`, `phase`: What it is about, who gave it, and in which phase of the study.
    - `label`: The label; `None` where the rater cannot tell, which counts as a missing rating.
    - `subcategory`: The subcategory of the label; empty where none fits.
    - `certainty`: How certain the rater is of the label; empty without a label.
    - `note`: The rater's reason.
    - `steps`: Steps of the run that are evidence, counted from 0.
    - `revision`: How many answers of the rater to the item in this phase stood before.
    - `at`: When it was given, in ISO 8601.
    - `seconds`: How long the page of the case stood before the rater's eyes, where the page said so.
    """

    item: str
    rater: str
    phase: Phase
    label: str | None
    subcategory: str = ""
    certainty: Certainty | Literal[""] = ""
    note: str = ""
    steps: tuple[int, ...] = ()
    revision: int = 0
    at: str = ""
    seconds: int | None = None

    @property
    def content(self) -> tuple[object, ...]:
        """Return what it says, without when and how often it was said: two answers that say the same are one."""
        return self.label, self.subcategory, self.certainty, self.note, self.steps
