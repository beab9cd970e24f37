"""The files of a run are known by what is in them: a rotated log is not new, and what it had is not gone."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from misstep.harness.journal.inputs import FileState, file_state
from misstep.harness.runs.moved_files import earlier_place, places_of


def _written(folder: Path, files: Mapping[str, str]) -> list[tuple[Path, FileState]]:
    for file in folder.iterdir():
        file.unlink()
    for name, content in files.items():
        (folder / name).write_text(content)
    return [(folder / name, file_state(folder / name)) for name in files]


GONE = earlier_place("log")


@pytest.mark.parametrize(
    ("before", "after", "changed", "read"),
    [
        ({"log": "a"}, {"log": "a", "new": "b"}, {"new": None}, {"new"}),
        ({"log": "a"}, {"log": "a, b"}, {"log": None}, {"log"}),
        ({"log": "a"}, {"log.1": "a"}, {"log": "log.1"}, set()),
        ({"log": "a"}, {"log.1": "a", "log": "b"}, {"log": "log.1"}, {"log"}),
        ({"log": "a"}, {"log.1": "a, b", "log": "c"}, {"log": None, "log.1": None}, {"log", "log.1"}),
        ({"log": "a", "log.1": "b"}, {"log.1": "a", "log.2": "b"}, {"log": "log.1", "log.1": "log.2"}, set()),
        ({"log": "b", "new": "a"}, {"log": "a"}, {"new": "log", "log": GONE}, set()),
        ({"log": "a", "copy": "a"}, {"copy": "a", "log": "b"}, {"log": None}, {"log"}),
        ({"log": "a", "two": "a"}, {"log.1": "a", "two.1": "a"}, {"log": "log.1", "two": "two.1"}, set()),
        ({"log": "a"}, {}, {}, set()),
    ],
)
def test_what_became_of_each_file(tmp_path: Path, monkeypatch, before, after, changed, read) -> None:
    monkeypatch.chdir(tmp_path)
    known = {state.file: state for _, state in _written(Path(), before)}
    places = places_of(known, _written(Path(), after), again=False)
    named = {file: place for file, place in places.changed.items() if not file.endswith("since)")}
    assert (named, places.read) == (changed, read)


def test_what_is_cut_off_is_nowhere_and_a_file_that_is_not_looked_at_is_where_it_was(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    known = {state.file: state for _, state in _written(Path(), {"log": "a", "other": "a"})}
    Path("log").write_text("b")
    places = places_of(known, [(Path("log"), file_state(Path("log")))], again=False)
    assert (places.of("log"), places.of("other")) == (None, "other")
    assert places.rewritten == {"log", GONE}
