"""Which files a user's words name, and whether a path that an agent wrote is one of them.

`src/api/` is a folder, `*.py` a pattern, `config.py` any file of that name. A user's `src/a.py` is the agent's
`/home/me/shop/src/a.py`: paths are compared part by part from their ends.
"""

import re
from fnmatch import fnmatchcase, translate

_PATHLIKE = re.compile(
    r"[/*]|\.\w{1,10}$|^(?:Makefile|Dockerfile|Gemfile|Procfile|Jenkinsfile|LICENSE|README|CHANGELOG|CONTRIBUTING|\.\w+)$"
)
_NO_PATH = re.compile(r"[\s=()]")
_SCRATCH = re.compile(r"^(?:/var)?/tmp/|^/private/tmp/|^\$\{?TMPDIR|^/dev/")
_DRIVE = re.compile(r"^(?:/|~|[A-Za-z]:/|\$)")


def as_path(name: str) -> str | None:
    """The path that a name is; `None` for a name of something else (a function, a command)."""
    name = name.strip().removeprefix("@")
    return name if name and _PATHLIKE.search(name) and not _NO_PATH.search(name) else None


def parts_of(path: str) -> list[str]:
    """The parts of a path, without those that do not move."""
    return [part for part in path.replace("\\", "/").strip().split("/") if part not in ("", ".", "...")]


def is_scratch(path: str) -> bool:
    """Whether a path lies in a folder for temporary files, which belongs to no repository."""
    return _SCRATCH.match(path) is not None


def names(target: str, path: str) -> bool:
    """Whether the target that a user named (a file, a folder or a pattern) covers a path that the agent wrote."""
    wanted, parts = parts_of(target), parts_of(path)
    if not parts or not wanted:
        return False
    if "*" in target:
        pattern = "/".join(wanted)
        if len(wanted) == 1:
            return fnmatchcase(parts[-1], pattern)
        return _ends_as(pattern.replace("**/", "*"), "/".join(parts))
    if not target.endswith("/") and _same_end(wanted, parts, target, path):
        return True
    has_ending = "." in wanted[-1].lstrip(".") and not target.endswith("/")
    return not has_ending and _lies_below(wanted, parts, bool(_DRIVE.match(target)))


def _ends_as(pattern: str, path: str) -> bool:
    """Whether a path is as a pattern says from one of its parts on.

    The first part that opens as the pattern does decides: its first `*` takes all up to a later one.
    """
    opening = pattern[: pattern.index("*") + 1]
    found = re.search(rf"(?<![^/]){translate(opening)}", path)
    return found is not None and fnmatchcase(path[found.start() :], pattern)


def _same_end(wanted: list[str], parts: list[str], target: str, path: str) -> bool:
    if len(parts) >= len(wanted):
        return parts[-len(wanted) :] == wanted and (
            not _DRIVE.match(target) or not _DRIVE.match(path) or parts == wanted
        )
    shorter = not _DRIVE.match(path) and wanted[-len(parts) :] == parts
    return shorter and (len(parts) > 1 or _DRIVE.match(target) is not None)


def _lies_below(wanted: list[str], parts: list[str], from_root: bool) -> bool:
    """Whether the folder `wanted` stands in the path above its last part."""
    above = parts[:-1]
    if from_root and above[: len(wanted)] == wanted:
        return True
    if from_root and len(wanted) > 1:
        wanted = wanted[-1:]
    width = len(wanted)
    return any(above[start : start + width] == wanted for start in range(len(above) - width + 1))
