"""Where the shards of a run stand, and how those that are missing are named."""

import pytest

from misstep.harness.errors import UsageError
from misstep.harness.runs.shards.layout import Shard, require_all, shards_of, stretches


def test_a_shard_has_a_folder_that_sorts_by_number() -> None:
    assert Shard(3, 8).folder == "shards/00003-of-00008"
    assert Shard(3, 8).marker == "shards/00003-of-00008/done.json"


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ([3], "3"),
        ([3, 5], "3 and 5"),
        ([1, 2, 3, 7, 9, 10], "1-3, 7 and 9-10"),
        (list(range(1, 61, 2)), f"{', '.join(map(str, range(1, 41, 2)))} and 10 more"),
    ],
)
def test_missing_numbers_are_told_with_neighbours_together(numbers: list[int], told: str) -> None:
    assert stretches(numbers) == told


def test_a_merge_with_gaps_is_refused_with_the_command_that_fills_the_first() -> None:
    done = {shard for shard in shards_of(8) if shard.number not in (3, 5)}
    with pytest.raises(UsageError) as refused:
        require_all(done, 8, "misstep classify runs --out run")
    assert refused.value.line() == ("shards 3 and 5 of 8 are missing. Run: misstep classify runs --out run --shard 3/8")
    require_all(list(shards_of(8)), 8, "misstep classify runs --out run")
