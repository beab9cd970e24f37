"""UTBoost: names that a second parser drops, the tasks with weak tests, the counts of the set's description."""

import json
from collections import Counter
from pathlib import Path

import pytest

from misstep_harness.datasets.utboost import tasks
from misstep_harness.errors import InputError
from tests.harness.datasets.loaded import Loaded, load, public, write

NAME = "utboost"
loaded = public(NAME)


def lists(fail_to_pass: list[str], pass_to_pass: list[str]) -> str:
    return json.dumps({"some__a-1": {"FAIL_TO_PASS": fail_to_pass, "PASS_TO_PASS": pass_to_pass}})


@pytest.mark.data
def test_as_many_names_are_dropped_from_each_list_as_the_sets_description_says(loaded: Loaded) -> None:
    results = Counter((loaded.items[item].extra["list"], label) for (item, _), label in loaded.gold.items())
    assert results == {
        ("FAIL_TO_PASS", "kept"): 153 - 46,
        ("FAIL_TO_PASS", "removed"): 46,
        ("PASS_TO_PASS", "kept"): 6111 - 923,
        ("PASS_TO_PASS", "removed"): 923,
    }
    assert len({item.extra["cluster"] for item in loaded.items.values()}) == 85


@pytest.mark.data
def test_the_tasks_with_weak_tests_are_18_of_which_14_are_parsed_anew(data_folder: Path) -> None:
    every = list(tasks(data_folder / NAME))
    weak = [task for task in every if task.weak_tests]
    assert (len(every), len(weak)) == (195, 18)
    assert sum(task.reparsed_lite or task.reparsed_verified for task in weak) == 14
    assert [sum(flags) for flags in zip(*((task.in_lite, task.in_verified) for task in weak), strict=True)] == [10, 14]


def test_a_name_is_kept_where_the_same_list_has_it_still(tmp_path: Path) -> None:
    before, after = lists(["test_a", "A sentence."], ["test_b"]), lists(["test_a", "test_b"], [])
    files = {"original_lite.json.gz": before, "reparsed_lite.json.gz": after}
    result = load(NAME, write(tmp_path / "upstream", files), tmp_path)
    assert {item: label for (item, _), label in result.gold.items()} == {
        "some__a-1/FAIL_TO_PASS/0": "kept",
        "some__a-1/FAIL_TO_PASS/1": "removed",
        "some__a-1/PASS_TO_PASS/0": "removed",
    }
    assert result.items["some__a-1/FAIL_TO_PASS/1"].text == "A sentence."


def test_a_task_that_is_in_one_of_the_lists_alone_is_an_error_that_names_it(tmp_path: Path) -> None:
    files = {"original_lite.json.gz": lists([], []), "reparsed_lite.json.gz": "{}"}
    with pytest.raises(InputError) as raised:
        load(NAME, write(tmp_path / "upstream", files), tmp_path)
    assert "some__a-1" in raised.value.line()
