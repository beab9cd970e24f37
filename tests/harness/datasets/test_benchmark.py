"""A benchmark folder reads back as it was written, refuses rows that contradict each other, and is whole or absent."""

import csv
from pathlib import Path

import msgspec
import pytest

from misstep_harness.benchmarks.folders import read_trajectories
from misstep_harness.catalogue import data_set
from misstep_harness.datasets.benchmark import (
    Benchmark,
    Gold,
    GoldError,
    Item,
    SetWriter,
    built_in_place,
    read_benchmark,
    write_benchmark,
)
from misstep_harness.errors import InputError
from misstep_harness.items import read_items, read_question
from misstep_harness.trajectory import Source, Step, Trajectory

ABOUT = Benchmark(
    name="some_set",
    title='A set of "runs"',
    kind="misbehaviour",
    labels={"yes": "it is so", "not so": "it is not"},
    raters=("ann", "bob"),
    licence="MIT",
    citation="Ö. Author, 2025",
    origin=("owner/name@0123",),
    digest="ab",
    positive="yes",
)
RUN = Trajectory(id="r1", source=Source("made up", dataset="some_set"), steps=(Step(role="agent", text="done"),))


def item(name: str, **more: str) -> Item:
    return Item(id=name, kind="misbehaviour", **more)  # type: ignore[arg-type]


def test_what_was_written_reads_back(tmp_path: Path) -> None:
    items = [item("a", trajectory_id="r1"), item("b", text="Größe")]
    written = write_benchmark(tmp_path / "some_set", ABOUT, items, [Gold("a", "ann", "yes")], {"runs": [RUN]})
    assert read_benchmark(tmp_path / "some_set") == written
    assert written.counts == {"items": 2, "labels": 1, "errors": 0, "trajectories": 1}
    placed = item("a", trajectory_id="r1", trajectory="trajectories/runs.jsonl")
    assert list(read_items(tmp_path / "some_set")) == [placed, items[1]]
    assert list(read_trajectories(tmp_path / "some_set")) == [RUN]


def test_gold_is_a_table_of_item_rater_and_label(tmp_path: Path) -> None:
    write_benchmark(tmp_path / "b", ABOUT, [item('x,"y"')], [Gold('x,"y"', "bob", "not so")])
    with (tmp_path / "b" / "gold.csv").open(newline="", encoding="utf-8") as stream:
        assert list(csv.reader(stream)) == [["item", "rater", "label"], ['x,"y"', "bob", "not so"]]


def test_errors_are_written_only_where_there_are_any(tmp_path: Path) -> None:
    write_benchmark(tmp_path / "without", ABOUT, [item("a")])
    write_benchmark(tmp_path / "with", ABOUT, [item("a")], errors=[GoldError("r1", "loop", step=3)])
    assert not (tmp_path / "without" / "gold_errors.jsonl").exists()
    assert (tmp_path / "with" / "gold_errors.jsonl").read_text() == '{"trajectory":"r1","label":"loop","step":3}\n'


@pytest.mark.parametrize(
    ("items", "gold", "runs", "message"),
    [
        ([item("a"), item("a")], [], [], r"items\.jsonl:2: id: two items have the id 'a'"),
        ([item("a")], [Gold("b", "ann", "yes")], [], r"gold\.csv:2: a label for 'b', which is not an item"),
        ([item("a")], [Gold("a", "eve", "yes")], [], r"gold\.csv:2: a label by 'eve'"),
        ([item("a")], [Gold("a", "ann", "yes"), Gold("a", "ann", "yes")], [], r"gold\.csv:3: 'ann' labels 'a' twice"),
        ([item("a")], [Gold("a", "ann", "perhaps")], [], r"label 'perhaps', which is not among yes, not so"),
        ([item("a")], [], [RUN, RUN], r"runs\.jsonl:2: two trajectories have the id 'r1'"),
        ([item("a", trajectory_id="r2")], [], [RUN], r"items\.jsonl:1: trajectory_id: unknown trajectory 'r2'"),
    ],
)
def test_rows_that_contradict_each_other_are_refused(tmp_path, items, gold, runs, message) -> None:
    with pytest.raises(InputError, match=message):
        write_benchmark(tmp_path / "b", ABOUT, items, gold, {"runs": runs})


def test_without_declared_labels_any_label_but_an_empty_one_will_do(tmp_path: Path) -> None:
    open_labels = msgspec.structs.replace(ABOUT, labels={}, positive="")
    write_benchmark(tmp_path / "b", open_labels, [item("a")], [Gold("a", "ann", "Counting_Expert")])
    with pytest.raises(InputError, match="label ''"):
        write_benchmark(tmp_path / "c", open_labels, [item("a")], [Gold("a", "ann", "")])


def test_a_gold_label_that_the_item_itself_does_not_name_is_refused(tmp_path: Path) -> None:
    open_labels = msgspec.structs.replace(ABOUT, labels={}, positive="")
    offering = Item(id="a", kind="misbehaviour", labels=("Ann", "Bo"))
    write_benchmark(tmp_path / "b", open_labels, [offering], [Gold("a", "ann", "Bo")])
    assert next(read_items(tmp_path / "b")).labels == ("Ann", "Bo")
    with pytest.raises(InputError, match="label 'Cy', which is not among Ann, Bo"):
        write_benchmark(tmp_path / "c", open_labels, [offering], [Gold("a", "ann", "Cy")])


def test_what_is_asked_and_what_is_shown_stand_in_the_benchmark_file(tmp_path: Path) -> None:
    about = msgspec.structs.replace(ABOUT, question="Is it so?", shown=("topic",))
    write_benchmark(tmp_path / "b", about, [item("a")])
    assert (read_benchmark(tmp_path / "b").question, read_benchmark(tmp_path / "b").shown) == ("Is it so?", ("topic",))
    asked = read_question(tmp_path / "b")
    assert (asked.asks, asked.shown, asked.labels) == ("Is it so?", ("topic",), ABOUT.labels)


def test_licence_citation_and_origin_come_from_the_catalogue_and_a_further_question_stands_beside(tmp_path) -> None:
    entry = data_set("mast")
    SetWriter("mast", tmp_path, tmp_path / "out" / "mast").write([item("a")], further="step", raters=("ann",))
    about = read_benchmark(tmp_path / "out" / "mast-step")
    assert (about.name, about.raters) == ("mast-step", ("ann",))
    assert (about.title, about.licence, about.citation) == (entry.title, entry.licence, entry.citation)
    assert [origin.partition("@")[0] for origin in about.origin] == [one.repository for one in entry.sources.values()]


def test_a_build_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def build() -> None:
        with built_in_place(tmp_path / "built") as building:
            (building / "half").touch()
            raise InputError("a broken row")

    with pytest.raises(InputError):
        build()
    assert list(tmp_path.iterdir()) == []


def test_a_build_is_there_when_all_is_written(tmp_path: Path) -> None:
    with built_in_place(tmp_path / "below" / "built") as building:
        (building / "whole").touch()
        assert not (tmp_path / "below" / "built").exists()
    assert [path.name for path in (tmp_path / "below").rglob("*")] == ["built", "whole"]


def test_what_somebody_else_has_built_meanwhile_stays(tmp_path: Path) -> None:
    with built_in_place(tmp_path / "built") as building:
        (building / "ours").touch()
        (tmp_path / "built").mkdir()
        (tmp_path / "built" / "theirs").touch()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["built", "theirs"]


def test_a_folder_that_is_no_benchmark_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"benchmark\.toml: the file is missing"):
        read_benchmark(tmp_path)
    with pytest.raises(InputError, match=r"items\.jsonl: cannot open"):
        list(read_items(tmp_path))
