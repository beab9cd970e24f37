"""On lessons of known use memory shows the useful ones and a list does not; grown contexts drift, fresh ones do not."""

import pytest

from misstep.analysis.papers.reflexive.memory import drift_table, memory_table
from misstep.studies.reflexive.memory import drift_study, memory_study


@pytest.fixture(scope="module")
def uses() -> dict[str, float]:
    return {one.without: one.use.useful.value or 0.0 for one in memory_study(common=(2,), sets=1, rounds=1)}


def test_memory_shows_most_useful_lessons_and_a_list_next_to_none(uses: dict[str, float]) -> None:
    assert uses[""] > 0.9
    assert uses["memory"] < 0.05


def test_without_a_share_for_them_lessons_of_earlier_runs_are_pushed_out(uses: dict[str, float]) -> None:
    assert uses["lesson_share"] < 0.1


def test_the_table_of_memory_has_the_witness_beside_what_a_list_does() -> None:
    table = memory_table(memory_study(common=(2, 0), sets=1, rounds=1), "seed 100")

    printed = [row.value for row in table.rows if row.evidence == "published"]
    as_list = {
        row.quantity: row.value for row in table.rows if row.group == "a list, shown from its end, 2 words in common"
    }
    assert printed == [644, 3]
    assert (as_list["Lessons stored"], as_list["Lessons shown at once"]) == (644, 3.0)
    assert all(row.evidence == "generated" and row.source == "seed 100" for row in table.rows[2:])


def test_grown_contexts_drift_and_fresh_ones_do_not() -> None:
    fresh, grown = drift_study(parts=(8,), seeds=(0,))

    assert fresh.drift.share.value == 0.0
    assert (grown.drift.share.low or 0.0) > 0.05
    assert "687 tokens" in drift_table([fresh, grown], "seed 0").finding
