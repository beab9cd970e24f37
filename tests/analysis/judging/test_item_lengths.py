"""How long items are: in steps of their runs, else in characters of their texts."""

import json
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

from misstep_analysis.judging.report import item_lengths
from misstep_harness.journal.records import encode
from tests.misstep.made_up_runs import agents_run, benchmark_of_runs


def benchmark(folder: Path, *items: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "items.jsonl").write_text("".join(json.dumps({"kind": "text"} | item) + "\n" for item in items))
    return folder


def test_a_run_is_as_long_as_it_has_steps(tmp_path: Path) -> None:
    folder = benchmark_of_runs(tmp_path / "gates", 3, lambda number: agents_run(number, steps=number + 2))
    lengths = item_lengths(folder)
    assert lengths.unit == "steps"
    assert lengths.of_item == {"item-0": 2, "item-1": 3, "item-2": 4}


def test_a_run_within_the_item_and_the_only_run_of_a_file_are_counted_too(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_bytes(encode(agents_run(5, steps=4)) + b"\n")
    inline = {"id": "inline", "trajectory": {"steps": [{"role": "agent", "text": "done"}]}}
    lengths = item_lengths(benchmark(tmp_path, inline, {"id": "alone", "trajectory": "one.jsonl"}))
    assert lengths.of_item == {"inline": 1, "alone": 4}


def test_runs_in_another_tools_format_are_counted_after_being_read(tmp_path: Path) -> None:
    turns = [{"step_id": place + 1, "source": "agent", "message": "go on"} for place in range(3)]
    agent = {"name": "walker", "version": "1"}
    atif = {"schema_version": "ATIF-v1.4", "session_id": "s", "agent": agent, "steps": turns}
    (tmp_path / "run.json").write_text(json.dumps(atif))
    lengths = item_lengths(benchmark(tmp_path, {"id": "a", "trajectory": "run.json"}))
    assert lengths.of_item == {"a": 3}


def test_texts_are_as_long_as_they_have_characters(tmp_path: Path) -> None:
    folder = benchmark(
        tmp_path, {"id": "text", "text": "four"}, {"id": "patch", "patch": "+ five"}, {"id": "task", "task": "é"}
    )
    lengths = item_lengths(folder)
    assert lengths.unit == "characters"
    assert lengths.of_item == {"text": 4, "patch": 6, "task": 1}


def test_a_byte_order_mark_hides_no_item(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_bytes(BOM_UTF8 + b'{"id": "a", "kind": "text", "text": "four"}\n')
    assert item_lengths(tmp_path).of_item == {"a": 4}


def test_a_run_that_is_missing_broken_or_outside_the_folder_has_no_length(tmp_path: Path) -> None:
    (tmp_path / "secret.jsonl").write_bytes(encode(agents_run(0)) + b"\n")
    inside = tmp_path / "inside"
    folder = benchmark(
        inside,
        {"id": "outside", "trajectory": "../secret.jsonl"},
        {"id": "missing", "trajectory": "none.jsonl"},
        {"id": "broken", "trajectory": "broken.jsonl"},
        {"id": "empty"},
    )
    (inside / "broken.jsonl").write_text("{no run\n")
    assert item_lengths(folder).of_item == {}
