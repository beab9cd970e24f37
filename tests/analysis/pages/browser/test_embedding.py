"""Data in a page: whatever the text, it stays data, and the page's script reads what was put in."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.pages.browser import PLAIN_UP_TO, Pieces, embedded
from misstep_harness.escaping import printable
from tests.analysis.pages.html_rules import read_embedded

texts = st.text(st.sampled_from('<>&"\\/\u2028\u2029\ud800\u202e\x1b\x00\n') | st.characters(exclude_categories=[]))
documents = st.lists(st.dictionaries(st.sampled_from("abc"), st.one_of(texts, st.integers(), st.none())))


@given(documents)
def test_no_text_can_end_the_element_that_holds_it(document):
    assert not set("<>&\u2028\u2029") & set(embedded(document))


@given(documents)
def test_what_is_read_is_what_was_put_in_with_its_texts_printable(document):
    shown = [
        {name: printable(value) if isinstance(value, str) else value for name, value in one.items()} for one in document
    ]
    assert read_embedded(embedded(document)) == shown


def test_large_data_are_compressed_and_small_ones_stand_as_they_are():
    assert embedded({"small": "</script>"}) == '{"small":"\\u003c/script\\u003e"}'
    large = embedded({"large": "word " * PLAIN_UP_TO})
    assert len(large) < PLAIN_UP_TO
    assert read_embedded(large) == {"large": "word " * PLAIN_UP_TO}


ranks = st.lists(st.integers(0, 3), max_size=30)


def contents(parts: Sequence[tuple[int, int]], most: int) -> dict[str, str]:
    """What is kept of parts, each with its rank and length."""
    pieces = Pieces(most)
    for number, (rank, length) in enumerate(parts):
        pieces.add(str(number), rank, ["x" * length])
    return pieces.contents()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 60)), max_size=30), st.integers(0, 400))
def test_all_parts_together_stay_within_the_bound(parts, most):
    assert sum(map(len, contents(parts, most).values())) <= most


@given(ranks, st.integers(0, 400))
def test_of_parts_of_one_size_the_highest_ranks_are_kept_and_of_one_rank_the_first(ranks, most):
    by_wish = sorted(range(len(ranks)), key=lambda number: (-ranks[number], number))
    fitting = by_wish[: most // len('["xxxxxxxx"]')]
    assert list(contents([(rank, 8) for rank in ranks], most)) == [str(number) for number in sorted(fitting)]


def test_a_part_that_would_go_at_once_is_not_wanted():
    pieces = Pieces(20)
    assert pieces.wants(0)
    pieces.add("right", 0, ["x" * 12])
    pieces.add("wrong", 3, ["x" * 12])
    assert list(pieces.contents()) == ["wrong"]
    assert not pieces.wants(0)
    assert pieces.wants(1)
