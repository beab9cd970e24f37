"""`misstep view`: a file in, one trajectory's page out."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from misstep.view import app, file_name
from misstep_harness.errors import InputError, UsageError
from tests.analysis.pages.html_rules import check_page
from tests.misstep.as_a_user import command_of


def record(id_: str, text: str = "I look first.") -> dict:
    """A run in ATIF in which one call is made four times for the same answer."""
    call = {"tool_call_id": "c", "function_name": "bash", "arguments": {"command": "cat missing.txt"}}
    answer = {"results": [{"source_call_id": "c", "content": "cat: missing.txt: No such file or directory"}]}
    repeated = {"source": "agent", "message": text, "tool_calls": [call], "observation": answer}
    turns = [{"source": "user", "message": "Read missing.txt."}, *[repeated] * 4]
    return {
        "schema_version": "ATIF-v1.4",
        "session_id": id_,
        "agent": {"name": "made-up", "version": "1"},
        "steps": [{"step_id": number, **turn} for number, turn in enumerate(turns, 1)],
    }


def write(path: Path, *records: dict) -> Path:
    path.write_text("\n".join(json.dumps(one) for one in records) + "\n")
    return path


def text_of(path: Path) -> str:
    return " ".join(check_page(path.read_text()).text.split())


run = command_of(app)


def test_a_page_shows_every_step_and_marks_the_loop(tmp_path):
    out = tmp_path / "new" / "run.html"
    result = run(write(tmp_path / "run.json", record("run-1")), "--out", out)
    assert (result.exit_code, result.stdout) == (0, f"{out}\n")
    page = check_page(out.read_text())
    assert {f"step-{number}" for number in range(5)} <= set(page.ids)
    assert "infinite loop yes" in " ".join(page.text.split())
    assert "#step-1" in page.addresses


def test_the_page_is_named_by_the_id_where_no_name_is_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(write(tmp_path / "run.json", record("a/b c"))).stdout == "a-b-c.html\n"
    check_page((tmp_path / "a-b-c.html").read_text())


@pytest.mark.parametrize(
    ("id_", "name"),
    [("../../etc/passwd", "etc-passwd"), ("...", "trajectory"), ("日本", "trajectory"), ("x" * 200, "x" * 80)],
)
def test_an_id_never_leads_out_of_the_folder(id_, name):
    assert file_name(id_) == name


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return write(tmp_path / "runs.jsonl", record("run-1"), record("run-2"))


def test_of_several_the_first_is_shown_and_the_others_are_told_of(tmp_path, two):
    result = run(two, "--out", tmp_path / "out.html")
    assert "<dt>Id</dt><dd><bdi>run-1</bdi></dd>" in (tmp_path / "out.html").read_text()
    text = "2 trajectories; this is the first. For another, give --id run-2; for all in one page, --all."
    assert text in result.stderr


def test_an_unknown_id_lists_those_that_are_there(tmp_path, two):
    result = run(two, "--id", "run-3", "--out", tmp_path / "out.html")
    assert isinstance(result.exception, UsageError)
    assert "There are: run-1, run-2." in str(result.exception)


def test_a_broken_line_is_named_and_exit_is_1_while_the_page_is_made(tmp_path):
    path = write(tmp_path / "runs.jsonl", record("run-1"))
    path.write_text(path.read_text() + '{"schema_version": \n')
    result = run(path, "--out", tmp_path / "out.html")
    assert result.exit_code == 1
    assert f"{path}:2" in result.stderr
    assert (tmp_path / "out.html").is_file()


def test_a_run_is_found_by_the_name_that_classify_gave_it(tmp_path):
    path = write(tmp_path / "runs.jsonl", record("one"), record("one", "I look again."))
    run(path, "--id", "one~2", "--out", tmp_path / "second.html")
    assert "I look again." in (tmp_path / "second.html").read_text()
    other = run(path, "--id", "one~3", "--out", tmp_path / "other.html")
    assert (other.exit_code, other.stderr) == (0, "misstep: one~3 is not here; this is one.\n")


def test_an_observer_has_a_lane_only_if_it_is_asked_for(tmp_path):
    file = write(tmp_path / "run.json", record("run-1"))
    run(file, "--out", tmp_path / "plain.html")
    run(file, "--observer", "--out", tmp_path / "observed.html")
    lanes = [
        check_page((tmp_path / name).read_text()).ids.count("observer") for name in ("plain.html", "observed.html")
    ]
    assert lanes == [0, 1]
    assert f"misstep view {file} --id run-1 --observer" in text_of(tmp_path / "observed.html")


def test_a_file_without_trajectories_is_an_error(tmp_path):
    (tmp_path / "folder").mkdir()
    assert isinstance(run(tmp_path / "folder", "--out", tmp_path / "out.html").exception, InputError)
    assert not (tmp_path / "out.html").exists()


def test_the_command_in_the_foot_makes_the_same_page_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Path("run.json"), record("it's one"))
    run("run.json", "--out", "first.html")
    page = check_page(Path("first.html").read_text())
    assert "misstep view run.json --id 'it'\"'\"'s one'" in page.text


@pytest.mark.data
def test_a_real_run_becomes_a_page(data_folder, tmp_path):
    file = data_folder / "agent_trajs" / "mini-swe-agent" / "github_issue.traj.json.gz"
    assert run(file, "--out", tmp_path / "out.html").exit_code == 0
    check_page((tmp_path / "out.html").read_text())


def folder_of_two(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    write(folder / "a.jsonl", record("run-1"), record("run-2"))
    write(folder / "b.json", record("run-1", "I look again."))
    return folder


def test_a_folder_of_runs_becomes_one_page_named_after_it(tmp_path, monkeypatch):
    folder = folder_of_two(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert (run(folder).exit_code, run("runs").stdout) == (0, "runs.html\n")
    text = check_page(Path("runs.html").read_text()).text
    assert "3 runs, 3 went wrong" in text
    assert "run-1~2" in text
    assert "misstep view runs\n" in text


def test_of_a_file_all_runs_are_shown_where_they_are_asked_for(tmp_path, two):
    run(two, "--all", "--out", tmp_path / "out.html")
    text = check_page((tmp_path / "out.html").read_text()).text
    assert "2 runs, 2 went wrong" in text
    assert f"misstep view {two} --all\n" in text


def test_a_parquet_file_and_a_lake_of_runs_become_one_page(tmp_path):
    bodies = [json.dumps(record("run-1")), json.dumps(record("run-2"))]
    (tmp_path / "lake").mkdir()
    pq.write_table(pa.table({"id": ["run-1", "run-2"], "atif": bodies}), tmp_path / "lake" / "part-00000.parquet")
    for path in (tmp_path / "lake", tmp_path / "lake" / "part-00000.parquet"):
        run(path, "--out", tmp_path / "out.html")
        assert "2 runs, 2 went wrong" in text_of(tmp_path / "out.html")


def test_a_folder_with_one_run_is_shown_as_that_run_and_an_id_chooses_one_of_more(tmp_path):
    folder = folder_of_two(tmp_path)
    run(folder, "--id", "run-1~2", "--out", tmp_path / "out.html")
    assert "I look again." in (tmp_path / "out.html").read_text()
    (folder / "a.jsonl").unlink()
    run(folder, "--out", tmp_path / "out.html")
    assert "<dt>Id</dt><dd><bdi>run-1</bdi></dd>" in (tmp_path / "out.html").read_text()


def test_what_cannot_be_read_in_a_folder_is_named_on_its_page_and_exit_is_1(tmp_path):
    folder = folder_of_two(tmp_path)
    (folder / "c.json").write_text('{"steps": [')
    result = run(folder, "--out", tmp_path / "out.html")
    assert (result.exit_code, "c.json: no JSON" in result.stderr) == (1, True)
    assert "1 run could not be read" in (tmp_path / "out.html").read_text()
