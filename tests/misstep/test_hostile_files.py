"""Files that mean harm, or were damaged: each command names them in one line and goes on with the others."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.benchmarks.trajectories import BenchmarkRuns
from misstep_harness.errors import InputError
from misstep_harness.items import Item, trajectory_file
from misstep_harness.readers import READERS
from tests.families.recordings import recording_of
from tests.misstep.as_a_user import CommandLine
from tests.misstep.made_up import atif

LONG = ("x" * 5000, "/".join(["y" * 200] * 30))
PATHS = ("a\0b.json", *LONG, "\ud800.json", "loop", "runs", "", ".", "../x", "/etc/passwd")


@pytest.mark.parametrize("path", PATHS, ids=lambda path: repr(path)[:20])
def test_a_path_in_an_item_that_is_none_is_an_error_that_says_so(tmp_path: Path, path: str) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match=r"path|no file") as raised:
        trajectory_file(tmp_path, path)
    assert len(raised.value.found) < 6000
    with pytest.raises(InputError):
        BenchmarkRuns(tmp_path).of(Item("a", "text", trajectory=path))


def complaints(in_process: CommandLine, folder: Path, *more: str) -> Iterator[str]:
    """Return what each command that reads runs says on stderr of a folder with broken ones."""
    out = folder.parent
    for line in (
        ("convert", folder, "--out", out / "atif", *more),
        ("classify", folder, "--workers", 1, *more),
        ("classify", folder, "--workers", 1, "--out", out / "run", "--html", out / "findings.html"),
        ("view", folder, "--out", out / "page.html"),
    ):
        code, printed, output = in_process(*line)
        assert code == 1, (line, printed, output)
        (printed + output).encode()
        yield output


HERE = "the deep value stands here"


def with_nested(document: bytes, depth: int) -> bytes:
    """A document with a value so deep where `HERE` stands: no encoder writes one."""
    return document.replace(json.dumps(HERE).encode(), b'{"a":' * depth + b"1" + b"}" * depth)


@pytest.mark.parametrize("depth", [400, 900, 990])
def test_a_run_nested_too_deep_costs_itself_in_every_command(tmp_path, depth, in_process) -> None:
    document: dict[str, Any] = json.loads(atif("deep"))
    document["steps"][-1]["extra"] = {"here": HERE}
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "a.json").write_bytes(atif("fine"))
    (folder / "b.json").write_bytes(with_nested(json.dumps(document).encode(), depth))
    for said in complaints(in_process, folder):
        assert "b.json: " in said
        assert "nested too deep" in said


def test_a_file_whose_name_is_no_utf_8_is_read_and_written_like_any_other(tmp_path, in_process) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, content in (
        (b"\xff\n.json", recording_of("mini_swe_agent")),
        (b"\xfe.json", b'{"a'),
        (b"\xfd.txt", b"hello"),
    ):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_bytes(
            content.replace(b'"instance_id": "acme__gate-7", ', b"")
        )
    for said in complaints(in_process, folder, "--json"):
        assert "\ufffd.json: no JSON" in said


def test_a_reader_that_breaks_costs_its_own_file_in_every_command(tmp_path, monkeypatch, in_process) -> None:
    (tmp_path / "breaking_reader.py").write_text(
        "FORMAT, UNIT = 'breaking', 'value'\n"
        "def refuse(sample):\n    return None if 'mine' in sample.head else 1 / ('yours' not in sample.head)\n"
        "def read(data, source):\n    raise LookupError('no page 7')\n    yield\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(READERS, "breaking", "breaking_reader")
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "a.json").write_bytes(atif("fine"))
    (folder / "b.json").write_text('{"mine": 1}')
    (folder / "c.txt").write_text("yours")
    for said in complaints(in_process, folder):
        assert "b.json: the reader 'breaking' of breaking_reader failed: LookupError: no page 7" in said
        assert "c.txt: the reader 'breaking' of breaking_reader failed: ZeroDivisionError: division by zero" in said
