"""Where the shards of a run stand, and how those that are missing are named."""

import pytest

from misstep.harness.runs.shards.layout import Shard, ranges


def test_a_shard_has_a_folder_that_sorts_by_number() -> None:
    assert Shard(3, 8).folder == "shards/00003-of-00008"
    assert Shard(3, 8).marker == "shards/00003-of-00008/done.json"


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([3], "3"),
        ([3, 5], "3 and 5"),
        ([1, 2, 3, 7, 9, 10], "1-3, 7 and 9-10"),
        (list(range(1, 61, 2)), f"{', '.join(map(str, range(1, 41, 2)))} and 10 more"),
    ],
)
def test_missing_numbers_are_told_with_neighbours_together(numbers: list[int], text: str) -> None:
    assert ranges(numbers) == text
