"""Note the lines of chosen files that any Python program of a test command executes; runs in the sandbox.

It is written into the workspace as `sitecustomize`: nothing of this project can be imported there. Each line is
written as it is first executed, as a program that loops for ever is killed.
"""

import os
import sys
import threading
from types import FrameType
from typing import Any

_ROOT = os.environ.get("MISSTEP_SEARCH_ROOT", "")
_FILES = frozenset(os.environ.get("MISSTEP_SEARCH_FILES", "").splitlines())
_LINES = os.path.join(_ROOT, ".misstep-search", "lines.txt")  # noqa: PTH118 -- it is imported by every program there
_seen: set[tuple[str, int]] = set()
_paths: dict[str, str] = {}


def _path_of(name: str) -> str:
    if name not in _paths:
        path = os.path.relpath(os.path.abspath(name), _ROOT)  # noqa: PTH100
        _paths[name] = path if path in _FILES else ""
    return _paths[name]


def _call(frame: FrameType, event: str, argument: object) -> Any:  # noqa: ARG001
    return _line if _path_of(frame.f_code.co_filename) else None


def _line(frame: FrameType, event: str, argument: object) -> Any:  # noqa: ARG001
    place = _path_of(frame.f_code.co_filename), frame.f_lineno
    if event == "line" and place not in _seen:
        _seen.add(place)
        os.write(_out, f"{place[1]} {place[0]}\n".encode())
    return _line


if _ROOT and _FILES:
    _out = os.open(_LINES, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    sys.settrace(_call)
    threading.settrace(_call)
