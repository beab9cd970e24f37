"""Tell when two calls are the same call, and two answers the same answer.

`grep  -rn "load" ./src 2>&1` and `grep -rn 'load' src/` are nearly the same call: they differ in spaces, quotes and
redirections only.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Sequence, Set
from typing import Any

from misstep_harness.classifiers import tools
from misstep_harness.classifiers.history import Act
from misstep_harness.classifiers.prose import has
from misstep_harness.classifiers.shell import commands
from misstep_harness.classifiers.tools import (
    FOLDER_KEYS,
    NOISE,
    PATH_KEYS,
    bare_name,
    first_text,
    is_known_name,
    path_of,
)
from misstep_harness.values import digest, plain

_SHORT = 2000
"""Characters of a command up to which its spelling is evened out; longer ones hold data and stay as they are."""

_COMPARED = 8000
"""Characters from the first difference on that two answers are compared in."""

_SPREAD = 64
"""Characters by which durations and addresses lengthen an answer at most, and in which they are."""

_LOOKED_AT = 6 * _SPREAD
"""Characters in which longer differences are looked at before they are compared as a whole."""

_MADE_ANEW = (
    "pg?id|request|req|trace|span|chunk|message|msg|correlation|call|response[_ -](?:id|time)|invocation|event|turn|"
    "step|attempt|try|round|"
    "iteration|seq|sequence|nonce|uptime|duration|elapsed|took|latency|timestamp|time|ts"
)
"""Names of figures that every answer has anew: its number, its identifier, when it was given and how long it took."""

_VOLATILE = re.compile(
    r"(?:\b\d+[dhm])*\b\d+(?:\.\d+)? ?(?:[mµun]?s|secs?|seconds?|min(?:utes)?|[mhd])\b|0x[0-9a-fA-F]{4,}|/tmp/[\w.\-/]+"
    # clock times, dates, seconds since 1970, identifiers by chance
    r"|(?:\b\d{4}-\d{2}-\d{2}T?)?(?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?Z?\b|\b\d{4}-\d{2}-\d{2}\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) {1,2}\d{1,2}\b"
    r"|\b1\d{9}(?:\d{3})?(?:\.\d+)?\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
    # the number of a process in a log, the seconds of a build's step, a hash beside what was done
    r"|^#\d+ \d+\.\d+(?= )|^==\d+==|(?<=\w)\[\d{3,}\](?=:)"
    r"|(?<=\()(?:\w{1,9} )?(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{4,40}(?=\))"
    # what is named as such, and the number of a message of JSON-RPC
    rf"|\b(?:{_MADE_ANEW})(?:[ _-]?(?:id|no|number|ms|s|taken|at))?[\"']?[ =:#]+[\"']?(?:[a-z]+[_-])?"
    r"(?=[0-9a-f.-]*\d)[0-9a-f.-]++"
    r"|\"jsonrpc\":[^{}]{0,40}?\"id\": ?\"?[\w-]+|\"id\": ?\"?[\w-]+\"?, ?\"jsonrpc\""
    # how much of a budget is used or left, as harnesses add it
    r"|\b[\d,]+(?: ?/ ?[\d,]+)? (?:turns?|steps?|rounds?|iterations?|calls?|tokens?)\b"
    r"|\busage: [\d,/; ]+|^\[\d+(?: ?/ ?\d+)?\]",
    re.IGNORECASE | re.MULTILINE,
)
_REDIRECT = re.compile(r"(?<!\s)\s*+(?:2>&1|&>\s*/dev/null|[12]?>\s*/dev/null)")
_TAIL = re.compile(r"(?<!\s)\s*+(?:\|\|\s*+(?:true|:)|;)\s*+$")
_SHOWN = re.compile(r"(?<!\s)\s*+\|\s*+(?:cat|less|more|(?:head|tail)(?:\s+-(?:n\s*)?\d+|\s+-c\s*\d+)?)\s*+$")
"""How much of an answer is shown, and by what."""

_SETTING = (
    r"(?:LC_\w+|LANG|TERM|CI|DEBUG|COLUMNS|NO_COLOR|FORCE_COLOR|DEBIAN_FRONTEND|(?:GIT_)?PAGER"
    r"|PYTHON(?:PATH|UNBUFFERED|DONTWRITEBYTECODE|IOENCODING|WARNINGS))="
)
"""Variables that only say how a command is run: any other may be what a run is about, such as a seed."""

_VARIABLE = re.compile(rf"(?<!\S)(?!{_SETTING})[A-Za-z_]\w*=\S*")
_WRAPPER = re.compile(
    rf"(?:^|(?<=[;&|] )|(?<=[;&|]))(?:(?:{_SETTING}(?:'[^']*'|\"[^\"]*\"|[^\s'\"]*)"
    r"|(?:env|sudo|nice|time|nohup|command|setsid|stdbuf|ionice)(?:\s+-(?:[nuC]\s+)?\S+)*+"
    r"|timeout(?:\s+-(?:[ks]\s+)?\S+)*+\s+[\d.]+[smhd]?)\s+)++(?=[\w./'\"(])"
)
_OF_WRAPPERS = ("=", "env", "sudo", "nice", "time", "nohup", "command", "setsid", "stdbuf")
"""Pieces of which each of them has one."""

_PAUSE = re.compile(r"^sleep\s+[\d.]+[smh]?\s*(?:&&|;)\s*(?=\S)")
_IN_A_SHELL = re.compile(r"(?:/\S*/)?(?:ba|z|da)?sh\s+-\w*c\s+(['\"])(.*)\1$", re.DOTALL)
_BRACKET = re.compile(r"[(){}]")
_NESTING = (dict, list, tuple)
_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n'\"]*$", re.MULTILINE)
_CONTENT = tools.words("description summary purpose duration")
"""Arguments that say why a tool that agents commonly have is called, and may be all that another tool is about."""

_WHICH_FILE = NOISE | set(PATH_KEYS) | {"command"}
_SPELLING = b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\"'\\/.3"
"""Letters that differ in the spelling of one command: spaces, quotes, slashes, `./`, the 3 of `python3`."""

_FLAG_LETTERS = _SPELLING + b"-"
"""Those, and what flags of one letter are made of, which may be in another order."""

_SHORT_FLAGS = re.compile(r"-[a-zA-Z]{1,4}$")
"""Flags of one letter, alone or run together: `-rn`, `-n -r` and `-nr` say the same."""

_FIGURE = re.compile(r"=[\d.]+$")
_HIDDEN_FLAG = re.compile(r"(?:\A|[\s\"'\\])-")
"""Where a flag may be that no space comes before."""

_HOME = re.compile(r"cd\s+(\S+)\s*&&\s*")
_DEEPEST = 12
"""Parts of a path by whose end it is found again."""


class Spelling:
    """How a run spells its paths: `a.py`, `./src/a.py` and `/repo/src/a.py` may be one file."""

    def __init__(self, acts: Sequence[Act]) -> None:
        homes = {match[1] for act in acts if act.line is not None and (match := _HOME.match(act.line))}
        self.home = homes.pop() if len(homes) == 1 else ""
        self._whole: dict[str, str | None] = {}
        named = {even_path(word) for act in acts for word in _absolute(act)}
        for path in named:
            parts = path.split("/")
            for cut in range(max(1, len(parts) - _DEEPEST), len(parts) - 1):
                end = "/".join(parts[cut:])
                self._whole[end] = path if self._whole.get(end, path) == path else None

    def path(self, path: str) -> str:
        """Return a path as the run names it in full, where one such path ends so; two parts have to agree."""
        path = even_path(path)
        return self._whole.get(path) or path

    def line(self, line: str) -> str:
        """Return a command line without the change to the one folder that the run works in."""
        match = _HOME.match(line) if self.home else None
        return line[match.end() :] if match and match[1] == self.home else line


def _absolute(act: Act) -> list[str]:
    path = path_of(act.call)
    words = [path] if path else (act.line or "").split() if len(act.line or "") <= _SHORT else []
    return [word.strip("'\"") for word in words if word.startswith(("/", "'/", '"/'))]


def coarse_key(act: Act) -> Hashable:
    """A cheap key that equal calls share, and some others: calls have equal `call_key`s only where this is equal."""
    line = act.line
    if line is not None:
        return _coarse_line(line)
    call = act.call
    arguments = call.arguments
    if isinstance(arguments, str):
        return bare_name(call.name), arguments.strip()
    number = 0
    if act.kind == "read" and (path := path_of(call)):
        for key, value in arguments.items():
            if value and key not in _WHICH_FILE:
                number += _number(value)
        return "read", even_path(path).rsplit("/", 1)[-1], number
    searched = act.kind == "search"
    noise = _noise(act)
    for key, value in arguments.items():
        if value is not None and key not in noise:
            number += _number(value, searched)
    return bare_name(call.name), number


def _coarse_line(line: str) -> Hashable:
    if len(line) > _SHORT:
        return line
    line = _without_ends(line.strip())
    if line.startswith("cd ") and "&&" in line:
        line = _HOME.sub("", line, count=1)
    flagged = " -" in line
    if not flagged and "-" in line and _HIDDEN_FLAG.search(line):
        line = str(even_command(line))
    if "/" in line:
        line = " ".join([word.rstrip("/").rsplit("/", 1)[-1] for word in _unquoted(line).split()])
    letters = line.encode("ascii", "ignore")
    return sum(letters.translate(None, _FLAG_LETTERS)) if flagged else letters.translate(None, _SPELLING)


def _number(value: Any, searched: bool = False) -> int:
    """Return a number that is equal for values that `_frozen` makes equal: a figure may be written as text."""
    if isinstance(value, str):
        text = _even_search(value) if searched else value.strip()
    elif isinstance(value, _NESTING):
        return hash(_flat(value, searched))
    else:
        text = plain(value)
    return hash(text) if len(text) <= _SHORT else len(text)


def call_key(act: Act, spelling: Spelling | None = None) -> Hashable:
    """Return what a call is, evened out; equal for calls that are the same or nearly the same."""
    spell = spelling.path if spelling is not None else even_path
    call = act.call
    kind = act.kind
    if kind == "shell":
        line = act.line or ""
        if spelling is not None:
            line = spelling.line(line)
        folder = _folder(act)
        return ("shell", folder, even_command(line, spell) if len(line) <= _SHORT else line)
    arguments = call.arguments
    if isinstance(arguments, str):
        return bare_name(call.name), arguments.strip()
    if kind == "read":
        path = path_of(call)
        if path:
            telling = ((key, value) for key, value in arguments.items() if key not in _WHICH_FILE)
            return "read", spell(path), _frozen_all((key, value) for key, value in telling if value)
    noise = _noise(act)
    telling = ((key, value) for key, value in arguments.items() if key not in noise and value is not None)
    return bare_name(call.name), _frozen_all(telling, searched=kind == "search")


def _folder(act: Act) -> str:
    folder = even_path(first_text(act.call.arguments, FOLDER_KEYS))
    return "" if folder == "." else folder


def _noise(act: Act) -> Set[str]:
    if act.kind == "note":  # a thought is all that a note says
        return frozenset()
    return NOISE if is_known_name(act.call.name) else NOISE - _CONTENT


def _frozen_all(arguments: Iterable[tuple[str, Any]], searched: bool = False) -> Hashable:
    return frozenset([(key, _frozen(value, searched)) for key, value in arguments])


def _frozen(value: Any, searched: bool = False) -> Hashable:
    """A value that can be hashed, its text evened out: the words in order for a search, the text as it is otherwise."""
    if isinstance(value, str):
        return _even_search(value) if searched else value.strip()
    if isinstance(value, _NESTING):
        flat = _flat(value, searched)
        return digest(value, _even_search if searched else str.strip) if flat is None else flat
    return plain(value)


def _flat(value: Any, searched: bool) -> Hashable:
    """A list or an object that can be hashed; `None` if another is in it, because it may be of any depth."""
    parts = []
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, _NESTING):
            return None
        parts.append(_frozen(part, searched))
    return frozenset(zip(value, parts, strict=True)) if isinstance(value, dict) else tuple(parts)


def _even_search(text: str) -> str:
    return " ".join(text.lower().split())


def arguments_key(arguments: dict[str, Any] | str) -> Hashable:
    """Return what is equal for equal arguments, parsed or not."""
    return _frozen(arguments)


def even_path(path: str) -> str:
    """Return a path without what does not change where it leads."""
    path = path.replace("\\", "/").strip()
    if "/" not in path:
        return path
    return path.rstrip("/").removeprefix("./").replace("//", "/").replace("/./", "/")


def even_command(line: str, spell: Callable[[str], str] | None = None) -> Hashable:
    """A command line evened out: spaces, quotes, redirections of errors, order of flags, `python3` for `python`."""
    line = _without_ends(line.strip())
    if "\n" in line or "<<" in line:
        return line
    spell = spell or even_path
    words = ["python" if word == "python3" else spell(word) or word for word in _unquoted(line).split()]
    if " -" not in line:
        return " ".join(words)
    flags = sorted(letter for word in words if _SHORT_FLAGS.match(word) for letter in word[1:])
    return " ".join(word for word in words if not _SHORT_FLAGS.match(word)), "".join(flags)


def _unquoted(line: str) -> str:
    return line.replace('"', " ").replace("'", " ").replace("\\", "")


def _unwrapped(line: str) -> str:
    """Return a command line without what only says how it is run: `timeout 60`, `LC_ALL=C`, `bash -c '…'`, `( … )`."""
    shell = _IN_A_SHELL.match(line)
    if shell:
        line = shell[2].strip()
    if line[:1] in "({" and line[-1:] in ")}" and not _BRACKET.search(line, 1, len(line) - 1):
        line = line[1:-1].strip().rstrip("; ")
    return _WRAPPER.sub("", line) if has(line, _OF_WRAPPERS) else line


def _without_ends(line: str) -> str:
    """A command line without comments, redirections of errors and what at its ends changes nothing; most have none."""
    line = _PAUSE.sub("", _unwrapped(line))
    if "#" in line and "<<" not in line:
        line = _COMMENT.sub("", line).strip()
    if ">" in line:
        line = _REDIRECT.sub("", line)
    if ";" in line or "||" in line:
        line = _TAIL.sub("", line)
    return _SHOWN.sub("", line) if "|" in line else line


def loose_key(act: Act) -> Hashable:
    """A key that is equal also for calls that differ in flags, in spelling of a path, or in how the output is shown."""
    line = act.line
    if line is None or len(line) > _SHORT:
        return call_key(act)
    spoken = (tuple(filter(None, (*map(_last_name, command.words), command.fed))) for command in commands(line))
    folder = _folder(act)
    telling = tuple(words for words in spoken if words and words[0] != "cd" and words != ("cat",))
    return ("shell", folder, telling, *_VARIABLE.findall(line)) if telling else call_key(act)


def _last_name(word: str) -> str:
    """Return what a word names, without the way there; nothing for a flag without a figure and for the folder."""
    return (
        ""
        if (word.startswith("-") and _FIGURE.search(word) is None) or word in (".", "./")
        else word
        if "://" in word
        else word.rstrip("/").rsplit("/", 1)[-1]
    )


def same_text(one: str, other: str) -> bool:
    """Return whether two answers are the same but for durations, clock times and addresses."""
    shorter = min(len(one), len(other))
    if max(len(one), len(other)) - shorter > _SPREAD:
        return False
    first = _alike(lambda size: one[:size] == other[:size], shorter)
    last = _alike(lambda size: one[len(one) - size :] == other[len(other) - size :], shorter - first)
    start = max(0, first - _SPREAD)
    here, there = one[start : len(one) - max(0, last - _SPREAD)], other[start : len(other) - max(0, last - _SPREAD)]
    if max(len(here), len(there)) > _LOOKED_AT:
        near, far = _VOLATILE.sub("~", here[:_LOOKED_AT]), _VOLATILE.sub("~", there[:_LOOKED_AT])
        sure = min(len(near), len(far)) - _SPREAD  # what stands at the end may be cut in the middle
        if near[:sure] != far[:sure]:
            return False
    return _VOLATILE.sub("~", here[:_COMPARED]) == _VOLATILE.sub("~", there[:_COMPARED])


def without_times(text: str) -> str:
    """Return a text with `~` for durations, clock times and addresses."""
    return _VOLATILE.sub("~", text)


def _alike(same: Callable[[int], bool], most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if same(middle):
            low = middle
        else:
            high = middle - 1
    return low
