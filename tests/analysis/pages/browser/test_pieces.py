"""The parts of a page within a bound: the least wanted go first, and no more than the bound is held."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from misstep.analysis.pages.browser.pieces import Pieces

ranks = st.lists(st.integers(0, 3), max_size=30)


def kept(parts: Sequence[tuple[int, int]], most: int) -> dict[str, str]:
    """What is kept of parts, each with its rank and length."""
    pieces = Pieces(most)
    for number, (rank, length) in enumerate(parts):
        pieces.add(str(number), rank, ["x" * length])
    return pieces.kept()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 60)), max_size=30), st.integers(0, 400))
def test_all_parts_together_stay_within_the_bound(parts, most):
    assert sum(map(len, kept(parts, most).values())) <= most


@given(ranks, st.integers(0, 400))
def test_of_parts_of_one_size_the_highest_ranks_are_kept_and_of_one_rank_the_first(ranks, most):
    by_wish = sorted(range(len(ranks)), key=lambda number: (-ranks[number], number))
    fitting = by_wish[: most // len('["xxxxxxxx"]')]
    assert list(kept([(rank, 8) for rank in ranks], most)) == [str(number) for number in sorted(fitting)]


def test_a_part_that_would_go_at_once_is_not_wanted():
    pieces = Pieces(20)
    assert pieces.wants(0)
    pieces.add("right", 0, ["x" * 12])
    pieces.add("wrong", 3, ["x" * 12])
    assert list(pieces.kept()) == ["wrong"]
    assert not pieces.wants(0)
    assert pieces.wants(1)
