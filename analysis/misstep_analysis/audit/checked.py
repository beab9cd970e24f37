"""The judgement on one printed figure: its status, its computed value, and one sentence of arithmetic."""

from fractions import Fraction
from typing import Literal

from msgspec import Struct

from misstep_analysis.audit.rounding_boxes import Box, fits, is_cut_off, number, point
from misstep_analysis.published import Check, Figure
from misstep_analysis.tables import Status

Repair = Literal["", "cut_off", "rows_swapped", "columns_swapped"]
"""Kind of a suggestion, if something else depends on it."""

CUT_OFF = "the further digits are cut off instead of rounded"


class Checked(Struct, frozen=True):
    """The result of computing a figure again.

    `value` is at the printed inputs, `low` and `high` are the ends that their rounding leaves open (`None` if they are
    exact or nothing can be computed); `sentence` is the arithmetic; `suggestion` a small repair that would make
    the figures fit, and `repair` its kind. `wanting` names the missing figure in the same words for all that want it.
    """

    check: Check
    status: Status
    sentence: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    suggestion: str = ""
    repair: Repair = ""
    wanting: str = ""

    @property
    def explanation(self) -> str:
        """Return the sentence, and the suggestion marked as one."""
        return f"{self.sentence} Suggestion: {self.suggestion}." if self.suggestion else self.sentence


def underdetermined(check: Check, reason: str, wanting: str = "") -> Checked:
    """Return a figure whose inputs do not say enough; `wanting` is given if the reason differs by figure."""
    return Checked(check, "underdetermined", reason, wanting=wanting)


def compared(check: Check, figure: Figure, working: str, computed: Box, at_printed: Box | None = None) -> Checked:
    """Compare a figure with the values that its inputs allow."""
    value = (at_printed or point(computed.middle)).low
    fit = fits(figure, computed)
    cut_off = not fit and is_cut_off(figure, computed)
    return Checked(
        check,
        "reproduced" if fit else "differs",
        opened(_sentence(figure, working, computed, value, fit)),
        float(value),
        None if computed.exact else float(computed.low),
        None if computed.exact else float(computed.high),
        CUT_OFF if cut_off else "",
        "cut_off" if cut_off else "",
    )


def first_of(*repairs: str, most: int = 2) -> str:
    """Join the first repairs that are not empty."""
    return ", or ".join([repair for repair in repairs if repair][:most])


def opened(sentence: str) -> str:
    """Return a sentence with a capital if it opens with a word; a sign or a name, as p or pass@10, stays as it is."""
    word = sentence.partition(" ")[0]
    return f"{sentence[0].upper()}{sentence[1:]}" if len(word) > 1 and word.isalpha() else sentence


def _sentence(figure: Figure, working: str, computed: Box, value: Fraction, fit: bool) -> str:
    exactly = f"{working} is {number(value, figure)}"
    rounding = (
        ""
        if computed.exact
        else f" (from {number(computed.low, figure)} to {number(computed.high, figure)} by the rounding of the inputs)"
    )
    if not fit:
        return f"{exactly}{rounding}, not {figure.printed}."
    how = "printed as" if fits(figure, point(value)) else "which the rounding of the inputs lets print as"
    return f"{exactly}{rounding}, {how} {figure.printed}."
