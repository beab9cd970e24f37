"""A run of every kind is exported in every form: typed, whole or not at all, and always as the same bytes."""

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from misstep_analysis.exports.writing import Form, export_run
from misstep_analysis.runs.kind import Choice
from misstep_harness.errors import UsageError
from misstep_harness.journal.records import MANIFEST
from tests.misstep.made_up_exports import KINDS
from tests.misstep.made_up_runs import repaired, repaired_run

TABLES = {
    "classified": ["verdicts", "sessions", "files", "scores"],
    "judged": ["verdicts", "gold", "scores"],
    "triaged": ["verdicts", "gold", "scores"],
    "observed": ["runs", "invocations", "interventions", "sessions", "scores"],
    "repaired": ["attempts", "signals", "scores"],
    "reflected": ["items", "events", "scores"],
    "experiment": ["sessions", "invocations", "interventions", "episodes", "scores"],
}
"""What each kind of run is exported as, the labels that no judge may see among them."""

WITH_GOLD = Choice(gold=True)


def contents(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    return pq.read_table(folder / f"{table}.parquet").to_pylist()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_run_has_its_tables_in_parquet_and_csv_with_the_same_rows(kind, runs, tmp_path) -> None:
    counts = export_run(runs[kind], "parquet", tmp_path / "parquet", WITH_GOLD)
    assert list(counts) == TABLES[kind]
    assert export_run(runs[kind], "csv", tmp_path / "csv", WITH_GOLD) == counts
    for name, n in counts.items():
        typed = rows(tmp_path / "parquet", name)
        with (tmp_path / "csv" / f"{name}.csv").open(newline="") as stream:
            texts = list(csv.DictReader(stream))
        assert len(typed) == len(texts) == n > 0
        for one, other in zip(typed, texts, strict=True):
            assert {column for column, value in one.items() if value is None} <= {
                column for column, text in other.items() if text == ""
            }
            assert all(json.loads(other[column]) == value for column, value in one.items() if isinstance(value, list))


@pytest.mark.parametrize("to", ["hf", "csv", "inspect"])
def test_two_exports_of_one_run_are_equal_to_the_byte(to: Form, runs: dict[str, Path], tmp_path: Path) -> None:
    for name in ("a", "b"):
        export_run(runs["judged"], to, tmp_path / name, Choice())
    first = contents(tmp_path / "a")
    assert first == contents(tmp_path / "b")
    export_run(runs["judged"], to, tmp_path / "a", Choice())
    assert contents(tmp_path / "a") == first


@pytest.mark.parametrize(("kind", "table"), [("judged", "gold"), ("experiment", "episodes")])
def test_what_a_judge_must_not_see_is_exported_only_on_request(kind, table, runs, tmp_path) -> None:
    export_run(runs[kind], "parquet", tmp_path / "out", Choice())
    assert not (tmp_path / "out" / f"{table}.parquet").exists()
    assert all("gold" not in name for name in contents(tmp_path / "out"))


def test_a_run_without_records_has_empty_tables_of_the_same_columns(tmp_path: Path, runs: dict[str, Path]) -> None:
    empty = repaired_run(tmp_path / "empty", [])
    assert export_run(empty, "parquet", tmp_path / "none", Choice())["attempts"] == 0
    export_run(runs["repaired"], "parquet", tmp_path / "some", Choice())
    for name in ("attempts", "signals"):
        none, some = (pq.read_schema(tmp_path / out / f"{name}.parquet") for out in ("none", "some"))
        assert none == some


def test_an_unfinished_run_is_refused_with_the_line_that_continues_it(tmp_path: Path) -> None:
    run = repaired_run(tmp_path / "half", [], finished=False)
    manifest = run / MANIFEST
    manifest.write_text(manifest.read_text().replace("arguments = [", 'arguments = ["repair", "run",'))
    with pytest.raises(UsageError, match=r"not finished\. Continue it: misstep repair run /home/ann/cases --out"):
        export_run(run, "csv", tmp_path / "out", Choice())
    assert not (tmp_path / "out").exists()


def test_no_field_of_a_csv_is_a_formula(tmp_path: Path) -> None:
    attempt = repaired("apple", patch="=cmd|' /C calc'!A0")
    export_run(repaired_run(tmp_path / "run", [attempt]), "csv", tmp_path / "out", Choice())
    with (tmp_path / "out" / "attempts.csv").open(newline="") as stream:
        assert [row["patch"] for row in csv.DictReader(stream)] == ["'=cmd|' /C calc'!A0"]
