"""Blind labels, disputes and consensus of an annotation study."""

from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.annotation.plan import AnnotatedStudy, coded_labels, consensus, disputed
from misstep_harness.annotation import RaterAnswer

RATERS = ("ann", "ben", "cho")


def _study(*answers: RaterAnswer, items: tuple[str, ...] = ("a",)) -> AnnotatedStudy:
    return AnnotatedStudy(items, RATERS, answers)


def _blind(item: str, *labels: str | None) -> tuple[RaterAnswer, ...]:
    return tuple(RaterAnswer(item, rater, "independent", label) for rater, label in zip(RATERS, labels, strict=False))


def _later(item: str, *labels: str | None) -> tuple[RaterAnswer, ...]:
    return tuple(
        RaterAnswer(item, rater, "reconciliation", label) for rater, label in zip(RATERS, labels, strict=False)
    )


def test_the_last_answer_before_reconciliation_is_the_blind_one_and_reconciliation_leaves_it() -> None:
    first, changed = RaterAnswer("a", "ann", "independent", "task"), RaterAnswer("a", "ann", "independent", "agent")
    study = _study(first, changed, *_later("a", "pass"))
    assert study.blind()["a", "ann"].label == "agent"
    assert study.standing()["a", "ann"].label == "pass"


def test_a_case_is_in_dispute_once_all_have_answered_and_not_all_alike() -> None:
    answers = (*_blind("a", "task", "agent", "task"), *_blind("b", "task", "task", "task"), *_blind("c", "task"))
    assert disputed(_study(*answers, items=("a", "b", "c"))) == ("a",)


def test_the_consensus_says_how_it_came_about() -> None:
    cases = {
        "unanimous": _blind("unanimous", "task", "task", "task"),
        "majority": _blind("majority", "task", "agent", "task"),
        "reconciled": (
            *_blind("reconciled", "task", "agent", "task"),
            *_later("reconciled", "agent", "agent", "agent"),
        ),
        "tied": _blind("tied", "task", "agent", "pass"),
        "open": _blind("open", "task", "task"),
    }
    result = consensus(_study(*(one for given in cases.values() for one in given), items=tuple(cases)))
    assert [one.how for one in result] == list(cases)
    assert [one.label for one in result] == ["task", "task", "agent", None, None]
    assert result[3].candidates == ("agent", "pass", "task")


def test_the_subcategory_is_that_of_most_of_those_who_gave_the_label() -> None:
    given = [
        RaterAnswer("a", rater, "independent", label, finer)
        for rater, label, finer in zip(
            RATERS, ("agent", "agent", "task"), ("timeout", "timeout", "brittle_tests"), strict=True
        )
    ]
    assert consensus(_study(*given))[0].subcategory == "timeout"


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(RATERS), st.sampled_from(["task", "agent", None])),
        max_size=12,
    )
)
def test_every_item_has_a_label_or_says_why_not(answers: list[tuple[str, str, str | None]]) -> None:
    study = AnnotatedStudy(
        ("a", "b", "c"), RATERS, tuple(RaterAnswer(item, rater, "independent", label) for item, rater, label in answers)
    )
    for one in consensus(study):
        assert (one.label is None) == (one.how in ("tied", "open"))
        assert (len(one.candidates) > 1) == (one.how == "tied") or one.how == "open"


def test_a_missing_rating_stays_missing_among_coded_labels() -> None:
    coded = coded_labels(
        {("a", "ann"): "task", ("b", "ben"): "agent"}, ("a", "b", "c"), ("ann", "ben"), ("agent", "task")
    )
    assert coded.items == ["a", "b"]
    assert coded.categories == ["agent", "task"]
    assert coded.codes.tolist() == [[1, -1], [-1, 0]]
