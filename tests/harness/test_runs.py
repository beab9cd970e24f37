"""A run that was cut anywhere is gone on with as if nothing had happened."""

import multiprocessing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import InputError, UsageError
from harness.records import SCHEMA, VERDICTS, Inputs, Manifest
from harness.runs import PROGRESS, RunInProgress, begin, digest_files, finish

STRETCHES = [b"a\n", b"", b"bb\nccc\n", b"d" * 40 + b"\n", b"e\nf\n"]
WHOLE = b"".join(STRETCHES)


def _run_on(folder: Path, until: int = len(STRETCHES)) -> list[int]:
    """Append what is missing, up to a stretch, and give what was noted of all."""
    with RunInProgress(folder, int) as run:
        for number in range(len(run.entries), until):
            run.append(STRETCHES[number], number)
        return run.entries


def _manifest(**changes: object) -> Manifest:
    values: dict[str, object] = {
        "schema": SCHEMA,
        "command": "classify",
        "arguments": [],
        "misstep": "1",
        "python": "3",
        "started": "then",
        "asked": {"categories": ["a", "b"]},
        "inputs": Inputs(1, 2, "ff"),
    }
    return Manifest(**(values | changes))  # type: ignore[arg-type]


def test_stretches_are_written_in_order_and_noted(tmp_path: Path) -> None:
    assert _run_on(tmp_path) == list(range(len(STRETCHES)))
    assert (tmp_path / VERDICTS).read_bytes() == WHOLE


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(st.integers(0, len(WHOLE) + 30), st.integers(0, 200), st.integers(0, len(STRETCHES)))
def test_cut_at_any_byte_of_either_file_it_goes_on_to_the_same_bytes(
    tmp_path: Path, verdict_bytes: int, progress_bytes: int, until: int
) -> None:
    for file in tmp_path.iterdir():
        file.unlink()
    _run_on(tmp_path, until)
    for name, kept in ((VERDICTS, verdict_bytes), (PROGRESS, progress_bytes)):
        file = tmp_path / name
        file.write_bytes(file.read_bytes()[:kept])
    assert _run_on(tmp_path) == list(range(len(STRETCHES)))
    assert (tmp_path / VERDICTS).read_bytes() == WHOLE


def test_verdicts_written_before_their_note_are_written_again_not_twice(tmp_path: Path) -> None:
    _run_on(tmp_path, 3)
    with (tmp_path / VERDICTS).open("ab") as stream:
        stream.write(b"half a li")
    assert _run_on(tmp_path, 3) == [0, 1, 2]
    assert (tmp_path / VERDICTS).read_bytes() == b"".join(STRETCHES[:3])


def test_a_broken_line_in_the_journal_ends_what_is_trusted(tmp_path: Path) -> None:
    _run_on(tmp_path)
    journal = tmp_path / PROGRESS
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([lines[0], b"{]\n", *lines[2:]]))
    assert _run_on(tmp_path, 0) == [0]
    assert _run_on(tmp_path) == list(range(len(STRETCHES)))
    assert (tmp_path / VERDICTS).read_bytes() == WHOLE


def _try_to_open(folder: Path, said: "multiprocessing.SimpleQueue[str]") -> None:
    try:
        RunInProgress(folder, int).close()
        said.put("")
    except UsageError as error:
        said.put(error.line())


def test_two_processes_never_write_one_run(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    said = context.SimpleQueue()
    with RunInProgress(tmp_path, int):
        other = context.Process(target=_try_to_open, args=(tmp_path, said))
        other.start()
        other.join(30)
    assert "another process is writing" in said.get()


def test_beginning_twice_finds_what_was_begun(tmp_path: Path) -> None:
    first = begin(tmp_path / "deep" / "run", _manifest())
    assert begin(tmp_path / "deep" / "run", _manifest(started="now", python="4", arguments=["-v"])) == first


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"command": "observe"}, "of `misstep classify`"),
        ({"asked": {"categories": ["a"]}}, "categories were a, b and are now a"),
        ({"inputs": Inputs(2, 2, "ee")}, "inputs were 1 file of 2 bytes"),
        ({"misstep": "2"}, "begun by Misstep 1"),
    ],
)
def test_a_folder_with_another_run_is_refused_in_one_sentence(
    tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    begin(tmp_path, _manifest())
    with pytest.raises(UsageError, match=said) as caught:
        begin(tmp_path, _manifest(**changes))
    assert "\n" not in caught.value.line()


def test_a_finished_run_stays_as_it_is_under_a_newer_version(tmp_path: Path) -> None:
    begin(tmp_path, _manifest())
    finish(tmp_path, _manifest(), "later")
    assert begin(tmp_path, _manifest(misstep="2")).finished == "later"


def test_finishing_takes_the_journal_away_and_may_be_done_again(tmp_path: Path) -> None:
    manifest = begin(tmp_path, _manifest())
    _run_on(tmp_path)
    for _ in range(2):
        finish(tmp_path, manifest, "later")
        assert not (tmp_path / PROGRESS).exists()


def test_verdicts_without_a_manifest_are_somebody_elses(tmp_path: Path) -> None:
    (tmp_path / VERDICTS).write_text("precious")
    with pytest.raises(UsageError, match=r"no run\.toml"):
        begin(tmp_path, _manifest())
    assert (tmp_path / VERDICTS).read_text() == "precious"


def test_a_file_in_the_place_of_the_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(InputError, match="cannot be made a folder"):
        begin(tmp_path / "run", _manifest())


def test_the_digest_changes_with_content_name_and_order_and_with_nothing_else(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"12345")
    two.write_bytes(b"6")
    before = digest_files([one, two])
    assert (before.files, before.bytes) == (2, 6)
    one.touch()
    assert digest_files([one, two]) == before
    assert digest_files([two, one]) != before
    one.write_bytes(b"1234x")
    assert digest_files([one, two]) != before
    one.write_bytes(b"12345")
    one.rename(tmp_path / "three")
    assert digest_files([tmp_path / "three", two]).digest != before.digest
    assert digest_files([one, two]).bytes == 1
