"""Stars beside a figure, held against its p-value by the paper's own legend ("** p < 0.01, * p < 0.05")."""

from collections.abc import Mapping
from fractions import Fraction

from misstep.analysis.audit.checked import Checked, underdetermined
from misstep.analysis.audit.rounding_boxes import limit, printed_value, rounding_box
from misstep.analysis.published import Figure

_WORDS = ("no star", "one star", "two stars", "three stars", "four stars")
_JUST_BELOW = Fraction(999_999, 1_000_000)
LEGEND = ("one", "two", "three", "four")
"""The inputs that name a level: one star, two stars and so on."""


def check_stars(figure: Figure, p_value: Figure | None, levels: Mapping[str, Figure]) -> Checked:
    """Return whether a figure carries the stars that its p-value earns."""
    legend = {stars: printed_value(levels[name]) for stars, name in enumerate(LEGEND, 1) if name in levels}
    if p_value is None or not legend:
        return underdetermined("stars", "Its p-value, or what the stars mean, is not printed.")
    printed, box = figure.printed.count("*"), rounding_box(p_value)
    least, most = box.low, box.high
    if limit(p_value) == "below":
        least, most = Fraction(0), printed_value(p_value) * _JUST_BELOW
    elif limit(p_value) == "above":
        least, most = printed_value(p_value), Fraction(1)
    earned = {_earned(p, legend) for p in (least, printed_value(p_value), most)}
    fewest, greatest = min(earned), max(earned)
    told = _WORDS[greatest] if fewest == greatest else f"{_WORDS[fewest]} to {_WORDS[greatest]}"
    sentence = f"p {'' if limit(p_value) else '= '}{p_value.printed} earns {told} by the paper's legend"
    if fewest <= printed <= greatest:
        return Checked("stars", "reproduced", f"{sentence}, as printed.")
    return Checked("stars", "differs", f"{sentence}; {figure.printed} has {_words(printed)}.")


def _earned(p_value: Fraction, legend: Mapping[int, Fraction]) -> int:
    return max((stars for stars, level in legend.items() if p_value < level), default=0)


def _words(stars: int) -> str:
    return _WORDS[stars] if stars < len(_WORDS) else f"{stars} stars"
