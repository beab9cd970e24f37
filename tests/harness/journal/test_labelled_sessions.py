"""Sessions and their verdicts, read side by side: what does not belong together is an error, never a wrong pair."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from msgspec import Struct

from misstep_harness.errors import InputError
from misstep_harness.journal.classified import PlacedVerdict, labelled_sessions
from misstep_harness.journal.records import SESSIONS, VERDICTS, encode_lines
from misstep_harness.session import Session


def _write(file: Path, records: Iterable[Struct]) -> None:
    file.write_bytes(encode_lines(records))


def _verdict(item: str, category: str, label: str | None) -> PlacedVerdict:
    return PlacedVerdict(item, category, label, "answered" if label else "abstained", file="runs.jsonl")


def test_each_session_comes_with_its_verdicts(tmp_path: Path) -> None:
    _write(tmp_path / SESSIONS, [Session("a", "runs.jsonl"), Session("b", "runs.jsonl")])
    verdicts = [_verdict("a", "loop", "yes"), _verdict("a", "drift", None), _verdict("b", "loop", "no")]
    _write(tmp_path / VERDICTS, verdicts)
    results = [(one.session.item, one.labels) for one in labelled_sessions(tmp_path)]
    assert results == [("a", ("yes", None)), ("b", ("no",))]


@pytest.mark.parametrize(("sessions", "judged"), [("ab", "a"), ("a", "ab"), ("ab", "ba"), ("", "a")])
def test_files_that_name_other_sessions_are_an_error(tmp_path: Path, sessions: str, judged: str) -> None:
    _write(tmp_path / SESSIONS, [Session(item, "runs.jsonl") for item in sessions])
    _write(tmp_path / VERDICTS, [_verdict(item, "loop", "no") for item in judged])
    with pytest.raises(InputError, match="differ"):
        list(labelled_sessions(tmp_path))
