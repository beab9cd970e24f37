"""Files to trajectories: the right reader, parts that add up to the whole, and that one broken place harms no other."""

import gzip
import json
import os
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from misstep_harness.errors import InputError, UnknownFormat, UnreadableTrajectory
from misstep_harness.protocols import Reader, Sample, Unit
from misstep_harness.readers import READERS, all_readers, plan, read_file, read_part
from misstep_harness.readers import files as files_module
from misstep_harness.readers.files import read_file as read_with
from misstep_harness.readers.files import sample_file
from misstep_harness.readers.input.decoding import decode_json, decode_lines, unreadable
from misstep_harness.trajectory import Source, Trajectory, Unreadable


class Numbers:
    """A format of one JSON object with an `id` a value: a reader small enough to see through."""

    FORMAT = "numbers"
    UNIT: Unit = "value"

    def refuse(self, sample: Sample) -> str | None:
        """Whether the first value has an id."""
        return None if isinstance(sample.first, dict) and "id" in sample.first else "no id"

    def read(self, data: bytes, source: Source) -> Iterator[Trajectory]:
        value = decode_json(data, source)
        if not isinstance(value, dict) or "id" not in value:
            raise unreadable("no id", source)
        yield Trajectory(str(value["id"]), source)


class Session(Numbers):
    """The same objects, all of a file being one trajectory."""

    FORMAT = "session"
    UNIT: Unit = "file"

    def read(self, data: bytes, source: Source) -> Iterator[Trajectory]:
        """One trajectory, named by its ids."""
        lines = decode_lines(data, source)
        yield Trajectory("+".join(str(value["id"]) for _, value in lines.values), source)


NUMBERS: Reader = Numbers()
SESSION: Reader = Session()


def lines(*ids: object) -> bytes:
    return b"".join(json.dumps({"id": number}).encode() + b"\n" for number in ids)


def seen(path: Path, *readers: Reader) -> list[tuple[str, int | None]]:
    return [_short(result) for result in read_with(path, readers or (NUMBERS,))]


def _short(result: Trajectory | Unreadable) -> tuple[str, int | None]:
    if isinstance(result, Unreadable):
        return f"! {result.error}", result.line
    return result.id, result.source.line


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.file"


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        (b'{"id": 1}', "document"),
        (b'\n\n{"id": 1}\n\n', "document"),
        (b'{\n"id": 1\n}\n', "document"),
        (b'[\n{"id": 1}\n]\n', "document"),
        (b'{"id": 1}\n\n{"id": 2}\n', "lines"),
        (b'{"id": broken\n{"id": 2}\n', "lines"),
        (b"# a heading\n", "text"),
        (b"\x00\x01\x02", "text"),
    ],
)
def test_the_shape_of_a_file_is_told_by_its_content(file: Path, text: bytes, shape: str) -> None:
    file.write_bytes(text)
    sample = sample_file(file)
    assert sample.shape == shape
    assert (sample.first is None) == (shape == "text")
    assert sample.head.strip() == text.decode().strip()


def test_what_readers_see_of_a_long_file_is_its_first_64_kib(file: Path) -> None:
    file.write_bytes(lines(*range(20_000)))
    assert len(sample_file(file).head) == 64 << 10
    assert sample_file(file).shape == "lines"
    file.write_bytes(lines("x" * 100_000, 2))
    assert sample_file(file).shape == "lines", "also where the first line is longer than what is seen"


def test_empty_and_blank_files_are_unreadable(file: Path) -> None:
    for written in (b"", b"\n\r\n \n", gzip.compress(b"")):
        file.write_bytes(written)
        assert seen(file) == [("! the file is empty", None)]


def test_a_broken_line_is_named_and_the_others_are_read(file: Path) -> None:
    file.write_bytes(lines(1) + b'{"id": \n' + b'{"id": "\xe9"}\n' + b'"none"\n' + b"\x00\x00\n" + lines(6))
    rows = seen(file)
    assert [line for _, line in rows] == [1, 2, 3, 4, 5, 6]
    assert [text.startswith("!") for text, _ in rows] == [False, True, True, True, True, False]
    assert rows[2][0] == "! not UTF-8 at byte 8"
    for written, broken in {
        b'{"id": \n{"id": 2}\n': 1,
        b'{"id": 1}\n{"id": 2': 2,
        b'{"id": 1}\n{"id": 2}': None,
    }.items():
        file.write_bytes(written)
        assert [line for text, line in seen(file) if text.startswith("!")] == ([broken] if broken else []), (
            "first or last"
        )


def test_a_file_of_nothing_but_broken_lines_is_unreadable_at_its_first(file: Path) -> None:
    file.write_bytes(b'{"id": \n{"id": \n')
    ((error, line),) = seen(file)
    assert error.startswith("! no JSON")
    assert line in (None, 1)


def test_line_ends_of_windows_and_blank_lines_change_nothing_but_the_numbers(file: Path) -> None:
    file.write_bytes(b"\r\n" + lines(1, 2).replace(b"\n", b"\r\n\r\n"))
    assert seen(file) == [("1", 2), ("2", 4)]


LONG = '{"id": %s, "timestamp": "2026-03-02T09:00:00Z", "text": "said"}'


@pytest.mark.parametrize("first", [True, False], ids=["first line", "in the middle"])
@pytest.mark.parametrize(
    ("broken", "ids", "what"),
    [
        (LONG[:40] % 7 + "\n" + LONG % 7, "7", "half a line that line {next} repeats whole"),
        (LONG[:40] % 7, "", "half a line"),
        (LONG[:40] % 7 + LONG % 7, "7", "half a line that the same line repeats whole"),
        (LONG % 7 + LONG[:40] % 8, "7", "half a line"),
        (LONG % 7 + LONG % 8, "7+8", None),
        (LONG % 7 + "  " + LONG % 8 + LONG % 9, "7+8+9", None),
        ("\0" * 1500 + LONG % 7, "7", "1,500 zero bytes, which overwrote what was there"),
        (LONG[:40] % 6 + "\0\0" + LONG % 7, "7", "half a line"),
        ("\0" * 8, "", "8 zero bytes, which overwrote what was there"),
        ("warning: disk full", "", "words that are no JSON object"),
        ('{"id": 7, "timestamp": "t", "text": [{"id": 8, "text": "no line"}', "", "half a line"),
    ],
)
def test_what_is_whole_of_a_damaged_session_is_read_and_what_is_lost_is_named(
    file: Path, capsys: pytest.CaptureFixture[str], *, first: bool, broken: str, ids: str, what: str | None
) -> None:
    if first and not broken.startswith(("{", "\0")):
        return  # a file that begins with words is a text
    before = [] if first else [LONG % 1, LONG % 2]
    number = len(before) + 1
    file.write_text("\n".join([*before, broken, LONG % 3, LONG % 4, LONG % 5]) + "\n")
    expected = "+".join([*(() if first else "12"), *filter(None, [ids]), *"345"])
    assert seen(file, SESSION) == [(expected, None)] == seen(file, SESSION)
    said = capsys.readouterr().err
    if what is None:
        assert not said
    else:
        assert f"{file}:{number}: {what.format(next=number + 1)}; the rest of the file is read\n" in said
        assert said.count(f":{number}: half") <= 1, "once, however often it is read"
        (session,) = read_with(file, (SESSION,))
        assert isinstance(session, Trajectory)
        assert number in [one["line"] for one in session.extra["lost_lines"]]


def test_a_torn_last_line_of_a_session_is_said(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(
        f"{json.dumps({'sessionId': 's', 'uuid': 'u', 'type': 'user', 'message': {'content': 'Go'}})}\n"
        + '{"type": "us'
    )
    (session,) = read_file(file)
    assert isinstance(session, Trajectory)
    assert f"{file}:2: the last line is cut off" in capsys.readouterr().err


def test_a_document_that_is_cut_off_and_a_file_of_more_halves_than_lines_are_unreadable(file: Path) -> None:
    for text in ('[{"id": 1},\n{"id": 2},\n{"id": 3}\n', '{"id": 1,\n"a": 2,\n{"id": 3}\n'):
        file.write_text(text)
        ((error, line),) = seen(file, SESSION)
        assert error.startswith("! no JSON")
        assert line in (None, 1)


@pytest.mark.parametrize(
    ("damaged", "expected"),
    [
        ("{1}{2}\n{3}\n", [("1", 1), ("2", 1), ("3", 2)]),
        ("{3}\n{half}\n{1}\n", [("3", 1), ("! no JSON: JSON is malformed: invalid character (byte 39)", 2), ("1", 3)]),
        ("{3}\n{1}{half}\n{2}\n", [("3", 1), ("1", 2), ("! half a line", 2), ("2", 3)]),
        ("{3}\n{2}{half}\n", [("3", 1), ("2", 2), ("! half a line", 2)]),
        ("\0\0{1}\n{2}\n", [("1", 1), ("2", 2)]),
    ],
)
def test_of_damaged_lines_that_are_sessions_the_whole_ones_are_read(
    file: Path, damaged: str, expected: list[tuple[str, int]]
) -> None:
    for number in "123":
        damaged = damaged.replace(f"{{{number}}}", LONG % number)
    file.write_text(damaged.replace("{half}", LONG[:40] % 1))
    assert seen(file) == expected


def test_of_a_truncated_archive_the_lines_before_the_break_are_read(file: Path) -> None:
    packed = gzip.compress(lines(*range(100_000)))
    file.write_bytes(packed[: len(packed) // 2])
    *whole, (error, line) = seen(file)
    assert len(whole) > 10_000
    assert whole == [(str(number), number + 1) for number in range(len(whole))]
    assert error.startswith("! cannot be read further")
    assert line == len(whole) + 1


def test_a_truncated_document_or_session_is_unreadable(file: Path) -> None:
    document = b'{"id": 1, "noise": "' + os.urandom(9000).hex().encode() + b'"}'
    for content, reader in ((document, NUMBERS), (lines(*range(100_000)), SESSION)):
        packed = gzip.compress(content)
        file.write_bytes(packed[: len(packed) // 2])
        assert [text.startswith("! cannot be read to its end") for text, _ in seen(file, reader)] == [True]


def test_a_line_of_60_mb_is_read_in_memory_of_few_times_its_length(file: Path) -> None:
    length = 60_000_000
    with file.open("wb") as stream:
        stream.write(lines(1) + b'{"id": 2, "noise": "')
        stream.writelines(b"x" * 1_000_000 for _ in range(length // 1_000_000))
        stream.write(b'"}\n' + lines(3))
    tracemalloc.start()
    assert seen(file) == [("1", 1), ("2", 2), ("3", 3)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * length


def test_a_line_over_the_limit_is_named_and_the_next_are_read(file: Path) -> None:
    with file.open("wb") as stream:
        stream.write(lines(1) + b'{"id": "')
        stream.writelines(b"x" * (1 << 20) for _ in range(65))
        stream.write(b'"}\n' + lines(3))
    assert seen(file) == [("1", 1), ("! a line over 64 MiB", 2), ("3", 3)]
    ((error, line),) = seen(file, SESSION)
    assert (error, line) == ("! a line over 64 MiB", 2)


def test_a_document_over_the_limit_is_unreadable(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_module, "DOCUMENT_LIMIT", 1000)
    file.write_bytes(lines("x" * 2000))
    assert [text.startswith("! a document over") for text, _ in seen(file)] == [True]


@pytest.mark.parametrize(
    ("content", "nearest"),
    [
        ('{"greeting": "hello"}\n', "chat_log: no list of messages that say who speaks"),
        ('{"conversation": "hello"}\n', "goose: no working_dir and list `conversation`"),
        ("hello\n", "chat_log: not JSON"),
    ],
)
def test_a_file_of_no_known_format_is_said_with_the_reason_of_the_nearest_alone(file, content, nearest) -> None:
    file.write_text(content)
    with pytest.raises(UnknownFormat) as raised:
        list(read_file(file))
    assert list(raised.value.reasons) == list(READERS)
    assert all(raised.value.reasons.values())
    names = {name for name in READERS if f"{name}: " in raised.value.line()}
    assert names == {nearest.split(":")[0]}
    assert f"; the nearest is {nearest}" in raised.value.line()


def test_a_zip_archive_that_is_no_eval_log_is_told_so(file: Path) -> None:
    file.write_bytes(b"PK\x03\x04" + bytes(50))
    with pytest.raises(UnknownFormat, match=r"inspect_ai: a zip archive without header\.json"):
        list(read_file(file))


def test_a_file_that_is_gone_is_an_error_and_in_a_part_an_unreadable_one(file: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened"):
        list(read_file(file))
    file.write_bytes(lines(1, 2))
    (part,) = plan(file, [NUMBERS])
    file.unlink()
    assert [_short(found)[0] for found in read_part(part, NUMBERS)] == ["! cannot be opened: No such file or directory"]


def test_the_field_of_an_error_is_part_of_what_is_said(file: Path) -> None:
    class Named(Numbers):
        def read(self, data: bytes, source: Source) -> Iterator[Trajectory]:
            raise UnreadableTrajectory(f"no number in {len(data)} bytes", field="steps[3]", file=source.file)

    file.write_bytes(lines(1))
    assert seen(file, Named()) == [("! steps[3]: no number in 10 bytes", None)]


def test_files_that_cannot_be_cut_are_one_part(file: Path) -> None:
    for written, reader in (
        (gzip.compress(lines(1, 2), mtime=0), NUMBERS),
        (lines(1, 2).decode().encode("utf-16"), NUMBERS),
        (b'{"id": 1}', NUMBERS),
        (lines(1, 2), SESSION),
    ):
        file.write_bytes(written)
        (part,) = plan(file, [reader], part_bytes=1)
        assert (part.offset, part.size) == (0, None)


LINES = st.lists(
    st.sampled_from(
        [b'{"id": 1}', b'{"id": "a long name, longer than many parts"}', b"", b"  ", b'{"id": ', b"\xff\r"]
    ),
    max_size=25,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rest=LINES, ended=st.booleans(), marked=st.booleans(), part_bytes=st.integers(1, 200))
def test_parts_of_any_length_give_what_the_whole_gives_with_the_same_lines(file, rest, ended, marked, part_bytes):
    written = b"\n".join([b'{"id": 0}', *rest]) + (b"\n" if ended else b"")
    file.write_bytes((b"\xef\xbb\xbf" if marked else b"") + written)
    parts = list(plan(file, [NUMBERS], part_bytes))
    assert [_short(result) for part in parts for result in read_part(part, NUMBERS)] == seen(file)
    if parts[0].size is not None:
        assert sum(part.size or 0 for part in parts) == file.stat().st_size
        assert all((part.size or 0) >= part_bytes for part in parts[:-1])


def test_no_reader_fails_on_what_is_first_in_a_file() -> None:
    objects = ({}, {"type": []}, {"messages": 3}, {"payload": {}, "type": {}})
    for shape in ("document", "lines", "text"):
        for first in (None, 1, "x", [], [[]], [{}], [None], *objects):
            for reader in all_readers():
                assert reader.refuse(Sample(Path("x"), shape, first, "")), f"{reader.FORMAT} takes {first!r}"  # type: ignore[arg-type]
