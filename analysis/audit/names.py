"""What a number is called in two places: one number cannot be a mean and a median, nor a share of two unlike things."""

from analysis.published import Figure

_MEANS = ("average", "avg", "avg.")
_MEDIANS = ("med", "med.")
_ARTICLES = frozenset({"a", "an", "the", "all"})


def unlike_names(figure: Figure, other: Figure) -> str:
    """What two places call one number, in words, where these are unlike; empty where they agree or one says nothing.

    A statistic that is named in less detail ("kappa" beside "Fleiss' kappa") is no other one; what a share is of is.
    """
    statistic, others = _words(figure.statistic), _words(other.statistic)
    if statistic and others and not (statistic <= others or others <= statistic):
        return f"is called {figure.statistic} here and {other.statistic} in {other.place}"
    if figure.of and other.of and _words(figure.of) != _words(other.of):
        return f"is a share of {figure.of} here and of {other.of} in {other.place}"
    return ""


def _words(name: str) -> frozenset[str]:
    words = (word.strip(",;:()") for word in name.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())
    return frozenset(
        "mean" if word in _MEANS else "median" if word in _MEDIANS else word
        for word in words
        if word and word not in _ARTICLES
    )
