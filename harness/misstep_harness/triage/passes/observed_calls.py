"""Note what tests call of the result, in replicas, and call that again with other arguments.

The text of this program is put at the head of each Python test (`observed.py`), so it imports nothing of Misstep.
"""

import builtins
import copy
import functools
import importlib
import inspect
import json
import os
import re
import shlex
import signal
import string
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, TypeVar

NOTES = ".observed.jsonl"
VARIED = ".varied-"
MOST_CALLS, MOST_VARIED, MOST_SECONDS, SECONDS_A_CALL = 200, 200, 8.0, 2.0

_HERE = Path.cwd()
_FILE = _HERE / NOTES
_CHANGING = re.compile(r"0x[0-9a-f]+|(?<=/)tmp[a-z0-9_]{8}|" + re.escape(VARIED))
_METHODS_OF_OWN = ("__call__", "__getitem__", "__len__", "__contains__", "__str__", "__eq__", "__lt__", "__add__")
_MOST_OF_ONE = 16
_SMALL, _CAPITAL = string.ascii_lowercase, string.ascii_uppercase
_NEXT_DIGIT = str.maketrans("0123456789", "1234567891")
_NEXT_LETTER = str.maketrans(_SMALL + _CAPITAL, _SMALL[1:] + "a" + _CAPITAL[1:] + "A")
_state = {"depth": 0, "noted": 0, "varied": 0, "end": time.monotonic() + MOST_SECONDS}


T = TypeVar("T")


class _TooLong(BaseException):
    pass


def plain(value: Any, depth: int = 0) -> Any:
    """A value as two programs that do the same would give it: without addresses, orders of sets, and 2 as 2.0."""
    if isinstance(value, str):
        return "\n".join(line.rstrip() for line in _CHANGING.sub("", value)[:20_000].strip().split("\n"))
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return float(f"{value:.9g}") if abs(value) < 1e300 else str(value)
    if isinstance(value, bytes):
        return plain(value.decode("utf-8", "replace"))
    if depth > 6:
        return "…"
    if isinstance(value, dict):
        pairs = [[plain(key, depth + 1), plain(each, depth + 1)] for key, each in list(value.items())[:1000]]
        return sorted(pairs, key=repr)
    if isinstance(value, list | tuple):
        return [plain(each, depth + 1) for each in value[:1000]]
    if isinstance(value, set | frozenset):
        return sorted((plain(each, depth + 1) for each in value), key=repr)
    shown = inspect.getattr_static(value, "__repr__", object.__repr__) is not object.__repr__
    if not shown or callable(value) or inspect.isgenerator(value):
        return f"<{type(value).__name__}>"
    return _CHANGING.sub("", repr(value))[:2000]


def shifted(text: str, letters: bool) -> str:
    """Return a text of the same shape: each digit, and with `letters` each letter, is the next one."""
    return text.translate(_NEXT_DIGIT | _NEXT_LETTER if letters else _NEXT_DIGIT)


def variants(value: Any, depth: int = 0) -> list[Any]:
    """Values of the same shape as one; none of what cannot be varied."""
    if isinstance(value, bool) or value is None or depth > 2:
        return []
    if isinstance(value, int):
        return [value + 1, value * 2 + 1, value + 7] if value >= 0 else [value - 1, value * 2]
    if isinstance(value, float):
        return [value + 1.5, value * 2 + 0.25]
    if isinstance(value, str):
        return _texts_like(value)
    if isinstance(value, list | tuple):
        kind = type(value) if type(value) in (list, tuple) else list
        others: list[Any] = [kind(value[:-1]), kind([*value, *value[:1]]), kind(value[::-1])] if value else []
        if value:
            others += [kind([each, *value[1:]]) for each in variants(value[0], depth + 1)[:2]]
        return [each for each in others if each and each != value]
    if isinstance(value, dict) and value:
        first = next(iter(value))
        others = [{key: each for key, each in value.items() if key != first}]
        changed = [{**value, first: each} for each in variants(value[first], depth + 1)]
        return [*filter(None, others), *changed]
    return []


def _texts_like(text: str) -> list[str]:
    if not text.strip() or len(text) > 20_000 or (len(text) < 256 and Path(text).exists()):
        return []
    words, lines = text.split(" "), text.split("\n")
    similar = [shifted(text, letters=False), shifted(text, letters=True)]
    if len(lines) > 2:
        similar.append("\n".join([*lines[:1], *lines[2:]]))
    elif len(words) > 1:
        similar += [" ".join(words[:-1]), " ".join([*words, words[0]])]
    return [each for each in dict.fromkeys(similar) if each != text]


def note(kind: str, what: str, arguments: Any, result: Any) -> None:
    """Add one call to the notes."""
    with _FILE.open("a", encoding="utf-8") as out:
        out.write(json.dumps([kind, what, arguments, result], ensure_ascii=True, default=repr) + "\n")


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise _TooLong

    try:
        before = signal.signal(signal.SIGALRM, stop)
    except ValueError:  # only the main thread takes signals
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _outermost() -> Iterator[None]:
    _state["noted"] += 1
    _state["depth"] += 1
    try:
        yield
    finally:
        _state["depth"] -= 1


def _is_noted() -> bool:
    return not _state["depth"] and _state["noted"] < MOST_CALLS


def _few_enough(others: Iterable[T]) -> Iterator[T]:
    for each in others:
        if _state["varied"] < MOST_VARIED and time.monotonic() < _state["end"]:
            _state["varied"] += 1
            yield each


def observed(name: str, function: Callable[..., Any], method: bool = False) -> Callable[..., Any]:
    """Return a function that notes its outermost calls, and those with other arguments after each."""

    @functools.wraps(function)
    def noted(*args: Any, **kwargs: Any) -> Any:
        if not _is_noted():
            return function(*args, **kwargs)
        shown = [plain(args[1:] if method else args), plain(kwargs)]
        others = [] if method else _other_arguments(args, kwargs)
        with _outermost():
            try:
                value = function(*args, **kwargs)
            except BaseException as error:
                note("own", name, shown, ["raises", type(error).__name__])
                raise
            note("own", name, shown, ["returns", plain(value)])
            for changed in _few_enough(others):
                _call_again(name, function, changed, kwargs)
            return value

    return noted


def _other_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[Any, ...]]:
    try:
        copied = copy.deepcopy((args, kwargs))[0]
    except Exception:  # noqa: BLE001 (whatever an object does when it is copied)
        return []
    places = ((place, each) for place, one in enumerate(copied) for each in variants(one))
    return [(*copied[:place], each, *copied[place + 1 :]) for place, each in islice(places, _MOST_OF_ONE)]


def _call_again(name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    shown = [plain(args), plain(kwargs)]
    try:
        with _within(SECONDS_A_CALL):
            result = ["returns", plain(function(*args, **kwargs))]
    except (_TooLong, SystemExit, Exception) as error:  # noqa: BLE001 (the result's code may raise anything)
        result = ["raises", type(error).__name__]
    note("varied", name, shown, result)


def observed_run(run: Callable[..., Any]) -> Callable[..., Any]:
    """`subprocess.run` that notes what programs print, give and write, and runs them with other arguments after."""

    @functools.wraps(run)
    def noted(*args: Any, **kwargs: Any) -> Any:
        command = args[0] if args else kwargs.get("args")
        if not isinstance(command, str | list | tuple) or not _is_noted():
            return run(*args, **kwargs)
        with _outermost():
            words = shlex.split(command) if isinstance(command, str) else [os.fspath(word) for word in command]
            before = _contents(words)
            finished = run(*args, **kwargs)
            note("own", "run", _shown_command(words, kwargs), _returned(finished, words, before))
            others = [] if isinstance(command, str) else _other_commands(words, before, kwargs)
            for changed, fed in _few_enough(others):
                _run_again(run, changed, fed, kwargs)
            return finished

    return noted


def _shown_command(words: list[str], kwargs: dict[str, Any]) -> Any:
    return [plain([Path(words[0]).name, *words[1:]]), plain(kwargs.get("input"))]


def _contents(words: list[str]) -> dict[str, str | None]:
    """Return the texts of the files that a command names; `None` of a name that is not a file yet."""
    contents: dict[str, str | None] = {}
    for word in words[1:]:
        place = Path(word[:256])
        if word.startswith("-") or place.is_dir():
            continue
        contents[word] = None
        if place.is_file() and place.stat().st_size < 1 << 20:
            contents[word] = place.read_text(encoding="utf-8", errors="replace")
    return contents


def _returned(finished: Any, words: list[str], before: dict[str, str | None]) -> Any:
    files = [[word, text] for word, text in _contents(words).items() if text is not None and before.get(word) != text]
    return ["returns", [finished.returncode, plain(finished.stdout), plain(files)]]


def _other_commands(
    words: list[str], before: dict[str, str | None], kwargs: dict[str, Any]
) -> list[tuple[list[str], str | None]]:
    fed = kwargs.get("input") if isinstance(kwargs.get("input"), str) else None
    first = 2 if re.search(r"python|/?(?:ba|da)?sh$|node|perl|ruby", Path(words[0]).name) else 1
    commands: list[tuple[list[str], str | None]] = []
    for place, word in enumerate(words):
        if place < first or word.startswith("-"):
            continue
        text = before.get(word)
        if text is None:
            others = variants(word) if not re.search(r"[/.]", word) or re.fullmatch(r"[\d.]+", word) else []
        else:
            others = [_varied_copy(word, number, each) for number, each in enumerate(_texts_like(text))]
        commands += [([*words[:place], each, *words[place + 1 :]], fed) for each in others]
    return commands + [(words, each) for each in (_texts_like(fed) if fed else [])]


def _varied_copy(path: str, number: int, text: str) -> str:
    place = Path(path).with_name(f"{VARIED}{number}-{Path(path).name}")
    try:
        place.write_text(text, encoding="utf-8")
    except OSError:
        return path
    return str(place)


def _run_again(run: Callable[..., Any], words: list[str], fed: str | None, kwargs: dict[str, Any]) -> None:
    options = {key: value for key, value in kwargs.items() if key in ("cwd", "env")}
    before = _contents(words)
    try:
        finished = run(words, input=fed or "", capture_output=True, text=True, errors="replace", timeout=5, **options)
        result = _returned(finished, words, before)
    except (OSError, subprocess.SubprocessError) as error:
        result = ["raises", type(error).__name__]
    if result[0] == "returns" and result[1][0] != 0:
        result = ["raises", "exit"]
    note("varied", "run", _shown_command(words, {"input": fed}), result)


def watch(module: ModuleType) -> None:
    """Note the calls of what a module of the result defines."""
    for name, value in list(vars(module).items()):
        own = getattr(value, "__module__", None) == module.__name__
        if inspect.isfunction(value) and own and not inspect.iscoroutinefunction(value):
            setattr(module, name, observed(f"{module.__name__}.{name}", value))
        elif inspect.isclass(value) and own and not issubclass(value, BaseException):
            for key, each in list(vars(value).items()):
                if inspect.isfunction(each) and (not key.startswith("_") or key in _METHODS_OF_OWN):
                    setattr(value, key, observed(f"{module.__name__}.{name}.{key}", each, method=True))


def _is_of_the_result(module: ModuleType | None) -> bool:
    file = Path(getattr(module, "__file__", None) or "/")
    place = file if file.is_absolute() else _HERE / file
    if not place.is_relative_to(_HERE) or file.name == "conftest.py":
        return False
    return not place.relative_to(_HERE).parts[0].startswith(("tests", "."))


def start() -> None:
    """Watch every module of the result from when it is imported, and `subprocess.run`."""
    watched: set[str] = set()

    def watch_new() -> None:
        for name, module in list(sys.modules.items()):
            is_begun = getattr(getattr(module, "__spec__", None), "_initializing", False)
            if name not in watched and name != "__main__" and not is_begun and _is_of_the_result(module):
                watched.add(name)
                watch(module)

    def watching(load: Callable[..., Any]) -> Callable[..., Any]:
        def loaded(*args: Any, **kwargs: Any) -> Any:
            module = load(*args, **kwargs)
            watch_new()
            return module

        return loaded

    builtins.__import__ = watching(builtins.__import__)
    importlib.import_module = watching(importlib.import_module)
    subprocess.run = observed_run(subprocess.run)


if __name__ == "observed_calls" and not getattr(builtins, "observed_calls", False):
    setattr(builtins, "observed_calls", True)  # noqa: B010 (no attribute that builtins are known to have)
    start()
