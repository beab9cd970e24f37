"""Paths that edits name: they stay inside the tree, and untidy ways to write one down are understood."""

import re

from misstep_harness.errors import EditRefused

_WORDLIKE = re.compile(r"[^\s`'\"<>|*?:;,]{1,250}")
_WITHOUT_DOT = frozenset({"Makefile", "Dockerfile", "LICENSE", "README", "BUILD", "TARGETS", "Gemfile", "Rakefile"})
_LABEL = re.compile(r"(?i)(?:file|filename|file[ _]path|path|in|update|edit|modify|create|new file)\s{0,3}:?\s{1,3}")
_INFO = re.compile(r"(?:`{3,}|~{3,})\s{0,3}(\S*)(?:[ \t]{1,3}(\S+))?\s*")
_QUOTED = re.compile(r"\\(?:([0-7]{3})|(.))", re.DOTALL)
_ESCAPES = {"n": b"\n", "t": b"\t", "r": b"\r", "a": b"\a", "b": b"\b", "f": b"\f", "v": b"\v"}


def checked_path(path: str) -> str:
    """Return a path in POSIX form beneath the root, without `.` and doubled slashes."""
    if not path.strip():
        raise EditRefused("malformed", "no file is named", "Name the file above its changes.")
    if any(ord(sign) < 32 or ord(sign) == 127 for sign in path):
        message = f"the path {path!r} has control characters"
        raise EditRefused("path_escape", message, "Give a path relative to the root.")
    parts = path.split("/")
    inside = [part for part in parts if part not in ("", ".")]
    if parts[0] == "" or ".." in parts or not inside or "\\" in path or re.match(r"[A-Za-z]:|~", path):
        raise EditRefused("path_escape", f"the path {path!r} may lead out", "Give a path relative to the root, with /.")
    if any(part.casefold() == ".git" for part in inside):
        raise EditRefused("path_escape", f"the path {path!r} leads into .git", "Give a path of the working tree.")
    return "/".join(inside)


def unquoted(path: str) -> str:
    """Return a path of a diff's header: without the time behind a tab, and out of git's quotes."""
    path = path.split("\t")[0].strip()
    if len(path) < 2 or path[0] != '"' or path[-1] != '"':
        return path
    text = _QUOTED.sub(_unescaped, path[1:-1])
    return text.encode("latin-1", "replace").decode("utf-8", "replace") if text != path[1:-1] else text


def _unescaped(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 8) & 255)
    return _ESCAPES.get(escape[2], escape[2].encode("utf-8", "replace")).decode("latin-1")


def named_path(line: str, known: str = "") -> str:
    """Return the path that a line holds and nothing else, with or without fence, marks and label; else empty."""
    line = line.strip()[:400]
    if fence := _INFO.fullmatch(line):
        words = [word for word in (fence[2], (fence[1] or "").rpartition(":")[2]) if word]
        return next((word for word in words if ("." in word or "/" in word) and _is_path(word)), "")
    bare = line.strip("#*`'\" \t:").replace("\\_", "_")  # as Markdown writes an underscore
    if label := _LABEL.match(bare):
        bare = bare[label.end() :].strip("*`'\" \t:")
    return bare if bare and (bare == known or _is_path(bare)) else ""


def _is_path(word: str) -> bool:
    last = word.rsplit("/", 1)[-1]
    has_end = "." in last.strip(".") or last.startswith(".") or "/" in word.strip("/")
    return word in _WITHOUT_DOT or bool(_WORDLIKE.fullmatch(word) and has_end and not word.endswith("..."))


def is_fence(line: str) -> bool:
    """Return whether a line opens or closes a block of Markdown; one with backticks further on is code in a line."""
    return line.startswith("~~~") or (line.startswith("```") and "`" not in line.lstrip("`"))
