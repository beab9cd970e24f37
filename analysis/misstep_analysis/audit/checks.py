"""Compute a printed figure again from the figures that it depends on, and judge it.

A figure `differs` only if no values inside the rounding of its inputs give the printed digits, and is `impossible` if
no whole counts do. A figure that fits one of two inputs that contradict each other is not reproduced.

Overall agreement and Fleiss' kappa of raters are checked against the figures of their pairs. The overall agreement is
the mean over the pairs. An item that one of three raters labels alone counts in two pairs of disagreements, one that
all label differently in three.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import comb, prod

from msgspec import Struct, structs

from misstep_analysis.audit.judge_tables import CELLS, NEEDS, SUMS, check_precision_recall, completed, quotient
from misstep_analysis.audit.kappa import Raters, check_kappa, rows_by_label
from misstep_analysis.audit.p_values import check_stars, check_two_proportion_p
from misstep_analysis.audit.paired import with_agreements
from misstep_analysis.audit.rounding_boxes import (
    Box,
    Checked,
    compared,
    first_of,
    fits,
    input_box,
    is_cut_off,
    is_exact_count,
    limit,
    opened,
    point,
    printed_value,
    rounding_box,
    same_quantity,
    underdetermined,
    whole_counts,
)
from misstep_analysis.audit.shares import check_mean, check_percentage, check_share_beside
from misstep_analysis.published import Check, Derivation, Figure, Paper
from misstep_analysis.stats.printed.audit import decimals, kappa_of
from misstep_analysis.stats.raters.rater_margins import Dissent, possible_dissents
from misstep_analysis.tables import FAILED, WORST_FIRST

_MOST_SHOWN = 12
_NO_NUMBER = "An input is printed in words or as a limit only."
_NO_INPUT = "Not every input is printed."
_NOTHING = "An input may be 0, and nothing can be divided by it."
_MEANS = ("average", "avg", "avg.")
_MEDIANS = ("med", "med.")
_SAY_NOTHING = frozenset({"a", "an", "the", "all", "of", "with", "in", "for", "that", "which", "total", "number"})
_LONG_ENOUGH_FOR_A_PLURAL = 4


def check_sum(figure: Figure, parts: Sequence[Figure]) -> Checked:
    """Check the figure as the sum of its parts."""
    boxes = [box for box in map(input_box, parts) if box is not None]
    if not parts or len(boxes) < len(parts):
        return underdetermined("sum", _NO_NUMBER if parts else _NO_INPUT)
    at_printed = point(sum((printed_value(part) for part in parts), Fraction(0)))
    working = " + ".join(part.printed for part in parts[:_MOST_SHOWN])
    working += f" + … ({len(parts):,} parts)" if len(parts) > _MOST_SHOWN else ""
    computed = sum(boxes, point(0))
    return compared("sum", figure, working, computed, at_printed)


def check_difference(figure: Figure, a: Figure | None, b: Figure | None) -> Checked:
    """Check the figure as a less b."""
    checked = _of_two("difference", figure, (a, b), "{} less {}", lambda first, second: first - second)
    first, second = _boxes(checked, a, b)
    if first is None or second is None:
        return checked
    apart = first - second
    relative = None if second.holds_zero else _change(second, first)
    repair = first_of(
        "with the opposite sign it would fit" if fits(figure, apart.reversed) else "",
        _if_fits(figure, relative, "it is the relative change, not the difference"),
    )
    return structs.replace(checked, suggestion=repair)


def check_share_of(figure: Figure, part: Figure | None, whole: Figure | None) -> Checked:
    """Check the figure as part / whole."""
    return _of_two("share_of", figure, (part, whole), "{} / {}", lambda first, second: first / second)


def check_relative_change(figure: Figure, start: Figure | None, end: Figure | None) -> Checked:
    """Check the figure as (end - start) / start."""
    checked = _of_two("relative_change", figure, (start, end), "The change from {} to {}", _change)
    first, last = _boxes(checked, start, end)
    if first is None or last is None:
        return checked
    change = _change(first, last)
    of_end = None if last.holds_zero else point(1) - first / last
    repair = first_of(
        _fewer_digits(figure, Fraction(checked.value or 0)),
        "with the opposite sign it would fit" if fits(figure, change.reversed) else "",
        _if_fits(figure, last - first, "it is the difference in points, not the relative change"),
        _if_fits(figure, of_end, "it is the change as a share of the second figure, not of the first"),
    )
    return structs.replace(checked, suggestion=repair)


def check_same(figure: Figure, other: Figure | None) -> Checked:
    """Check the figure against another print of it."""
    if other is None:
        return underdetermined("same", _NO_INPUT)
    if "text" in (figure.unit, other.unit):
        if figure.printed == other.printed:
            return Checked("same", "reproduced", f"{other.place} says {other.printed}, too.")
        return underdetermined("same", opened(f"{figure.printed} and, in {other.place}, {other.printed} are words."))
    value = float(printed_value(other))
    if same_quantity(figure, other):
        unlike = _unlike_names(figure, other)
        if unlike:
            return Checked("same", "differs", opened(f"{figure.printed} {unlike}."), value)
        sentence = opened(f"{figure.printed} here, {other.printed} in {other.place}.")
        return Checked("same", "reproduced", sentence, value)
    if limit(figure) is not None and limit(figure) == limit(other):
        return underdetermined(
            "same", opened(f"{figure.printed} and, in {other.place}, {other.printed} are both limits.")
        )
    sentence = opened(f"{figure.printed} here is not {other.printed}, printed for the same in {other.place}.")
    return Checked("same", "differs", sentence, value, suggestion=_one_cut_off(figure, other))


def _unlike_names(figure: Figure, other: Figure) -> str:
    """Return the different names of one number in two places; empty if they agree or one place has none.

    A statistic that is named in less detail ("kappa" beside "Fleiss' kappa") is the same one; another whole of a share
    is not.
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


def _one_cut_off(figure: Figure, other: Figure) -> str:
    if is_exact_count(figure) or is_exact_count(other) or decimals(figure.digits) == decimals(other.digits):
        return ""
    cut_off = is_cut_off(figure, rounding_box(other)) or is_cut_off(other, rounding_box(figure))
    return "one of the two is cut off, not rounded" if cut_off else ""


def _of_two(
    check: Check,
    figure: Figure,
    inputs: tuple[Figure | None, Figure | None],
    working: str,
    compute: Callable[[Box, Box], Box],
) -> Checked:
    first, second = inputs
    if first is None or second is None:
        return underdetermined(check, _NO_INPUT)
    one, other = input_box(first), input_box(second)
    if one is None or other is None:
        return underdetermined(check, _NO_NUMBER)
    divisor = {"share_of": other, "relative_change": one}.get(check)
    if divisor is not None and divisor.holds_zero:
        return underdetermined(check, _NOTHING)
    at_printed = compute(point(printed_value(first)), point(printed_value(second)))
    return compared(check, figure, working.format(first.printed, second.printed), compute(one, other), at_printed)


def _boxes(checked: Checked, *inputs: Figure | None) -> tuple[Box | None, ...]:
    is_open = checked.status == "differs" and not checked.suggestion
    return tuple(input_box(one) if one is not None and is_open else None for one in inputs)


def _if_fits(figure: Figure, computed: Box | None, repair: str) -> str:
    return repair if computed is not None and fits(figure, computed) else ""


def _change(start: Box, end: Box) -> Box:
    """Return the change as a share of its start; both ends share the one start."""
    return end / start - point(1)


def _fewer_digits(figure: Figure, value: Fraction) -> str:
    """Return that the figure fits if its last zeros carry no information."""
    zeros = len(figure.digits) - len(figure.digits.rstrip("0"))
    if "." in figure.digits or not zeros:
        return ""
    step = Fraction(10**zeros, 100 if figure.unit in ("share", "difference") else 1)
    near = abs(value - printed_value(figure)) <= step / 2
    return f"rounded to {10**zeros:,}s it would print as {figure.printed}" if near else ""


Inputs = Mapping[str, Figure]
Lists = Mapping[str, Sequence[Figure]]
LEVELS = ("one", "two", "three", "four")


def contradiction(check: str, inputs: Inputs, lists: Lists, matrix: Sequence[Sequence[Figure]]) -> str:
    """Return why some inputs cannot be together; empty where they can."""
    rules = {
        "two_proportion_p": _counts_and_shares(inputs),
        "stars": _legend(inputs),
        "kappa": _matrix(inputs, lists, matrix),
        "rater_agreement": _raters(inputs, lists),
        "precision_recall": _judge(inputs),
    }
    return next(rules.get(check, iter(())), "")


def _counts_and_shares(inputs: Inputs) -> Iterator[str]:
    for arm in ("1", "2"):
        count, size, share = (inputs.get(f"{key}{arm}") for key in ("x", "n", "share"))
        if count is None or size is None or share is None or not (is_exact_count(count) and is_exact_count(size)):
            continue
        if printed_value(size) > 0 and not fits(share, point(printed_value(count) / printed_value(size))):
            yield f"{count.printed} of {size.printed} is not {share.printed}."


def _legend(inputs: Inputs) -> Iterator[str]:
    named = [inputs[key] for key in ("p", *LEVELS) if key in inputs]
    for one in named:
        if one.unit != "text" and not 0 <= printed_value(one) <= 1:
            yield f"{one.printed} is not a probability."
    levels = [inputs[key] for key in LEVELS if key in inputs]
    for fewer, more in pairwise(levels):
        if printed_value(more) >= printed_value(fewer):
            yield f"More stars are for p below {more.printed}, which is not less than {fewer.printed}."


def _matrix(inputs: Inputs, lists: Lists, matrix: Sequence[Sequence[Figure]]) -> Iterator[str]:
    if not matrix or not all(is_exact_count(cell) for row in matrix for cell in row):
        return
    rows = [[int(printed_value(cell)) for cell in row] for row in matrix]
    sums = [list(map(sum, rows)), list(map(sum, zip(*rows, strict=False)))]
    margins = lists.get("margins", ())
    square = all(len(row) == len(rows) for row in rows)
    if square and margins and all(map(is_exact_count, margins)):
        given = sorted(int(printed_value(one)) for one in margins)
        if given not in [sorted(of) for of in sums]:
            yield f"The labels' counts {' '.join(one.printed for one in margins)} are not those of the matrix."
    labels = inputs.get("labels")
    if square and labels is not None and is_exact_count(labels):
        used = sum(any(of[place] for of in sums) for place in range(len(rows)))
        if used > printed_value(labels):
            yield f"The matrix uses {used} labels, more than {labels.printed}."


def _raters(inputs: Inputs, lists: Lists) -> Iterator[str]:
    for kappa in lists.get("kappas", ()):
        if kappa.unit != "text" and limit(kappa) is None and not -1 <= printed_value(kappa) <= 1:
            yield f"No kappa is {kappa.printed}."
    labels = inputs.get("labels")
    if labels is not None and is_exact_count(labels) and printed_value(labels) < 2:
        differing = [
            one.printed for one in lists.get("agreements", ()) if one.unit != "count" and printed_value(one) < 1
        ]
        if differing:
            yield f"Raters with {labels.printed} label agree on every item, not on {differing[0]}."


def _judge(inputs: Inputs) -> Iterator[str]:
    counted = {key: one for key, one in inputs.items() if key in (*CELLS, *SUMS)}
    if not all(map(is_exact_count, counted.values())):
        return
    counts = completed({key: int(printed_value(one)) for key, one in counted.items()})
    if min(counts.values(), default=0) < 0:
        cells = ", ".join(f"{key} = {one.printed}" for key, one in counted.items())
        yield f"No table has {cells}: a cell would be below 0."
        return
    for key, one in inputs.items():
        least = -1 if key == "kappa" else 0
        if key in counted or one.derivations or one.unit == "text" or limit(one) is not None:
            continue  # what is checked itself is told by its own check
        if not least <= printed_value(one) <= 1:
            yield f"No {key} is {one.printed}."
        elif key in NEEDS and counts.keys() >= NEEDS[key]:
            above, below, working = quotient(key, counts)
            if below and not fits(one, point(Fraction(above, below))):
                yield f"The {key} of these cells is {working}, not {one.printed}."
        elif key == "kappa" and counts.keys() >= set(CELLS):
            tp, fp, fn, tn = (counts[cell] for cell in ("tp", "fp", "fn", "tn"))
            total, chance = tp + fp + fn + tn, (tp + fn) * (tp + fp) + (fp + tn) * (fn + tn)
            if chance != total**2 and not fits(one, point(kappa_of(total, tp + tn, chance))):
                yield f"The kappa of these cells is {float(kappa_of(total, tp + tn, chance)):.4g}, not {one.printed}."


_THREE = 3
_MOST_COUNTS = 400


class Pairs(Struct, frozen=True):
    """The printed figures of pairs of raters, in the order first and second, first and third, second and third."""

    n: Figure | None = None
    agreements: tuple[Figure, ...] = ()


def check_rater_agreement(figure: Figure, pairs: Pairs) -> Checked:
    """Check the overall agreement as the mean over pairs, or Fleiss' kappa against the agreements of the pairs."""
    if pairs.n is None or not is_exact_count(pairs.n) or printed_value(pairs.n) <= 0:
        return underdetermined("rater_agreement", "How many items were rated is not printed as a number.")
    n = int(printed_value(pairs.n))
    allowed = [_agreeing(agreement, n) for agreement in pairs.agreements]
    raters = next((count for count in range(2, len(allowed) + 2) if comb(count, 2) == len(allowed)), None)
    if raters is None or any(counts is None for counts in allowed):
        return underdetermined("rater_agreement", "The agreement of each pair of raters is not printed as a number.")
    options = [counts or () for counts in allowed]
    if () in map(tuple, options):
        without = pairs.agreements[[len(counts) for counts in options].index(0)].printed
        sentence = f"No whole count of {n:,} prints as {without}, the agreement of a pair."
        return Checked("rater_agreement", "impossible", sentence)
    combinations = prod(map(len, options))
    if combinations > _MOST_COUNTS:
        too_many = f"The pairs' agreements allow {combinations:,} combinations of counts"
        return underdetermined("rater_agreement", f"{too_many}, too many to try.")
    possible = list(product(*options))
    together = [counts for counts in possible if raters != _THREE or _dissents(n, counts)]
    if not together:
        apart = _listed([n - count for count in possible[0]])
        sentence = f"No three raters disagree in pairs on {apart} of {n:,} items: the three cannot go together."
        return Checked("rater_agreement", "impossible", sentence)
    if figure.unit == "share":
        return _mean_over_pairs(figure, n, together)
    return _fleiss(figure, n, together)


def _mean_over_pairs(figure: Figure, n: int, possible: Sequence[tuple[int, ...]]) -> Checked:
    results = []
    for counts in possible:
        comparisons = n * len(counts)
        working = f"({' + '.join(f'{count:,}' for count in counts)}) / {comparisons:,} comparisons"
        mean = point(Fraction(sum(counts), comparisons))
        results.append(compared("rater_agreement", figure, working, mean))
    return next((one for one in results if one.status == "reproduced"), results[len(results) // 2])


def _fleiss(figure: Figure, n: int, possible: Sequence[tuple[int, ...]]) -> Checked:
    """Check that Fleiss' kappa is not greater than the agreement, which it never is."""
    most = Fraction(max(map(sum, possible)), n * len(possible[0]))
    if printed_value(figure) > 0 and not fits(figure, Box(Fraction(-1), most)):
        sentence = f"Fleiss' kappa is never greater than the agreement, {float(most):.3f}, and {figure.printed} is."
        return Checked("rater_agreement", "impossible", sentence)
    agree = f"{_listed(possible[len(possible) // 2])} of {n:,} agree in pairs"
    return underdetermined("rater_agreement", f"{agree}; how often each rater used each label is not printed.")


def _agreeing(agreement: Figure, n: int) -> Sequence[int] | None:
    """Return how many of n items a pair may agree on; `None` where that is not printed as a number."""
    if agreement.unit == "text" or agreement.approximate or limit(agreement) is not None:
        return None
    return whole_counts(agreement, n)


def _dissents(n: int, counts: tuple[int, ...]) -> Sequence[Dissent]:
    first, second, third = (n - count for count in counts)
    return possible_dissents(n, first, second, third)


def _listed(words: Sequence[object]) -> str:
    texts = [f"{word:,}" if isinstance(word, int) else str(word) for word in words]
    return ", ".join(texts[:-1]) + f" and {texts[-1]}"


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
