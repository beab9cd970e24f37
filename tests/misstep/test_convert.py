"""`misstep convert`: every trajectory as a file in ATIF, whatever else lies in the folder."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from misstep.convert import app
from misstep_harness.errors import MisstepError, UsageError
from misstep_harness.readers import read_file
from misstep_harness.runs.convert import FileNames
from misstep_harness.runs.inputs import trajectories
from misstep_harness.trajectory import Source, Trajectory
from tests.families.recordings import recording_of
from tests.misstep.made_up import atif, atif_lines

LINE = "a line that no reader knows\n"


def convert(*arguments: object) -> Result:
    """Run the command; an error of ours is raised, as `misstep` itself turns it into a line."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(result.exception, MisstepError):
        raise result.exception
    return result


def as_json(*arguments: object) -> dict[str, Any]:
    return json.loads(convert(*arguments, "--json").stdout)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with trajectories in three formats among other files."""
    here = tmp_path / "runs"
    (here / "deep").mkdir(parents=True)
    (here / "tau").write_bytes(recording_of("taubench"))
    (here / "deep" / "mini").write_bytes(recording_of("mini_swe_agent"))
    (here / "gate").write_bytes(recording_of("atif"))
    (here / "notes.txt").write_text(LINE)
    (here / "settings.toml").write_text("[tool]\nname = 1\n")
    (here / "table.csv").write_text("a,b\n1,2\n")
    return here


def test_each_trajectory_is_a_file_of_its_own_and_reads_as_before(folder: Path, tmp_path: Path) -> None:
    document = as_json(folder, "--to", "atif", "--out", tmp_path / "out")
    assert document["n"] == len(document["written"]) == 5
    before = {one.id: one for path in ("tau", "deep/mini", "gate") for one in read_file(folder / path)}  # type: ignore[union-attr]
    after = {one.id: one for path in document["written"] for one in read_file(Path(path))}  # type: ignore[union-attr]
    assert after == before
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "3-0.json",
        "3-1.json",
        "acme__gate-7.json",
        "gate-helper.json",
        "gate-main.json",
    ]


def test_the_table_has_a_line_a_format_with_trajectories_and_steps(folder: Path, tmp_path: Path) -> None:
    result = convert(folder, "--out", tmp_path / "out")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["format", "trajectories", "steps"]
    assert ["taubench", "2", "8"] in lines
    assert ["atif", "2", "6"] in lines
    assert result.exit_code == 0


def test_converted_again_the_bytes_are_the_same(folder: Path, tmp_path: Path) -> None:
    atif_lines(folder / "same.jsonl", ["twin"] * 12)
    once, twice = tmp_path / "once", tmp_path / "twice"
    assert convert(folder, "--out", once).exit_code == 0
    assert convert(once, "--out", twice).exit_code == 0
    content = {path.name: path.read_bytes() for path in once.iterdir()}
    assert len(content) == 17
    assert {path.name: path.read_bytes() for path in twice.iterdir()} == content


def test_the_same_line_again_replaces_what_a_stopped_one_left(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    convert(folder, "--out", out)
    finished = {path.name: path.read_bytes() for path in out.iterdir()}
    (out / "3-0.json").unlink()
    (out / "3-1.json").write_bytes(b"")
    (out / ".gate-main.json.part").write_bytes(b'{"half')
    convert(folder, "--out", out)
    assert {path.name: path.read_bytes() for path in out.iterdir() if not path.name.startswith(".")} == finished


def test_what_steps_refer_to_again_and_again_does_not_make_the_output_many_times_the_input(tmp_path: Path) -> None:
    lines = [
        {"role": "user", "content": "attachment://a"},
        {"role": "assistant", "content": [{"image": "tc://a"}]},
    ] * 100
    samples = [{"id": n, "messages": lines, "attachments": {"a": str(n) * 20_000}} for n in range(3)]
    log = {"version": 2, "eval": {"task": "t", "model": "m"}, "plan": "p" * 90_000, "samples": samples}
    (tmp_path / "log.json").write_text(json.dumps(log), encoding="utf-8")
    convert(tmp_path / "log.json", "--out", tmp_path / "out")
    written = sum(file.stat().st_size for file in (tmp_path / "out").iterdir())
    assert written < 3 * (tmp_path / "log.json").stat().st_size
    read, again = ({one.id: one for one in trajectories([tmp_path / name])} for name in ("log.json", "out"))  # type: ignore[union-attr]
    assert read == again


def test_a_broken_line_is_named_with_file_and_line_and_the_others_are_written(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(atif("first") + b"{broken\n" + atif("third"))
    result = convert(path, "--out", tmp_path / "out", "--json")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert document["n"] == 2
    assert [(one["file"], one["line"]) for one in document["unreadable"]] == [(str(path), 2)]
    assert f"{path}:2" in result.stderr


def test_another_format_to_write_is_an_error(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Give --to atif"):
        convert(folder, "--to", "xml", "--out", tmp_path / "out")


@pytest.mark.parametrize("out", ["runs", "runs/atif"])
def test_a_conversion_does_not_read_what_it_writes(folder: Path, tmp_path: Path, out: str) -> None:
    with pytest.raises(UsageError, match="which the command reads"):
        convert(folder, "--out", tmp_path / out)


@given(
    st.lists(st.text(max_size=300) | st.sampled_from(["../../etc/x", "/", "..", "a/b", "A", "a", "\x00"]), max_size=8)
)
def test_a_file_name_escapes_no_folder_is_bounded_and_given_once(ids: list[str]) -> None:
    names = FileNames()
    given_names = [names.name(Trajectory(one, Source("atif", "f", 1))) for one in ids]
    assert len({name.lower() for name in given_names}) == len(ids)
    for name in given_names:
        assert Path(name).name == name
        assert not name.startswith(".")
        assert len(name) <= 140


@pytest.mark.parametrize("content", [b"", b"\n \r\n", b"\xef\xbb\xbf", b"\xff\xfe", gzip.compress(b"", mtime=0)])
def test_an_empty_file_is_listed_in_a_folder_and_unreadable_where_it_is_named(folder, tmp_path, content) -> None:
    (folder / "empty.jsonl").write_bytes(content)
    result = convert(folder, "--out", tmp_path / "out", "--json")
    assert result.exit_code == 0
    skipped = {Path(one["file"]).name: one["reason"] for one in json.loads(result.stdout)["skipped"]}
    assert skipped["empty.jsonl"] == "the file is empty"
    result = convert(folder / "empty.jsonl", "--out", tmp_path / "out2")
    assert result.exit_code == 1
    assert "empty.jsonl: the file is empty" in result.stderr
