"""Whatever is in an export where something else should: its ratings are read, or an error says what is wrong."""

import copy
import gzip
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from misstep_analysis.labels import Reading, read_questions
from misstep_harness.errors import MisstepError
from tests.analysis.labels import test_tools as made
from tests.analysis.labels.workbook import workbook

EXPORTS = {
    "Label Studio": made.LABEL_STUDIO,
    "Prodigy": made.PRODIGY,
    "Argilla": made.ARGILLA,
    "Argilla, by user": made.ARGILLA_USERS,
    "Argilla, in columns": made.ARGILLA_COLUMNS,
    "Argilla, by question": made.ARGILLA_QUESTIONS,
}
ODD = st.sampled_from([None, True, 0, -1.5, 10**30, "", "x", "\u0000", "\x1b[2J", [], [None], [[]], {}, {"a": [1]}])


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every part of a document."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), st.sampled_from(sorted(EXPORTS)), ODD, st.sampled_from(["", "question"]), st.booleans())
def test_a_part_that_is_something_else_is_read_over_or_named(tmp_path, data, name, odd, by, drop) -> None:
    document = copy.deepcopy(EXPORTS[name])
    *way, last = data.draw(st.sampled_from(list(places(document))))
    inner: Any = document
    for key in way:
        inner = inner[key]
    if drop:
        del inner[last]
    else:
        inner[last] = odd
    check(tmp_path, json.dumps(document).encode(), by)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_file_that_is_cut_or_overwritten_is_read_or_named(tmp_path: Path, data: st.DataObject) -> None:
    csv = made.CSV.encode()
    rows: list[list[object]] = [["item", "ann", "ben"], ["1", 1, 2.5], ["2", "a", None]]
    lines = "".join(json.dumps(task) + "\n" for task in made.PRODIGY).encode()
    content = bytearray(data.draw(st.sampled_from([csv, gzip.compress(csv), workbook(Labels=rows), lines])))
    at = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content = content[:at]
    else:
        content[at] = data.draw(st.integers(0, 255))
    check(tmp_path, bytes(content), "")


def test_a_workbook_whose_parts_are_damaged_is_read_or_named(tmp_path: Path) -> None:
    content = workbook(Labels=[["item", "ann", "ben"], ["1", 1, 2.5], ["2", "a", None]])
    for at in range(len(content) // 3, len(content) // 2):
        check(tmp_path, content[:at] + b"\x05" + content[at + 1 :], "")


def check(folder: Path, content: bytes, by: str) -> None:
    """Read a file; only the project's own errors may come out."""
    path = folder / "labels"
    path.write_bytes(content)
    with suppress(MisstepError):
        read_questions(path, Reading(by=by, keep="last"))
