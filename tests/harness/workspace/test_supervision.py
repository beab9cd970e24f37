"""Limits that no kernel sets for several processes together are watched from outside."""

import os
import socket
import struct
import subprocess
from pathlib import Path

import pytest

from misstep_harness import beneath
from misstep_harness.workspace import system_calls
from misstep_harness.workspace.sandbox import MIB, Limits
from misstep_harness.workspace.supervision import DiskUse, family, supervise
from misstep_harness.workspace.trees import bytes_beneath, open_up, walk


def test_all_descendants_of_a_process_are_its_family() -> None:
    script = "(sleep 50 & echo $!; wait) & wait"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True) as process:
        grandchild = int(process.stdout.readline())
        result = family(process.pid)
        for one in reversed(result):
            os.kill(one, 9)
    assert (result[0], result[-1], len(result)) == (process.pid, grandchild, 3)


def test_what_is_printed_before_the_end_is_all_there(tmp_path: Path) -> None:
    command = ["sh", "-c", "head -c 300000 /dev/zero"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    watched = supervise(process, Limits(), DiskUse(tmp_path, limit=MIB), process.kill)
    assert (len(watched.output), watched.broken) == (300000, None)


def test_a_disk_is_counted_when_it_may_have_filled(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / f"{number}").touch()
    assert bytes_beneath(tmp_path) == 100 * 4096, "empty files count"
    use = DiskUse(tmp_path, limit=10 * MIB)
    assert not use.exceeded()
    (tmp_path / "large").write_bytes(os.urandom(11 * MIB))
    assert use.exceeded()


def test_a_tree_nested_too_deeply_counts_as_endless_and_is_removed(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    inner = os.dup(folder)
    for _ in range(400):
        os.mkdir("d", dir_fd=inner)
        inner, before = os.open("d", os.O_RDONLY, dir_fd=inner), inner
        os.close(before)
    os.close(inner)
    assert bytes_beneath(tmp_path) == float("inf")
    with pytest.raises(beneath.UnsafePath, match="too deeply"):
        list(walk(tmp_path))
    beneath.remove_tree(folder, "d")
    os.close(folder)
    assert list(tmp_path.iterdir()) == []


def test_a_closed_folder_is_opened_up(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed/file").touch(mode=0o000)
    (tmp_path / "closed").chmod(0)
    open_up(tmp_path)
    assert [result.path for result in walk(tmp_path)] == ["closed", "closed/file"]
    assert (tmp_path / "closed/file").stat().st_mode & 0o400


@pytest.mark.parametrize("stepwise", [False, True])
def test_no_part_of_a_path_may_be_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stepwise: bool) -> None:
    if stepwise:
        monkeypatch.setattr(beneath, "_OPENAT2", 10_000)  # a kernel without the call
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/file").write_text("content")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "a/link").symlink_to("b/file")
    assert beneath.read_file(tmp_path, "a/b/file") == b"content"
    for path in ("link/b/file", "a/link"):
        with pytest.raises((beneath.UnsafePath, NotADirectoryError)):
            beneath.read_file(tmp_path, path)
    with pytest.raises(beneath.UnsafePath, match="more than 3 bytes"):
        beneath.read_file(tmp_path, "a/b/file", largest=3)


@pytest.mark.parametrize("machine", system_calls.MACHINES)
def test_the_filter_refuses_what_it_lists_and_allows_the_rest(machine: str) -> None:
    numbers = system_calls.MACHINES[machine]
    program = system_calls.program(machine)

    def answer(number: int, argument: int = 0, architecture: int = numbers.architecture) -> int:
        """What the filter answers, worked out as the kernel does."""
        data, at, held = struct.pack("=IIQQ", number, architecture, 0, argument), 0, 0
        while True:
            code, if_true, if_false, value = struct.unpack_from("=HBBI", program, 8 * at)
            at += 1
            if code == 0x06:
                return value
            if code == 0x20:
                held = struct.unpack_from("=I", data, value)[0]
            else:
                at += if_true if (held == value if code == 0x15 else held >= value) else if_false

    allow = 0x7FFF0000
    assert all(answer(number) != allow for number in numbers.refused.values())
    assert answer(0) == answer(numbers.socket - 1) == answer(numbers.socket, socket.AF_INET) == allow
    assert answer(numbers.socket, 40) == 0x50000 | 97
    assert answer(0, architecture=0x40000003) == answer(0x40000000 | 1) == 0x50000 | 38
    assert system_calls.program("riscv64") == b""
