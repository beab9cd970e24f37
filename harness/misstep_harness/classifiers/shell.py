"""Take a shell command line apart into the simple commands that it would run, without running anything.

cd src && FOO=1 timeout 30 python -m pytest -q | tee out.log
→ Command(("cd", "src")), Command(("python", "-m", "pytest", "-q")), Command(("tee", "out.log"), piped=True)
"""

import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from misstep_harness.classifiers.history import Act, once
from misstep_harness.classifiers.tools import words

_EDIT_BLOCK = re.compile(r"\s*edit[ \t]+(\d++:\d++)[^\n]*+\n(.*?)\nend_of_edit\s*$", re.DOTALL)
"""The command of a line-numbered editor: new text for some lines of the file that is open."""

_WORD = r"(?:\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|\$\((?:[^()]|\([^()]*\))*\)|[^\s;&|<>()\\'\"]|['\"\\$])+"
_TOKEN = re.compile(
    r"(?P<space>[ \t\r]+|\\\n|\(\((?:[^()]++|\([^()]*+\))*+\)\))"
    r"|(?P<comment>(?<![^\s;&|])#[^\n]*)"
    r"|(?P<document><<-?[ \t]*(?:'(?P<single>[^'\n]+)'|\"(?P<double>[^\"\n]+)\"|\\?(?P<bare>[A-Za-z_][\w.+-]*)))"
    r"|(?P<redirect>\d*>&\d?|&>>?|\d*>>?\|?|<<<|\d*<)"
    r"|(?P<end>&&|\|\||\|&?|;;?|&|\n|\(|\)|(?<!\S)[{}](?=\s|$))"
    rf"|(?P<word>{_WORD})",
    re.DOTALL,
)
_ONLY_WORDS = re.compile(r"[^;&|<>()\[{}#\n\\]+")
"""A command line that is one command: nothing in it parts commands, sends texts elsewhere or compares."""
_WORDS = re.compile(_WORD, re.DOTALL)
_QUOTES = re.compile(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"|(?<=[\w.:])(\\)(?=[\w.])|\\(.)", re.DOTALL)
"""Quotes of a word; a backslash between letters is kept, because it parts the folders of a path on Windows."""
_PIECE = re.compile(r"(?:(?<=&)\d)?([^\s/;&|<>()]+)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_KEYWORDS = words("if then else elif fi for while until do done case esac in function select time ! { }")
_WRAPPERS = {"sudo": 0, "env": 0, "nohup": 0, "time": 0, "command": 0, "exec": 0, "builtin": 0, "stdbuf": 0, "nice": 0,
             "timeout": 1, "xargs": 0, "setsid": 0, "winpty": 0}  # fmt: skip
"""Program → how many words of its own come before the command that it runs."""

_TAKES_VALUE = {"sudo": {"-u", "-g"}, "xargs": {"-I", "-n", "-P", "-L", "-d"}, "nice": {"-n"},
                "timeout": {"-s", "-k"}, "env": {"-u", "-C"}}  # fmt: skip
_SHELLS = frozenset(("bash", "sh", "zsh", "dash"))
_LIMIT = 100_000
"""Characters of a command line that are looked at: beyond them is data, not commands."""

_SHORT = 500
"""Characters of a command line up to which its parts are remembered: agents run the same short lines often."""

_DEPTH = 4

_LONGEST_PATH = 4096
"""Characters of a path that a system takes."""


class Command(Struct, frozen=True, gc=False):
    """One simple command: its words without quotes, the folder it runs in where a `cd` before it says so."""

    words: tuple[str, ...]
    folder: str = ""
    writes: tuple[str, ...] = ()
    fed: str = ""
    piped: bool = False

    @property
    def program(self) -> str:
        """Return the program's name without its folder."""
        return self.words[0].rsplit("/", 1)[-1] if self.words else ""


@once
def commands_of(act: Act) -> tuple[Command, ...]:
    """Return the simple commands of a call of a shell; none for any other call."""
    line = act.line
    if not line:
        return ()
    return _remembered(line) if len(line) <= _SHORT else commands(line)


@lru_cache(maxsize=1024)
def _remembered(line: str) -> tuple[Command, ...]:
    return commands(line)


def without_quotes(line: str) -> str:
    """Return a command line without what only marks words: it holds the names of its programs, without the same."""
    return line.replace("'", "").replace('"', "").replace("\\", "").replace("\0", "")


@once
def ends_of_names(act: Act) -> frozenset[str]:
    """Pieces of a command line of which each program's name ends with one: had without taking the line apart."""
    return frozenset(_PIECE.findall(without_quotes(act.line or "")))


def commands(line: str) -> tuple[Command, ...]:
    """Return the simple commands of a command line, in order; null characters, which no shell takes, are left out."""
    line = line.replace("\0", "")
    block = _EDIT_BLOCK.match(line)
    if block:
        return (Command(("edit", block.group(1)), fed=block.group(2)),)
    if len(line) <= _LIMIT and _ONLY_WORDS.fullmatch(line):
        return tuple(_finished(_WORDS.findall(line), "", [], "", False, 0))
    return tuple(_commands(line[:_LIMIT], "", 0))


def _commands(line: str, folder: str, depth: int) -> list[Command]:
    commands: list[Command] = []
    words: list[str] = []
    writes: list[str] = []
    fed = ""
    piped = False
    target: str | None = None
    comparing = False  # inside [[ … ]], where < and > compare
    left: list[str] = []
    around: list[str] = []  # the folders in which the open brackets were met
    for what, piece in _tokens(line + "\n"):
        comparing = piece != "\n" and (comparing or (piece == "[[" and _KEYWORDS.issuperset(words)))
        if comparing and what != "space":
            words.append(piece)
            comparing = piece != "]]"
        elif what == "word":
            if target is not None:
                if target.lstrip("0123456789").startswith((">", "&")):
                    writes.append(unquoted(piece))
                target = None
            else:
                words.append(piece)
        elif what == "document":
            fed = piece
        elif what == "redirect":
            target = None if re.search(r">&\d?$", piece) and not piece.endswith(">&") else piece
        elif what == "end":
            if words or writes:
                inner = _finished(words, folder, writes, fed, piped, depth)
                for command in inner:
                    folder = _entered(command, folder, left)
                commands += inner
            words, writes, fed, target = [], [], "", None
            piped = piece in ("|", "|&")
            if piece == "(":
                around.append(folder)
            elif piece == ")" and around:
                folder = around.pop()
    return commands


def _tokens(line: str) -> Iterator[tuple[str | None, str]]:
    """Return the tokens of a line, each with what it is; a here-document is a token, its body, and no commands."""
    place = 0
    line_end = resumed = -1  # where the line of a here-document ends, and where commands go on after its body
    while place < len(line):
        match = _TOKEN.match(line, place)
        if match is None:
            place += 1
            continue
        place = match.end()
        token = match.group()
        if match.lastgroup == "document":
            if line_end < match.start():
                line_end = resumed = line.find("\n", place)
            token, resumed = _document(line, resumed + 1, match["single"] or match["double"] or match["bare"])
        yield match.lastgroup, token
        if 0 <= line_end < place:
            place, line_end = max(place, resumed), -1


def _document(line: str, start: int, delimiter: str) -> tuple[str, int]:
    """The lines from `start` to the one that is the delimiter, and where that ends: the text's end without one."""
    place = start
    while place < len(line):
        end = line.find("\n", place)
        end = len(line) if end < 0 else end
        if line[place:end].strip() == delimiter:
            return line[start:place], end
        place = end + 1
    return line[start:], len(line)


def unquoted(token: str) -> str:
    """Return a word as the program sees it."""
    if "'" in token or '"' in token or "\\" in token:
        return _QUOTES.sub(lambda match: next(filter(None, match.groups()), ""), token)
    return token


def _finished(raw: list[str], folder: str, writes: list[str], fed: str, piped: bool, depth: int) -> list[Command]:
    words = [unquoted(token) for token in raw]
    start = 0
    while start < len(words):
        first = words[start]
        name = first.rsplit("/", 1)[-1]
        if first in _KEYWORDS or _ASSIGNMENT.match(first):
            start += 1
        elif name in _WRAPPERS and len(words) > start + 1:
            start = _unwrapped(name, words, start + 1)
        else:
            break
    words = words[start:]
    if len(words) > 2 and words[0].rsplit("/", 1)[-1] in _SHELLS and depth < _DEPTH:
        for place, word in enumerate(words[1:-1], start=1):
            if word.startswith("-") and word.endswith("c"):
                return _commands(words[place + 1], folder, depth + 1)
    if words and words[0].rsplit("/", 1)[-1] in _SHELLS and fed and depth < _DEPTH:
        return _commands(fed, folder, depth + 1)
    return [Command(tuple(words), folder, tuple(writes), fed, piped)] if words or writes else []


def _unwrapped(name: str, words: list[str], place: int) -> int:
    values = _TAKES_VALUE.get(name, set())
    while place < len(words) and (words[place].startswith("-") or _ASSIGNMENT.match(words[place])):
        place += 2 if words[place] in values else 1
    return place + _WRAPPERS[name]


def _entered(command: Command, folder: str, left: list[str]) -> str:
    """Return the folder after a command; `left` are those that were left, to which `cd -` and `popd` go back."""
    if command.program == "popd" or (command.program == "cd" and command.words[1:] == ("-",)):
        return left.pop() if left else folder
    if command.program in ("cd", "pushd") and len(command.words) > 1:
        left.append(folder)
        entered = placed(command.words[1], folder)
        return entered if len(entered) <= _LONGEST_PATH else folder
    return folder


def placed(path: str, folder: str) -> str:
    """Return a path as seen from where the command line started."""
    if not folder or path.startswith(("/", "~", "$")):
        return path
    return posixpath.normpath(posixpath.join(folder, path))
