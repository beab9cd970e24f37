"""The files of a target as a value: links lead where they would inside, and never out of it."""

from pathlib import Path

import pytest

from misstep.harness.reflexive.hardening.files import MOST_BYTES, Files, TargetEntry, UnreadableFile, files_of
from misstep.harness.workspace import Sandbox, open_workspace


def link(target: str) -> TargetEntry:
    return TargetEntry("link", 0o777, target.encode())


FILES = Files(
    {
        "": TargetEntry("folder", 0o755),
        "etc": TargetEntry("folder", 0o755),
        "etc/real": TargetEntry("file", 0o640, b"# comment\n\n  one \ntwo\n"),
        "etc/absolute": link("/etc/real"),
        "etc/up": link("../../../etc/real"),
        "alias": link("etc"),
        "etc/chain": link("/alias/absolute"),
        "etc/loop": link("loop"),
        "etc/outside": link("/../../etc/hostname"),
        "etc/empty": link(""),
        "etc/pipe": TargetEntry("other", 0o644),
        "etc/huge": TargetEntry("file", 0o644),
        "etc/binary": TargetEntry("file", 0o644, b"a\0b"),
        "etc/latin": TargetEntry("file", 0o644, b"caf\xe9\n"),
    }
)


@pytest.mark.parametrize("path", ["etc/real", "etc/absolute", "etc/up", "alias/real", "etc/chain", "/etc/./real"])
def test_links_lead_within_the_root_of_the_target(path: str) -> None:
    assert (FILES.lines(path), FILES.mode(path)) == (["one", "two"], 0o640)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("etc/gone", "No such file"),
        ("etc/real/below", "No such file"),
        ("etc/loop", "No such file"),
        ("etc/outside", "No such file"),
        ("etc/empty", "No such file"),
        ("etc", "Is a directory"),
        ("etc/pipe", "Not a regular file"),
        ("etc/huge", "too large"),
        ("etc/binary", "binary"),
    ],
)
def test_what_cannot_be_read_says_why(path: str, reason: str) -> None:
    with pytest.raises(UnreadableFile, match=reason):
        FILES.text(path)


def test_text_in_another_encoding_is_read_with_replacements() -> None:
    assert FILES.text("etc/latin") == "caf\N{REPLACEMENT CHARACTER}\n"


def test_patterns_stay_in_a_folder_unless_they_say_otherwise() -> None:
    files = Files({path: TargetEntry("file", 0o644, b"") for path in ("a/b", "a/c/d", "a/c/e", "ab/c")})
    assert (files.matching("a/*"), files.matching("a/c/[de]")) == (["a/b"], ["a/c/d", "a/c/e"])
    assert files.matching("a/**") == ["a/b", "a/c/d", "a/c/e"]


def test_large_files_are_seen_and_not_read(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    with open_workspace(tmp_path / "base", sandbox=sandbox) as workspace:
        workspace.run(["sh", "-c", f"truncate -s {MOST_BYTES + 1} large; truncate -s {MOST_BYTES} less; mkfifo pipe"])
        files = files_of(workspace)
    assert files.entries["large"].content is None
    assert (len(files.entries["less"].content or b""), files.entries["pipe"].kind) == (MOST_BYTES, "other")
