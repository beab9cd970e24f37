"""Rows out and in: what is written reads back, and what is broken is named with file and line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from misstep_harness.errors import InputError
from misstep_harness.journal.records import (
    MANIFEST,
    Records,
    encode_lines,
    items_in,
    read_manifest,
    read_records,
    read_verdicts,
    replace_file,
    write_manifest,
)
from misstep_harness.verdict import Verdict
from tests.harness.journal.made_up import manifest as _manifest

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
ANSWERED = st.builds(Verdict, TEXT, TEXT, TEXT, steps=st.tuples(st.integers(0, 99)), rationale=TEXT)
UNANSWERED = st.builds(Verdict, TEXT, TEXT, st.none(), st.sampled_from(["abstained", "failed"]))
TWO = [Verdict("a", "judge", "yes", steps=(1, 2)), Verdict("a\nb", "judge", None, "abstained")]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ANSWERED | UNANSWERED, max_size=5))
def test_verdicts_read_back_as_they_were_written(tmp_path: Path, verdicts: list[Verdict]) -> None:
    replace_file(tmp_path / "verdicts.jsonl", encode_lines(verdicts))
    assert list(read_verdicts(tmp_path)) == verdicts
    assert list(items_in(tmp_path / "verdicts.jsonl")) == [verdict.item for verdict in verdicts]


def test_a_half_written_last_line_is_an_error_unless_the_run_may_be_unfinished(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.jsonl"
    file.write_bytes(encode_lines(TWO)[:-20])
    with pytest.raises(InputError, match=r"verdicts\.jsonl:2: not a valid verdict"):
        list(read_verdicts(file))
    assert list(read_verdicts(file, unfinished=True)) == TWO[:1]


def test_a_broken_line_before_the_last_is_an_error_in_any_run(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.jsonl"
    file.write_bytes(b'{"item": "a"\n' + encode_lines(TWO))
    with pytest.raises(InputError, match=r"verdicts\.jsonl:1: "):
        list(read_verdicts(file, unfinished=True))


def test_a_label_without_an_answer_is_no_verdict(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.jsonl"
    file.write_bytes(b'{"item":"a","judge":"j","label":"no","status":"abstained"}\n')
    with pytest.raises(InputError, match="label exactly when it is answered"):
        list(read_verdicts(file))


def test_a_manifest_reads_back_and_a_folder_without_one_is_no_run(tmp_path: Path) -> None:
    assert read_manifest(tmp_path) is None
    for manifest in (_manifest(), _manifest(finished="2026-01-02T00:00:00+00:00")):
        write_manifest(tmp_path, manifest)
        assert read_manifest(tmp_path) == manifest


@pytest.mark.parametrize(
    ("content", "message"),
    [("schema = 99\n", "schema version 99"), ("schema =", "cannot be read"), ("schema = 1\n", "not the manifest")],
)
def test_a_manifest_of_another_kind_is_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / MANIFEST).write_text(content)
    with pytest.raises(InputError, match=message):
        read_manifest(tmp_path)


def test_what_a_killed_process_left_half_written_is_taken_away_by_the_next_and_what_another_writes_is_not(tmp_path):
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    left, written = (f".a.json.{process}-0.part" for process in (int(ended.stdout), os.getppid()))
    for name in (left, written, ".mine.part"):
        (tmp_path / name).write_bytes(b"half")
    replace_file(tmp_path / "b.json", b"1")
    assert {file.name for file in tmp_path.iterdir()} == {written, ".mine.part", "b.json"}


def test_several_that_write_one_file_at_once_do_not_write_into_each_other_s(tmp_path, monkeypatch) -> None:
    put = Path.replace

    def while_another_writes(building: Path, path: Path) -> Path:
        monkeypatch.setattr(Path, "replace", put)
        replace_file(path, b"the other's")
        return put(building, path)

    monkeypatch.setattr(Path, "replace", while_another_writes)
    replace_file(tmp_path / "a.json", b"the first one's")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("a.json", b"the first one's")]


def test_what_is_not_given_is_not_in_a_manifest(tmp_path: Path) -> None:
    write_manifest(tmp_path, _manifest(settings={"model": None, "settings": {"seed": None, "temperature": 0.5}}))
    written = read_manifest(tmp_path)
    assert written.settings == {"settings": {"temperature": 0.5}}


class Event(Struct, frozen=True):
    """Something that happened, of a type that the journal does not know."""

    at: int
    said: str


def test_records_of_any_type_read_back_and_what_is_none_of_them_is_named_with_its_line(tmp_path: Path) -> None:
    events = Records(Event, "events.jsonl", "event")
    file = tmp_path / "events.jsonl"
    file.write_bytes(encode_lines([Event(3, "a\nb"), Event(4, "")]))
    assert list(read_records(tmp_path, events)) == [Event(3, "a\nb"), Event(4, "")]
    file.write_bytes(encode_lines([Event(3, "a")]) + b'{"at": "x"}\n')
    with pytest.raises(InputError, match=r"events\.jsonl:2: not a valid event: Expected `int`"):
        list(read_records(tmp_path, events))
    with pytest.raises(InputError, match=r"cannot open: .* Name a run folder or its events\.jsonl"):
        list(read_records(tmp_path / "none", events))


def test_a_file_is_no_run(tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_text("no folder")
    assert read_manifest(file) is None
