"""Which printed agreement belongs to a printed kappa, if a file has both and does not say so.

The names decide: without the words for the measure, those of the two are the same ("Judge A, kappa" and "Judge A,
raw agreement"). One kappa and one agreement alone of a number of items belong together.
"""

import re
from collections.abc import Sequence
from decimal import Decimal

from msgspec import Struct, structs

from misstep_analysis.published import Figure, Paper

_WORD = re.compile(r"[^\W_]+|%")
_AGREES = re.compile(r"agr(?:\b|ee)|\bacc(?:uracy)?\b|\bconcordan|\bp_?o\b", re.IGNORECASE)
_OF_THE_MEASURE = frozenset(
    _WORD.findall(
        "kappa kappas κ k cohen cohens s agreement agreements agr agree agreed agreeing accuracy acc concordance p o "
        "po raw observed percent percentage pct % share rate value coefficient with of and the between in vs versus by"
    )
)


class Named(Struct, frozen=True):
    """A figure by its name, with its number of items, if given."""

    name: str
    n: Decimal | None = None

    @property
    def _subject(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self.name.casefold())) - _OF_THE_MEASURE

    def agreement(self, shares: Sequence["Named"], kappas: Sequence["Named"]) -> int | None:
        """Return the place of this kappa's agreement among the shares of the file, or `None` if it is unknown."""
        of_n = [place for place, share in enumerate(shares) if self.n is None or self.n == share.n]
        agreements = [place for place in of_n if _AGREES.search(shares[place].name)]
        own = [place for place in agreements if shares[place]._subject == self._subject]
        if not own and self._subject:
            own = [place for place in of_n if shares[place]._subject == self._subject]
        alone = len([kappa for kappa in kappas if self.n is None or kappa.n == self.n]) == 1
        matches = own or (agreements if alone else [])
        return matches[0] if len(matches) == 1 else None


def with_agreements(paper: Paper) -> Paper:
    """Return the paper; a kappa whose file names no agreement and no matrix takes the agreement that belongs to it."""
    shares = [figure for figure in paper.figure if figure.check == "percentage" and "n" in figure.inputs]
    kappas = [figure for figure in paper.figure if figure.check == "kappa"]
    if not shares or all({"agreement", "matrix"} & figure.inputs.keys() for figure in kappas):
        return paper
    names = [[_named(paper, figure) for figure in figures] for figures in (shares, kappas)]
    figures = []
    for figure in paper.figure:
        place = None
        if figure.check == "kappa" and not {"agreement", "matrix"} & figure.inputs.keys():
            place = _named(paper, figure).agreement(*names)
        if place is not None:
            beside = {"n": shares[place].inputs["n"], "agreement": shares[place].id}
            figure = structs.replace(figure, inputs=beside | figure.inputs)
        figures.append(figure)
    return structs.replace(paper, figure=tuple(figures))


def _named(paper: Paper, figure: Figure) -> Named:
    n = figure.inputs.get("n")
    return Named(
        f"{figure.place} {figure.row} {figure.column}", Decimal(paper[n].digits) if isinstance(n, str) else None
    )
