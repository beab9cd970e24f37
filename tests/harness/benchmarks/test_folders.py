"""Benchmark folders are built in the cache when first asked for, and again when what they are made of changes."""

import json
from pathlib import Path

import pytest

from misstep_harness.benchmarks.folders import benchmark_folder, sources_of
from misstep_harness.datasets.benchmark import read_benchmark
from misstep_harness.errors import InputError, MissingPrerequisite, UsageError

HEADER = "trace_id,round,mas_name,benchmark_name,mode_code,mode_name,annotator_1,annotator_2,annotator_3\n"
ROW = "3,Round 1,Some,Tasks,1.3,Step repetition,0,1,0\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder of data sets with two made-up ones."""
    (tmp_path / "data" / "mast").mkdir(parents=True)
    (tmp_path / "data" / "mast" / "human_labels.csv").write_text(HEADER + ROW)
    (tmp_path / "data" / "whoandwhen" / "logs").mkdir(parents=True)
    log = {"question": "How many?", "question_ID": "q", "level": "1", "ground_truth": "8", "is_correct": False}
    log |= {"history": [{"content": "8", "role": "assistant", "name": "A"}], "mistake_reason": "r"}
    log |= {"mistake_agent": "A", "mistake_step": "0"}
    (tmp_path / "data" / "whoandwhen" / "logs" / "1.json").write_text(json.dumps(log))
    return tmp_path / "data"


def test_a_benchmark_is_built_once(data: Path, own_cache: Path) -> None:
    folder = benchmark_folder("mast", data)
    assert own_cache in folder.parents
    assert read_benchmark(folder).counts["items"] == 1
    made = (folder / "gold.csv").stat().st_mtime_ns
    assert benchmark_folder("mast", data) == folder
    assert (folder / "gold.csv").stat().st_mtime_ns == made


def test_a_changed_file_gives_another_build(data: Path) -> None:
    before = benchmark_folder("mast", data)
    (data / "mast" / "human_labels.csv").write_text(HEADER + ROW + ROW.replace("1.3", "1.4"))
    after = benchmark_folder("mast", data)
    assert read_benchmark(before).counts["items"] == 1
    assert read_benchmark(after).counts["items"] == 2


def test_a_set_that_does_not_fit_leaves_nothing_behind(data: Path, own_cache: Path) -> None:
    (data / "mast" / "human_labels.csv").write_text(HEADER + ROW + ROW)
    with pytest.raises(InputError, match="two items"):
        benchmark_folder("mast", data)
    assert list((own_cache / "benchmarks" / "mast").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "whoandwhen-why",
            r"unknown benchmark 'whoandwhen-why'\. Known: whoandwhen, whoandwhen-fault, whoandwhen-step",
        ),
        ("quixbugs", r"has no loader"),
        ("moon", r"unknown data set 'moon'"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(data: Path, name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        benchmark_folder(name, data)


def test_a_set_that_is_not_at_hand_is_missing(data: Path) -> None:
    with pytest.raises(MissingPrerequisite, match="misstep datasets fetch trail"):
        benchmark_folder("trail", data)


def test_a_set_of_which_files_are_missing_is_measured_and_said_to_be_incomplete(data, capsys) -> None:
    benchmark_folder("whoandwhen", data)
    benchmark_folder("whoandwhen", data)
    output = capsys.readouterr().err
    assert output.count("whoandwhen is incomplete: 125 of its 126 files are missing (") == 1
    assert "`misstep datasets fetch whoandwhen`" in output


def test_an_upstream_file_that_cannot_be_read_is_named_and_the_benchmark_is_of_the_others(data: Path, capsys) -> None:
    logs = data / "whoandwhen" / "logs"
    broken = json.loads((logs / "1.json").read_text()) | {"history": [{"content": "Who said this?"}]}
    (logs / "2.json").write_text(json.dumps(broken))
    folder = benchmark_folder("whoandwhen", data)
    assert benchmark_folder("whoandwhen", data) == folder
    assert capsys.readouterr().err.count("whoandwhen leaves out logs/2.json: ") == 1
    assert read_benchmark(folder).counts["items"] == 1


def test_a_room_is_all_that_lies_below_it() -> None:
    room = Path(benchmark_folder.__code__.co_filename).parents[1] / "classifiers"
    assert set(sources_of("misstep_harness.classifiers")) == {*room.rglob("*.py"), *room.rglob("*.toml")}
