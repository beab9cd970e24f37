"""Whole counts: order, grouping, number of parts and repeats change no byte, and a conflict is an error."""

from collections.abc import Sequence
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.harness.errors import InputError
from misstep.harness.records.whole_counts import (
    TIME_EDGES,
    CategorySet,
    CountedPart,
    CountedParts,
    Counts,
    GoldAnswer,
    RatingPattern,
    ScoreBin,
    TaskAttempts,
    TimeBin,
    decoded_parts,
    score_bin,
    summed,
    time_bin,
)

LABEL = st.sampled_from(["yes", "no", "Ünsure", None])
NUMBER = st.integers(1, 5)
RECORD = st.one_of(
    st.builds(
        lambda model, found, n: Counts(sessions=(CategorySet("model", model, (found,), (), ("b",), n),)),
        st.sampled_from(["", "m"]),
        st.sampled_from(["a", "c"]),
        NUMBER,
    ),
    st.builds(
        lambda one, other, n: Counts(ratings=(RatingPattern("", ("ann", "ben"), (one, other), n),)),
        LABEL,
        LABEL,
        NUMBER,
    ),
    st.builds(lambda gold, n: Counts(answers=(GoldAnswer("j", gold, None, "refused", n),)), LABEL, NUMBER),
    st.builds(
        lambda score, n: Counts(scores=(ScoreBin("j", "yes", "no", score_bin(score), n),)),
        st.sampled_from([None, 0.5, 0.9, 1.7]),
        NUMBER,
    ),
    st.builds(lambda passed, n: Counts(tasks=(TaskAttempts("s", "real", passed, 1, 0, n),)), st.integers(0, 2), NUMBER),
    st.builds(
        lambda taken, n: Counts(times=(TimeBin("j", time_bin(taken), n),)), st.sampled_from([None, 0.1, 9]), NUMBER
    ),
)
"""What one record counts."""


def part_of(records: Sequence[Counts]) -> CountedPart:
    counts = summed(records)
    return CountedPart(str(hash(msgspec.json.encode(counts))), counts)


def merged(parts: Sequence[CountedParts]) -> CountedParts:
    result = CountedParts({})
    for one in parts:
        result = result.merge(one)
    return result


@st.composite
def shards(draw: st.DrawFn) -> list[CountedParts]:
    """Records spread over some parts."""
    records = draw(st.lists(RECORD, max_size=12))
    where = draw(st.lists(st.integers(0, 3), min_size=len(records), max_size=len(records)))
    return [
        CountedParts({f"shard {place}": part_of([one for one, at in zip(records, where, strict=True) if at == place])})
        for place in range(4)
    ]


@given(shards(), st.data())
@settings(deadline=None)
def test_order_and_repeats_change_no_byte(parts: list[CountedParts], data: st.DataObject) -> None:
    again = data.draw(st.permutations(parts + data.draw(st.lists(st.sampled_from(parts), max_size=3))))
    assert merged(again).encoded() == merged(parts).encoded()


@given(shards())
@settings(deadline=None)
def test_merging_is_associative_and_a_merged_file_may_be_merged_again(parts: list[CountedParts]) -> None:
    a, b, c, d = parts
    left, right = a.merge(b).merge(c).merge(d), a.merge(b.merge(c.merge(d)))
    assert left.encoded() == right.encoded()
    assert left.merge(decoded_parts(right.encoded(), "merged")).encoded() == left.encoded()


@given(shards())
@settings(deadline=None)
def test_the_total_does_not_depend_on_the_number_of_parts(parts: list[CountedParts]) -> None:
    one = summed(part.counts for shard in parts for part in shard.parts.values())
    assert msgspec.json.encode(merged(parts[::-1]).total()) == msgspec.json.encode(one)


def test_two_parts_of_one_name_with_other_content_are_refused_even_with_equal_counts() -> None:
    counts = Counts(tasks=(TaskAttempts("s", "real", 1, 0, 0, 3),))
    one, other = (CountedParts({"labels.csv": CountedPart(digest, counts)}) for digest in ("a", "b"))
    with pytest.raises(InputError, match=r"two parts are called 'labels.csv'"):
        one.merge(other)


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        ("tasks", {"system": "s", "evidence": "real", "passed": -1, "failed": 0, "unanswered": 0, "n": 1}),
        ("times", {"judge": "j", "bin": 3, "n": 1.5}),
        ("ratings", {"question": "", "raters": ["b", "a"], "labels": [None, None], "n": 1}),
        ("answers", {"judge": "j", "gold": None, "label": None, "status": "answered", "n": 1}),
        ("sessions", {"by": "", "stratum": "", "found": ["a"], "absent": ["a"], "abstained": [], "n": 1}),
    ],
    ids=["below 0", "half an answer", "raters out of order", "an answer without a label", "found and absent"],
)
def test_what_cannot_be_counted_is_refused_by_the_name_of_the_file(kind: str, row: dict[str, object]) -> None:
    content = msgspec.json.encode({"parts": {"a": {"digest": "", "counts": {kind: [row]}}}})
    for wrong in (content, content[:-1], b"[]"):
        with pytest.raises(InputError, match=r"^shard\.json: no counts"):
            decoded_parts(wrong, "shard.json")


def test_a_time_lies_in_its_bin_from_one_edge_to_below_the_next() -> None:
    for low, high in pairwise(TIME_EDGES):
        assert time_bin(low / 1e6) == time_bin((high - 1) / 1e6) == time_bin(high / 1e6) - 1
    assert (time_bin(0.0), time_bin(1e12)) == (0, len(TIME_EDGES))
