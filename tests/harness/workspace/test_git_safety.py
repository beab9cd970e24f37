"""Host-side git runs nothing that a sandboxed program left in a checkout."""

import os
import subprocess
from pathlib import Path

import pytest

from misstep_harness.workspace.git_safety import copied_git_folder, git_environment

ASKED = [
    ["status", "--short"],
    ["diff", "--no-ext-diff", "--no-textconv"],
    ["add", "-A"],
    ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "two"],
    ["checkout", "-q", "-f", "HEAD~1", "--", "."],
    ["stash", "list"],
    ["blame", "a.txt"],
    ["log", "-p", "--no-ext-diff", "--no-textconv"],
]
HOOKS = ("pre-commit", "post-commit", "post-checkout", "reference-transaction", "fsmonitor-watchman")
PROGRAMS = (
    *("core.fsmonitor", "filter.x.clean", "filter.x.smudge", "diff.x.textconv", "diff.x.command", "diff.external"),
    *("core.pager", "core.editor", "core.sshCommand", "credential.helper"),
)


def plain(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(["git", *arguments], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture
def tainted(tmp_path: Path) -> Path:
    """A checkout in which every way that git has to start a program writes the file `ran`."""
    tree = tmp_path / "tree"
    tree.mkdir()
    plain("init", "-q", folder=tree)
    (tree / "a.txt").write_text("one\n")
    plain("add", "-A", folder=tree)
    plain("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one", folder=tree)
    program = tmp_path / "evil.sh"
    program.write_text(f"#!/bin/sh\necho $0 $* >> {tmp_path}/ran\ncat\n")
    program.chmod(0o755)
    for hook in HOOKS:
        (tree / ".git/hooks" / hook).unlink(missing_ok=True)
        (tree / ".git/hooks" / hook).symlink_to(program)
    for name in PROGRAMS:
        plain("config", name, str(program), folder=tree)
    plain("config", "core.hooksPath", str(tree / ".git/hooks"), folder=tree)
    (tree / ".gitattributes").write_text("* filter=x diff=x\n")
    (tree / "a.txt").write_text("two\n")
    (tmp_path / "ran").unlink(missing_ok=True)  # what the setting up has started itself
    return tree


def test_the_programs_in_the_checkout_run_when_git_is_called_plainly(tainted: Path) -> None:
    plain("status", folder=tainted)
    assert (tainted.parent / "ran").exists()


def test_no_hook_filter_monitor_or_driver_of_the_checkout_runs(tainted: Path) -> None:
    folder = copied_git_folder(tainted / ".git", tainted.parent / "git")
    for arguments in ASKED:
        done = subprocess.run(
            ["git", *arguments], cwd=tainted, env=git_environment(folder, tainted), capture_output=True, text=True
        )
        assert done.returncode == 0, (arguments, done.stderr)
    assert not (tainted.parent / "ran").exists()
    assert (tainted / "a.txt").read_text() == "one\n", "git did what it was asked"


def test_the_copied_folder_has_the_commits_but_no_settings_hooks_or_links(tainted: Path) -> None:
    (tainted / ".git/refs/heads/link").symlink_to("/etc/passwd")
    (tainted / ".git/objects/info/alternates").write_text("/somewhere/else\n")
    folder = copied_git_folder(tainted / ".git", tainted.parent / "git")
    assert not (folder / "hooks").exists()
    assert not (folder / "refs/heads/link").is_symlink()
    assert not (folder / "objects/info/alternates").exists()
    assert "evil" not in (folder / "config").read_text()
    log = subprocess.run(
        ["git", "log", "--format=%s"], env=git_environment(folder, tainted), capture_output=True, text=True
    )
    assert log.stdout == "one\n"
