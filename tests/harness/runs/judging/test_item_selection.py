"""Which items are asked: those with something to show, or a sample drawn by seed and id alone; the rest is counted."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.clients import ClientSettings
from misstep_harness.errors import InputError
from misstep_harness.items import NOTHING_TO_SHOW
from misstep_harness.judges.judge_file import JudgeSpec, read_judge
from misstep_harness.judges.prompted import prompted_judge
from misstep_harness.runs.judging.judge import Sampling, run_judge, select_items
from tests.misstep.made_up_judges import benchmark, judge_file

SCRIPTED = ClientSettings(client="scripted", script="tests.misstep.made_up_judges:always_fruit")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return benchmark(tmp_path / "plants", ["apple"] * 40)


def add(folder: Path, *items: dict[str, object]) -> None:
    with (folder / "items.jsonl").open("a") as stream:
        stream.writelines(json.dumps({"kind": "text"} | item) + "\n" for item in items)


def ids(spec: JudgeSpec, folder: Path, sampling: Sampling | None = None) -> list[str]:
    return [item.id for item in select_items(prompted_judge(spec), folder, sampling).items()]


def test_items_with_nothing_to_show_are_left_out_and_counted_by_reason(spec: JudgeSpec, folder: Path) -> None:
    add(folder, {"id": "bare"}, {"id": "lost", "text": "t", "unaskable": "its run is lost"}, {"id": "bare too"})
    chosen = select_items(prompted_judge(spec), folder)
    assert (chosen.n, chosen.n_all) == (40, 43)
    assert chosen.left_out == {NOTHING_TO_SHOW: 2, "its run is lost": 1}
    assert {"bare", "lost"}.isdisjoint(item.id for item in chosen.items())
    assert chosen.sentence == (
        f"40 of 43 items are asked: 2 cannot be asked ({NOTHING_TO_SHOW}); 1 cannot be asked (its run is lost)."
    )


def test_where_all_items_are_asked_there_is_nothing_to_say(spec: JudgeSpec, folder: Path) -> None:
    assert select_items(prompted_judge(spec), folder).sentence == ""
    assert select_items(prompted_judge(spec), folder, Sampling(40)).sentence == ""


def test_a_benchmark_of_which_nothing_can_be_asked_says_why_before_there_is_a_run(spec, folder, tmp_path) -> None:
    (folder / "items.jsonl").write_text("")
    add(folder, {"id": "a", "unaskable": "the texts are lost"}, {"id": "b", "unaskable": "the texts are lost"})
    with pytest.raises(InputError, match=r"no item can be asked about: the texts are lost \(2 of 2 items\)"):
        run_judge(prompted_judge(spec), folder, tmp_path / "run", SCRIPTED)
    assert not (tmp_path / "run").exists()


def test_a_sample_does_not_depend_on_the_order_of_the_items(spec: JudgeSpec, folder: Path) -> None:
    before = set(ids(spec, folder, Sampling(7, 3)))
    lines = (folder / "items.jsonl").read_text().splitlines(keepends=True)
    (folder / "items.jsonl").write_text("".join(reversed(lines)))
    assert set(ids(spec, folder, Sampling(7, 3))) == before


@given(st.integers(1, 45), st.integers(1, 45), st.integers(0, 10))
def test_a_sample_has_the_size_asked_for_and_a_smaller_one_is_a_part_of_it(tmp_path_factory, size, other, seed) -> None:
    base = tmp_path_factory.mktemp("sampled")
    spec, folder = read_judge(judge_file(base)), benchmark(base / "plants", ["apple"] * 40)
    small, large = (ids(spec, folder, Sampling(n, seed)) for n in sorted((size, other)))
    assert len(large) == min(max(size, other), 40)
    assert set(small) <= set(large)
    assert large == [one for one in ids(spec, folder) if one in set(large)]
