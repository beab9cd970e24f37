"""Run git on the host over files that a sandboxed command wrote, without their hooks, filters, settings and programs.

Git is given another folder, into which only data were copied, and no settings but the ones here.
"""

import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

from misstep.harness.workspace import beneath
from misstep.harness.workspace.trees import copy_entry, walk

_DATA = ("HEAD", "packed-refs", "ORIG_HEAD", "shallow", "refs", "objects")
_POINTS_ELSEWHERE = ("objects/info",)
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
