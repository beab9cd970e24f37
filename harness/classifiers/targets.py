"""Which files a user's words name, and whether a path that an agent wrote is one of them.

`src/api/` is a folder, `*.py` a pattern, `config.py` any file of that name. A user's `src/a.py` is the agent's
`/home/me/shop/src/a.py`: what a path ends with has to be the same, part by part.
"""

import re
from fnmatch import fnmatchcase
from functools import lru_cache

_PATHLIKE = re.compile(
    r"[/*]|\.[A-Za-z]\w{0,9}$|^(?:Makefile|Dockerfile|Gemfile|Procfile|Jenkinsfile|LICENSE|README|CHANGELOG|CONTRIBUTING|\.\w+)$"
)
_NO_PATH = re.compile(r"[\s=()]")
_SCRATCH = re.compile(r"^(?:/var)?/tmp/|^/private/tmp/|^\$\{?TMPDIR|^/dev/")
_FROM_ROOT = re.compile(r"^(?:/|[A-Za-z]:/)")
_HOME = re.compile(r"^(?:~\w*|\$\{?\w+\}?)/")


def is_path(name: str) -> bool:
    """Return whether a name is that of a file or a folder, and not of something else (a function, a command)."""
    return _PATHLIKE.search(name) is not None and not _NO_PATH.search(name)


def parts_of(path: str) -> list[str]:
    """Return the parts of a path, without those that do not move."""
    return [part for part in path.replace("\\", "/").strip().split("/") if part not in ("", ".", "...")]


def is_scratch(path: str) -> bool:
    """Return whether a path lies in a folder for temporary files, which belongs to no repository."""
    return _SCRATCH.match(path) is not None


@lru_cache(maxsize=4096)
def _between_slashes(path: str) -> str:
    return "/".join(["", *parts_of(_HOME.sub("", path.strip())), ""])


def names(target: str, path: str) -> bool:
    """Whether the target that a user named (a file, a folder or a pattern) covers a path that the agent wrote."""
    wanted, written = _between_slashes(target), _between_slashes(path)
    if "/" in (wanted, written):
        return False
    last = parts_of(target)[-1]
    if "*" in target and last == wanted.strip("/"):
        return fnmatchcase(written.rsplit("/", 2)[1], last)
    if "*" in target:
        return fnmatchcase(written, f"*{wanted.replace('**/', '*')}")
    is_file = "." in last.lstrip(".") and not target.endswith("/")
    from_root = _FROM_ROOT.match(target) is not None
    if is_file and from_root and _FROM_ROOT.match(path):
        return written == wanted
    if written.endswith(wanted) or (wanted.endswith(written) and (from_root or written.count("/") > 2)):
        return True
    return not is_file and (f"/{last}/" if from_root else wanted) in written
