"""`misstep show RUN`: at most ten lines of any run, the finding first, what is missing named."""

import json
from functools import partial
from pathlib import Path

import pytest
from msgspec import structs

from misstep_harness.journal.records import read_manifest, write_manifest
from tests.misstep.as_a_user import CommandLine
from tests.misstep.made_up_exports import KINDS, classified, judged


@pytest.mark.parametrize("name", KINDS)
def test_a_run_of_any_kind_has_ten_lines_the_finding_first_and_the_records_last(name, tmp_path, in_process) -> None:
    run = KINDS[name](tmp_path)
    code, text, error = in_process("show", run)
    lines = text.splitlines()
    assert (code, error) == (0, "")
    assert 4 <= len(lines) <= 10
    shown = json.loads(in_process("show", run, "--json")[1])
    assert lines[0] == shown["finding"]
    assert lines[0].endswith(".")
    assert lines[-1] == f"rows: {shown['records']}"
    assert Path(shown["records"]).is_file()


def test_items_without_an_answer_or_a_label_are_named_as_missing(tmp_path: Path, in_process: CommandLine) -> None:
    text = in_process("show", judged(tmp_path))[1]
    assert "missing: 1 item abstained: no label" in text
    assert "missing: 2 more things; --json names them" in text


def test_of_generated_runs_that_is_said(tmp_path: Path, in_process: CommandLine) -> None:
    in_process("generate", "trajectories", "--n", 4, "--out", tmp_path / "made")
    in_process("classify", tmp_path / "made", "--out", tmp_path / "run")
    assert "evidence generated" in in_process("show", tmp_path / "run")[1]


def test_an_unfinished_run_has_no_figures_but_the_line_that_goes_on(tmp_path: Path, in_process: CommandLine) -> None:
    run = classified(tmp_path)
    write_manifest(run, structs.replace(read_manifest(run), finished="", written=None))
    assert in_process("show", run)[1].splitlines()[-2].startswith("go on: misstep classify ")
    shown = json.loads(in_process("show", run, "--json")[1])
    assert (shown["finished"], shown["figures"], shown["evidence"]) == (False, [], None)
    assert "is not finished" in shown["finding"]
    assert shown["again"].startswith("misstep classify ")


def test_a_folder_without_a_run_is_refused_in_a_line(tmp_path: Path, in_process: CommandLine) -> None:
    code, _, error = partial(in_process, "show")(tmp_path)
    assert (code, error.count("\n")) == (2, 1)
