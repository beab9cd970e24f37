"""The one place that computes a printed figure again from the figures that it depends on.

A figure `differs` only if no values inside the rounding of its inputs give the printed digits, and is `impossible` if
no whole counts do.
"""

from collections.abc import Sequence

from msgspec import structs

from misstep_analysis.audit.agreement import Pairs, check_rater_agreement
from misstep_analysis.audit.arithmetic import (
    check_difference,
    check_relative_change,
    check_same,
    check_share_of,
    check_sum,
)
from misstep_analysis.audit.checked import Checked, opened, underdetermined
from misstep_analysis.audit.contradictions import contradiction
from misstep_analysis.audit.judges import check_precision_recall
from misstep_analysis.audit.kappa import Raters, check_kappa, rows_by_label
from misstep_analysis.audit.p_values import check_stars, check_two_proportion_p
from misstep_analysis.audit.paired import with_agreements
from misstep_analysis.audit.shares import check_mean, check_percentage, check_share_beside
from misstep_analysis.published import Check, Derivation, Figure, Paper
from misstep_analysis.tables import FAILED, WORST_FIRST

Ways = tuple[Derivation, ...]
Result = tuple[Figure, Derivation, Checked]

_MAY_BE_WORDS: frozenset[Check] = frozenset({"same", "stars"})


def check_figure(paper: Paper, figure: Figure, derivation: Derivation) -> Checked:
    """Compute a printed figure again in one of the ways that its file names.

    A result on a number that nobody printed, and that does not follow from printed ones, contradicts nothing.
    """
    checked = _checked(paper, figure, derivation)
    values = [value for key, value in derivation.inputs.items() if key != "matrix"]
    names = [name for value in values for name in ((value,) if isinstance(value, str) else value)]
    assumed = [one.printed for one in map(paper.__getitem__, names) if one.is_worked_out and not one.derivations]
    if checked.status not in FAILED or not assumed:
        return checked
    sentence = f"{checked.sentence} This contradicts nothing that is printed: {assumed[0]} is not."
    return structs.replace(checked, status="underdetermined", sentence=sentence, suggestion="", repair="")


def _checked(paper: Paper, figure: Figure, derivation: Derivation) -> Checked:
    one = {key: paper[name] for key, name in derivation.inputs.items() if isinstance(name, str) and key != "matrix"}
    get = one.get
    numbers = [*([] if derivation.check in _MAY_BE_WORDS else [figure]), *one.values()]
    in_words = [number.printed for number in numbers if number.unit == "text"]
    if in_words and derivation.check != "same":
        return underdetermined(derivation.check, opened(f"{in_words[0]} is printed in words."))
    lists = {
        key: [paper[one] for one in names] for key, names in derivation.inputs.items() if not isinstance(names, str)
    }
    matrix = next((one for one in paper.matrix if one.id == derivation.inputs.get("matrix")), None)
    cells = [[paper[name] for name in row] for row in matrix.cells] if matrix is not None else []
    if why := contradiction(derivation.check, one, lists, cells):
        return Checked(derivation.check, "impossible", why)
    match derivation.check:
        case "percentage" if "beside" in derivation.inputs:
            return check_share_beside(figure, lists["beside"], get("most"))
        case "percentage":
            return check_percentage(figure, get("count"), get("n"), get("repeats"))
        case "mean":
            return check_mean(figure, get("n"), get("step"), get("repeats"))
        case "sum":
            return check_sum(figure, lists.get("parts", ()))
        case "difference":
            return check_difference(figure, get("a"), get("b"))
        case "relative_change":
            return check_relative_change(figure, get("from"), get("to"))
        case "same":
            return check_same(figure, get("other"))
        case "share_of":
            return check_share_of(figure, get("part"), get("whole"))
        case "precision_recall":
            return check_precision_recall(figure, one)
        case "kappa":
            raters = Raters(get("n"), get("agreement"), get("labels"), tuple(lists.get("margins", ())))
            if matrix is None:
                return check_kappa(figure, raters)
            return check_kappa(figure, raters, cells, rows_by_label(matrix.rows, matrix.columns))
        case "rater_agreement":
            return check_rater_agreement(figure, Pairs(get("n"), tuple(lists.get("agreements", ()))))
        case "two_proportion_p":
            counts, sizes, shares = ((get(f"{key}1"), get(f"{key}2")) for key in ("x", "n", "share"))
            return check_two_proportion_p(figure, counts, sizes, shares)
        case "stars":
            return check_stars(figure, get("p"), one)


def check_all(paper: Paper) -> list[tuple[Figure, Checked]]:
    """Check every figure of a paper in every way that its file names, in the file's order."""
    return [(figure, checked) for figure, _, checked in check_each_way(paper)]


def check_each_way(paper: Paper) -> list[tuple[Figure, Ways, Checked]]:
    """Return `check_all` with the way of each result, or the ways that are readings of one figure."""
    paper = with_agreements(paper)
    results = [
        (figure, derivation, check_figure(paper, figure, derivation))
        for figure in paper.figure
        for derivation in figure.derivations
    ]
    by_figure: dict[str, list[Result]] = {}
    for result in results:
        by_figure.setdefault(result[0].id, []).append(result)
    return [
        (of_figure[0][0], ways, checked) for of_figure in by_figure.values() for ways, checked in _judged(of_figure)
    ]


def check_ways(paper: Paper, figure: Figure) -> list[Checked]:
    """Check one figure in every way that its file names."""
    results = [(figure, way, check_figure(paper, figure, way)) for way in figure.derivations]
    return [checked for _, checked in _judged(results)]


def _judged(results: Sequence[Result]) -> list[tuple[Ways, Checked]]:
    """Return the results of all ways; readings of one figure count as one, the best, since the paper means one."""
    readings = [(way, checked) for _, way, checked in results if way.reading]
    alone: list[tuple[Ways, Checked]] = [((way,), checked) for _, way, checked in results if not way.reading]
    if not readings:
        return alone
    way, best = max(readings, key=lambda reading: WORST_FIRST.index(reading[1].status))
    sentences = [f"Read as {way.reading}: {best.sentence}"]
    if best.status in FAILED:
        sentences += [f"Read as {other.reading}: {checked.sentence}" for other, checked in readings if other != way]
    return [(tuple(one for one, _ in readings), structs.replace(best, sentence=" ".join(sentences))), *alone]
