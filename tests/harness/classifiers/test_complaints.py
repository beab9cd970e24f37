"""The pieces that spare a search never hide a phrase, and the first phrase of the list counts."""

import re
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.classifiers.complaints import PHRASES, Fault, first_complaint

ALL: frozenset[Fault] = frozenset(get_args(Fault))
ASCII = st.characters(codec="ascii")


def _found_by_searching(text: str, faults: frozenset[Fault]) -> tuple[Fault, tuple[int, int]] | None:
    for fault, _, phrase in PHRASES:
        match = re.search(phrase, text, re.IGNORECASE | re.MULTILINE)
        if fault in faults and match:
            return fault, match.span()
    return None


def _found(text: str, faults: frozenset[Fault]) -> tuple[Fault, tuple[int, int]] | None:
    complaint = first_complaint(text, faults)
    return complaint and (complaint[0], complaint[1].span())


@pytest.mark.parametrize("number", range(len(PHRASES)))
def test_whatever_a_phrase_matches_has_one_of_its_pieces(number: int) -> None:
    fault, pieces, phrase = PHRASES[number]

    @settings(deadline=None, max_examples=40)
    @given(st.from_regex(re.compile(phrase, re.IGNORECASE | re.MULTILINE), alphabet=ASCII))
    def check(text: str) -> None:
        assert any(piece in text.lower() for piece in pieces)
        assert _found(text, frozenset((fault,))) == _found_by_searching(text, frozenset((fault,)))

    check()


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([piece for _, pieces, _ in PHRASES for piece in pieces] + [" ", "\n", "found", "apply"])),
    st.sets(st.sampled_from(sorted(ALL))),
)
def test_sparing_searches_changes_no_answer(words: list[str], faults: set[Fault]) -> None:
    text = " ".join(words)
    assert _found(text, frozenset(faults)) == _found_by_searching(text, frozenset(faults))


def test_an_answer_without_a_complaint_has_none() -> None:
    assert first_complaint("3 passed in 0.2s", ALL) is None
    assert first_complaint("", ALL) is None
