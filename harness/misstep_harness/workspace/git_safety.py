"""Run git on the host over files that strangers wrote, without their hooks, filters, settings and programs.

Git is given another folder, into which only data were copied, and no settings but the ones here. A checkout whose
`.git` names another repository of the machine is refused, unless that one names the checkout as its own.
"""

import os
import shutil
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

from misstep_harness import beneath
from misstep_harness.errors import InputError, UsageError
from misstep_harness.workspace.trees import copy_entry, walk

_DATA = ("HEAD", "packed-refs", "ORIG_HEAD", "shallow", "refs", "objects")
_POINTS_ELSEWHERE = ("objects/info",)
_LONGEST_LINE = 1 << 14
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
_SETTINGS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.symlinks": "true",
    "core.pager": "cat",
    "core.editor": "false",
    "core.askPass": "false",
    "core.sshCommand": "false",
    "credential.helper": "",
    "diff.external": "",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "safe.directory": "*",
    "submodule.recurse": "false",
}


def git_environment(folder: Path, work_tree: Path) -> Mapping[str, str]:
    """The environment for `git` in which only a trusted git folder's settings count, and no program is started."""
    settings = {f"GIT_CONFIG_KEY_{at}": key for at, key in enumerate(_SETTINGS)}
    settings |= {f"GIT_CONFIG_VALUE_{at}": value for at, value in enumerate(_SETTINGS.values())}
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "GIT_DIR": str(folder),
        "GIT_WORK_TREE": str(work_tree),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_COUNT": str(len(_SETTINGS)),
        **settings,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_PAGER": "cat",
        "GIT_EDITOR": "false",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
    }


def copied_git_folder(git: Path, target: Path) -> Path:
    """Return a git folder with the commits and branches of another, and nothing of it that git would obey."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(mode=0o700, parents=True)
    for entry in walk(git):
        top = entry.path.partition("/")[0]
        skipped = stat.S_ISLNK(entry.status.st_mode) or entry.path.startswith(_POINTS_ELSEWHERE)
        if top in _DATA and not skipped:
            with beneath.folder_at(target, entry.path.rpartition("/")[0]) as into:
                copy_entry(entry, into, None)
    (target / "config").write_text(_CONFIG)
    return target


def git_folders(checkout: Path) -> tuple[Path, Path]:
    """Return the git folder of a checkout and the one that holds its objects, which differ in a linked worktree."""
    git = shared = checkout / ".git"
    if git.is_symlink():
        raise InputError("its .git is a link", "Give the folder that has the repository itself.", file=checkout)
    if git.is_file():
        git, shared = _named_folders(checkout)
    elif not git.is_dir():
        git = shared = checkout
    parts = ((git / "HEAD").is_file(), (shared / "objects").is_dir(), not (shared / "objects").is_symlink())
    if not all(parts):
        raise InputError("is not a git repository", "Give the folder of a checkout.", file=checkout)
    if os.path.lexists(shared / "objects/info/alternates") or os.path.lexists(shared / "commondir"):
        raise InputError("its objects are in another repository", "Run `git repack -a -d` there.", file=checkout)
    return git, shared


def _named_folders(checkout: Path) -> tuple[Path, Path]:
    """Return the folders that the file `.git` of a linked worktree or of a submodule names."""
    git = (checkout / _line(checkout, ".git").removeprefix("gitdir:").strip()).resolve()
    if git.parent.name == "worktrees":
        shared = git.parent.parent
        back, own = _line(git, "gitdir"), checkout / ".git"
        is_own = (git / _line(git, "commondir")).resolve() == shared
    else:
        shared, own, is_own = git, checkout, True
        back = next(filter(None, (_work_tree(git / name) for name in ("config", "config.worktree"))), "")
    if not back or not is_own or (git / back).resolve() != own.resolve():
        advice = f"Run `git worktree repair`, or `git --git-dir={git} config core.worktree {checkout}`."
        raise InputError(f"its .git names {git}, which does not name this checkout", advice, file=checkout)
    return git, shared


def _line(folder: Path, name: str) -> str:
    return os.fsdecode(beneath.file_of(folder, name, _LONGEST_LINE) or b"").strip()


def _work_tree(settings: Path) -> str:
    if settings.is_symlink() or not settings.is_file():
        return ""
    line = ["git", "config", "--file", str(settings), "--no-includes", "--get", "core.worktree"]
    environment = git_environment(settings.parent, settings.parent)
    try:
        done = subprocess.run(line, env=dict(environment), capture_output=True, check=False)  # noqa: S603
    except FileNotFoundError as error:
        raise UsageError("`git` is not installed", "Install git.") from error
    return os.fsdecode(done.stdout).rstrip("\n")
