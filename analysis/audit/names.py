"""What a number is called in two places: one number cannot be a mean and a median, nor a share of two unlike things."""

from misstep.analysis.published import Figure

_MEANS = ("average", "avg", "avg.")
_MEDIANS = ("med", "med.")
_SAY_NOTHING = frozenset({"a", "an", "the", "all", "of", "with", "in", "for", "that", "which", "total", "number"})
_LONG_ENOUGH_FOR_A_PLURAL = 4


def unlike_names(figure: Figure, other: Figure) -> str:
    """What two places call one number, in words, where these are unlike; empty where they agree or one says nothing.

    A statistic that is named in less detail ("kappa" beside "Fleiss' kappa") is not another one; what a share is of is.
    """
    statistic, others = _words(figure.statistic), _words(other.statistic)
    if statistic and others and not (statistic <= others or others <= statistic):
        return f"is called {figure.statistic} here and {other.statistic} in {other.place}"
    if figure.of and other.of and _words(figure.of) != _words(other.of):
        return f"is a share of {figure.of} here and of {other.of} in {other.place}"
    return ""


def _words(name: str) -> frozenset[str]:
    words = (word.strip(",;:()") for word in name.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())
    return frozenset(_one_form(word) for word in words if word and word not in _SAY_NOTHING)


def _one_form(word: str) -> str:
    """Return a word as it is compared: its usual short forms written out, without the s of a plural."""
    if word in _MEANS or word in _MEDIANS:
        return "mean" if word in _MEANS else "median"
    plural = len(word) >= _LONG_ENOUGH_FOR_A_PLURAL and word.endswith("s") and not word.endswith(("ss", "'s"))
    return word[:-1] if plural else word
