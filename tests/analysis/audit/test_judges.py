"""A judge's figures: sound ones are never accused, with cells or without; what no table prints is found."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep_analysis.audit.judge_tables import check_precision_recall
from misstep_analysis.audit.rounding_boxes import Checked
from misstep_analysis.published import Figure
from misstep_analysis.tables import Unit
from tests.analysis.audit.printing import SOUND_RULES, rounded

CELLS = st.integers(0, 40)
RULES = st.sampled_from(SOUND_RULES)
Given = str | int


def figure(printed: str, unit: Unit, column: str) -> Figure:
    return Figure(id="k", place="Table 4", row="Plums", column=column, printed=printed, unit=unit)


def unit(said: Given) -> Unit:
    return "count" if isinstance(said, int) else "share" if said.endswith("%") else "coefficient"


def checked(measure: str, printed: str, **inputs: Given) -> Checked:
    """A figure checked with counts (whole numbers) and other printed figures (strings)."""
    given = {name: figure(str(said), unit(said), name) for name, said in inputs.items()}
    return check_precision_recall(figure(printed, unit(printed), measure), given)


def measures(tp: int, fp: int, fn: int, tn: int) -> dict[str, Fraction]:
    """Every figure that the table has; what is 0/0 is not printed."""
    n = tp + fp + fn + tn
    chance = (tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)
    quotients = {
        "precision": (tp, tp + fp),
        "recall": (tp, tp + fn),
        "f1": (2 * tp, 2 * tp + fp + fn),
        "accuracy": (tp + tn, n),
        "kappa": (n * (tp + tn) - chance, n * n - chance),
        "other_precision": (tn, tn + fn),
        "other_recall": (tn, tn + fp),
    }
    return {name: Fraction(above, below) for name, (above, below) in quotients.items() if below}


@settings(deadline=None)
@given(tp=CELLS, fp=CELLS, fn=CELLS, tn=CELLS, digits=st.integers(1, 4), rule=RULES, data=st.data())
def test_figures_of_one_table_are_never_called_wrong_whichever_are_printed(tp, fp, fn, tn, digits, rule, data) -> None:
    exact = measures(tp, fp, fn, tn)
    printed = {name: rounded(value, digits, rule) for name, value in exact.items()}
    percent = {name: f"{rounded(100 * value, digits, rule)}%" for name, value in exact.items() if name != "kappa"}
    counts = {"tp": tp, "fp": fp, "fn": fn, "tn": tn, "positives": tp + fn, "negatives": fp + tn}
    counts["n"] = sum((tp, fp, fn, tn))
    own = [name for name in ("precision", "recall", "f1", "accuracy") if name in exact]
    if not own:
        return
    measure = data.draw(st.sampled_from(own))
    beside = data.draw(st.sets(st.sampled_from(sorted(printed.keys() - {measure}))))
    known = data.draw(st.sets(st.sampled_from(sorted(counts))))
    as_percent = data.draw(st.booleans())
    shown = {**printed, **percent} if as_percent else printed
    inputs: dict[str, Given] = {name: shown[name] for name in beside}
    result = checked(measure, shown[measure], **inputs, **{name: counts[name] for name in known})
    assert result.status in ("reproduced", "underdetermined"), result.sentence


@settings(deadline=None)
@given(tp=st.integers(1, 40), fp=CELLS, fn=CELLS, tn=CELLS, digits=st.integers(1, 3), rule=RULES)
def test_each_figure_follows_from_cells_and_one_two_digits_off_differs(tp, fp, fn, tn, digits, rule) -> None:
    exact = measures(tp, fp, fn, tn)
    for measure in ("precision", "recall", "f1", "accuracy"):
        wrong = exact[measure] + Fraction(2, 10**digits)
        cells = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
        assert checked(measure, rounded(exact[measure], digits, rule), **cells).status == "reproduced"
        assert checked(measure, rounded(wrong, digits, rule), **cells).status == "differs"


@pytest.mark.parametrize(
    ("measure", "printed", "inputs", "status", "says"),
    [
        (
            *("Precision", "0.80", {"n": 50, "positives": 18, "recall": "0.67"}, "reproduced"),
            "Of 18 positive and 32 negative items, one table alone prints precision 0.80 and recall 0.67: 12 true and "
            "3 false positives, 6 false and 29 true negatives.",
        ),
        (
            *("Accuracy", "0.90", {"n": 40, "positives": 20}, "underdetermined"),
            " tables of 20 positive and 20 negative items print accuracy 0.90, such as ",
        ),
        (
            *("F1", "0.90", {"precision": "0.80", "recall": "0.75"}, "impossible"),
            "Precision 0.80 and recall 0.75 make an F1 from 0.769 to 0.779, not 0.90.",
        ),
        ("Precision", "85.71%", {}, "underdetermined", "How many items there were in each class is not printed."),
        ("Precision", "0.6", {"n": 1_000_000, "recall": "0.7"}, "underdetermined", ""),
        ("F1", "0.77", {}, "underdetermined", "is not printed"),
        ("Balanced accuracy", "0.77", {}, "underdetermined", "not one of"),
    ],
)
def test_a_figure_says_which_tables_print_it_or_what_is_not_printed(measure, printed, inputs, status, says) -> None:
    checked_figure = checked(measure, printed, **inputs)
    assert checked_figure.status == status
    assert says in checked_figure.sentence


def test_figures_of_a_table_with_its_rows_swapped_are_impossible_and_the_swap_is_suggested() -> None:
    result = checked("Precision", "0.286", positives=187, negatives=57, recall="0.807")
    assert result.status == "impossible"
    assert result.sentence == "No table of 187 positive and 57 negative items prints precision 0.286 and recall 0.807."
    assert result.suggestion.startswith(
        "the rows of the two classes are swapped: then all fit, from 72 true and 11 false"
    )


def test_swapped_columns_are_suggested_too() -> None:
    with_cells = checked("Precision", "0.25", tp=10, fp=2, fn=30, tn=8)
    assert with_cells.suggestion == "the columns are swapped: it is the recall, 10 / 40"
    without = checked("Precision", "0.250", positives=40, negatives=10, recall="0.833")
    assert without.status == "impossible"
    assert "the columns are swapped" in without.suggestion


def test_recall_of_known_positives_is_a_share_of_them() -> None:
    assert checked("Recall", "0.57", positives=7).status == "reproduced"
    result = checked("Recall", "0.65", positives=7)
    assert (result.status, result.check) == ("impossible", "precision_recall")


@pytest.mark.parametrize(
    "counts",
    [
        {"n": 10, "positives": 17},
        {"n": 10, "tp": 11},
        {"n": 9, "positives": 4, "negatives": 4},
        {"tp": 9, "positives": 7},
        {"tp": 3, "fn": 3, "positives": 7},
    ],
)
def test_counts_that_contradict_each_other_are_impossible(counts: dict[str, int]) -> None:
    assert checked("Recall", "0.6", **counts).status == "impossible"
