"""Files to bytes: what is unpacked and recoded, what breaks off, what is not a file; and the archive of an eval log."""

import codecs
import gzip
import io
import json
import os
import zipfile
from pathlib import Path
from unittest.mock import Mock

import pytest

from misstep_harness.errors import InputError
from misstep_harness.readers.input import archive
from misstep_harness.readers.input.decoding import LINE_LIMIT
from misstep_harness.readers.input.streams import is_plain, open_bytes

TEXT = '{"said": "größer — 日本"}\n' * 3


def content(path: Path) -> bytes:
    with open_bytes(path) as stream:
        return stream.read()


@pytest.mark.parametrize(
    "text",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        TEXT.encode("utf-16"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        TEXT.encode("utf-32"),
        gzip.compress(TEXT.encode(), mtime=0),
        gzip.compress(TEXT.encode("utf-16"), mtime=0),
        gzip.compress(TEXT[:30].encode(), mtime=0) + gzip.compress(TEXT[30:].encode(), mtime=0),
    ],
    ids=["plain", "mark", "utf-16", "utf-16-be", "utf-32", "gzip", "gzip of utf-16", "two gzip members"],
)
def test_a_text_is_the_same_bytes_however_it_is_written(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(text)
    assert content(path) == TEXT.encode()
    assert is_plain(path) == text.startswith((b"{", codecs.BOM_UTF8))


def test_files_shorter_than_any_mark_are_read_as_they_are(tmp_path: Path) -> None:
    for written in (b"", b"a", b"\xff", b"\x1f"):
        (tmp_path / "file").write_bytes(written)
        assert content(tmp_path / "file") == written


def test_what_stands_before_a_break_is_read_and_the_break_is_said(tmp_path: Path) -> None:
    lines = b"".join(b'{"number": %d}\n' % number for number in range(50_000))
    packed = gzip.compress(lines)
    path = tmp_path / "cut.gz"
    path.write_bytes(packed[: len(packed) // 2])
    with open_bytes(path) as stream:
        assert stream.broken is None, "not before it is met"
        read = stream.read()
        assert "end-of-stream" in str(stream.broken)
    assert lines.startswith(read)
    assert len(read) > len(lines) // 4


def test_garbage_that_calls_itself_gzip_breaks_at_once(tmp_path: Path) -> None:
    path = tmp_path / "garbage.gz"
    path.write_bytes(b"\x1f\x8b" + bytes(range(256)))
    with open_bytes(path) as stream:
        assert stream.read() == b""
        assert stream.broken


def test_a_stretch_of_a_file_is_counted_in_its_own_bytes(tmp_path: Path) -> None:
    path = tmp_path / "marked.jsonl"
    path.write_bytes(codecs.BOM_UTF8 + b"one\ntwo\nthree\n")
    with open_bytes(path, 0, 7) as stream:
        assert stream.read() == b"one\n"
    with open_bytes(path, 7, 4) as stream:
        assert stream.read() == b"two\n"


def test_reading_up_to_a_limit_takes_no_more_than_there_is(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 3_000_000)
    with open_bytes(path) as stream:
        assert len(stream.read_up_to(1_500_000)) == 1_500_000
        assert len(stream.read_up_to(1 << 40)) == 1_500_000


def test_a_pipe_a_device_and_a_folder_are_errors_and_no_hang(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), tmp_path):
        with pytest.raises(InputError, match="not a regular file"):
            open_bytes(path)


def test_a_file_that_is_gone_or_locked_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="cannot be opened: No such file"):
        open_bytes(tmp_path / "gone")

    monkeypatch.setattr(os, "open", Mock(side_effect=PermissionError(13, "Permission denied")))
    with pytest.raises(InputError, match="cannot be opened: Permission denied"):
        open_bytes(tmp_path / "locked")


def zipped(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as writer:
        for name, data in members.items():
            writer.writestr(name, data)
    return packed.getvalue()


def test_an_eval_logs_archive_is_a_line_for_each_sample_under_the_header(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    samples = {f"samples/{number}_epoch_1.json": b'{\n "id": %d\n}' % number for number in (1, 2)}
    path.write_bytes(zipped({"header.json": b'{"version": 2,\n "eval": {}}', "summaries.json": b"[]"} | samples))
    lines = [json.loads(line) for line in content(path).splitlines()]
    assert lines == [{"version": 2, "eval": {}, "samples": [{"id": number}]} for number in (1, 2)]
    assert not is_plain(path)


def test_a_log_that_is_still_being_written_has_its_header_in_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(zipped({"_journal/start.json": b"{}", "samples/1_epoch_1.json": b'{"id": 1}'}))
    assert json.loads(content(path)) == {"samples": [{"id": 1}]}


def test_another_archive_is_read_as_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "other.zip"
    for packed in (zipped({"readme.txt": b"hello"}), b"PK\x03\x04" + bytes(100)):
        path.write_bytes(packed)
        assert content(path) == packed


def test_a_sample_that_makes_too_long_a_line_is_named_and_the_others_stand(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(archive, "LINE_LIMIT", 1000)
    path = tmp_path / "bomb.eval"
    header = b'{"eval": {"task": "t"}}'
    for length in (1000, 980, 1_000_000):
        samples = {"samples/1.json": b"0" * length, "samples/2.json": b'{"id": 2}'}
        path.write_bytes(zipped({"header.json": header} | samples))
        first, second = map(json.loads, content(path).splitlines())
        assert first["eval"] == {"task": "t"}, "so that it is known for what it is"
        assert "samples/1.json in the archive unpacks to over" in first["misstep_unreadable"]
        assert second == {"eval": {"task": "t"}, "samples": [{"id": 2}]}
    assert LINE_LIMIT == 64 << 20


def test_what_copies_of_a_header_come_to_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "bomb.eval"
    header = json.dumps({"version": 2, "eval": {"task": "t", "model": "m"}, "plan": {"prompt": "x" * 1_000_000}})
    samples = {f"samples/{n}.json": b'{"id": %d}' % n for n in range(100)}
    path.write_bytes(zipped({"header.json": header.encode()} | samples))
    lines = [json.loads(line) for line in content(path).splitlines()]
    assert "plan" in lines[0]
    assert lines[1] == {
        "version": 2,
        "eval": {"task": "t", "model": "m"},
        "whole_log": "samples/0.json",
        "samples": [{"id": 1}],
    }
    assert len(lines) == 100
    assert len(content(path)) < 1_050_000


@pytest.mark.parametrize("pack", ["gzip", "eval"])
def test_what_unpacks_to_many_times_its_size_breaks_off_and_says_so(tmp_path, monkeypatch, pack) -> None:
    monkeypatch.setattr(archive, "EXPANSION_LIMIT", 1_000_000)
    line = b'{"id": 1}' + b" " * 900_000 + b"\n"
    archived = zipped({"header.json": b"{}"} | {f"samples/{n}.json": line for n in range(10)})
    path = tmp_path / "bomb"
    path.write_bytes(gzip.compress(line * 10) if pack == "gzip" else archived)
    with open_bytes(path) as stream:
        read = stream.read()
        assert len(read) < max(250 * path.stat().st_size, 3_000_000)
        assert "unpacks to more than 250 times its size" in str(stream.broken)


def test_line_ends_alone_break_off_before_they_are_all_read(tmp_path) -> None:
    """A quarter of a million lines come of 300 bytes here, and of a large file as many as it has bytes."""
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n" * 300_000))
    with open_bytes(path) as stream:
        lines = sum(1 for _ in stream)
        assert "unpacks to more than 262,144 lines" in str(stream.broken)
    assert lines <= 300_000
    path.write_bytes(gzip.compress(b"".join(b'{"n": %d}\n' % number for number in range(200_000))))
    with open_bytes(path) as stream:
        assert (sum(1 for _ in stream), stream.broken) == (200_000, None)


def test_an_archive_that_unpacks_to_too_much_in_all_breaks_off_and_says_so(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(archive, "_UNPACKED_LIMIT", 3000)
    path = tmp_path / "bomb.eval"
    path.write_bytes(zipped({"header.json": b"{}"} | {f"samples/{n}.json": b"0" * 2000 for n in range(5)}))
    with open_bytes(path) as stream:
        assert len(stream.read().splitlines()) == 1
        assert "unpacks to more than" in str(stream.broken)


def test_a_broken_file_in_the_archive_is_named_and_costs_itself(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    broken = {"samples/1.json": bytes(range(256)) * 40, "samples/2.json": b'{"id": 2}'}
    packed = bytearray(zipped({"header.json": b"{}"} | broken))
    at = packed.index(b"samples/1.json") + 40
    packed[at : at + 20] = bytes(20)
    path.write_bytes(packed)
    first, second = map(json.loads, content(path).splitlines())
    assert "samples/1.json in the archive cannot be unpacked" in first["misstep_unreadable"]
    assert second == {"samples": [{"id": 2}]}


@pytest.mark.parametrize("header", [b"", b"[]", b'{"a": ', b"{" * 2000])
def test_an_archive_with_a_broken_header_breaks_off_and_names_it(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(zipped({"header.json": header, "samples/1.json": b"{}"}))
    with open_bytes(path) as stream:
        assert stream.read() == b""
        assert "header.json in the archive" in str(stream.broken)
