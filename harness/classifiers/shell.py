"""A shell command line, taken apart into the simple commands that it would run, without running anything.

    cd src && FOO=1 timeout 30 python -m pytest -q | tee out.log
    → Command(("cd", "src")), Command(("python", "-m", "pytest", "-q")), Command(("tee", "out.log"), piped=True)

Here-documents, redirections and the wrappers that run another command (`sudo`, `env`, `timeout`, `bash -c "…"`) are
understood; substitutions and functions are not followed.
"""

import posixpath
import re
from functools import lru_cache

from msgspec import Struct

from harness.classifiers.history import Act, once
from harness.classifiers.programs import words

_HEREDOC = re.compile(r"(?<!<)<<-?[ \t]*(['\"]?)([A-Za-z_]\w*)\1")
_EDIT_BLOCK = re.compile(r"\s*edit[ \t]+(\d+:\d+)[^\n]*\n(.*?)\nend_of_edit\s*$", re.DOTALL)
"""The command of a line-numbered editor: new text for some lines of the file that is open."""

_TOKEN = re.compile(
    r"(?P<space>[ \t\r]+|\\\n)"
    r"|(?P<comment>(?<![^\s;&|])#[^\n]*)"
    r"|(?P<redirect>\d*>&\d?|&>>?|\d*>>?\|?|<<<|\d*<)"
    r"|(?P<end>&&|\|\||\|&?|;;?|&|\n|\(|\)|(?<!\S)[{}](?=\s|$))"
    r"|(?P<word>(?:\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|\$\((?:[^()]|\([^()]*\))*\)|[^\s;&|<>()\\'\"]|['\"\\$])+)",
    re.DOTALL,
)
_QUOTES = re.compile(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"|\\(.)", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_KEYWORDS = words("if then else elif fi for while until do done case esac in function select time ! { }")
_WRAPPERS = {"sudo": 0, "env": 0, "nohup": 0, "time": 0, "command": 0, "exec": 0, "builtin": 0, "stdbuf": 0, "nice": 0,
             "timeout": 1, "xargs": 0, "setsid": 0, "winpty": 0}  # fmt: skip
"""Program → how many words of its own come before the command that it runs."""

_TAKES_VALUE = {"sudo": {"-u", "-g"}, "xargs": {"-I", "-n", "-P", "-L", "-d"}, "nice": {"-n"},
                "timeout": {"-s", "-k"}, "env": {"-u", "-C"}}  # fmt: skip
_SHELLS = frozenset(("bash", "sh", "zsh", "dash"))
_LIMIT = 100_000
"""Characters of a command line that are looked at: beyond them stands data, not commands."""

_SHORT = 500
"""Characters of a command line up to which its parts are remembered: agents run the same short lines often."""

_DEPTH = 4


class Command(Struct, frozen=True, gc=False):
    """One simple command: its words without quotes, the folder it runs in where a `cd` before it says so.

    `writes` are the files that its output is redirected to; `fed` is the here-document that it reads; `piped` when
    its input is another command's output.
    """

    words: tuple[str, ...]
    folder: str = ""
    writes: tuple[str, ...] = ()
    fed: str = ""
    piped: bool = False

    @property
    def program(self) -> str:
        """The program's name without its folder."""
        return self.words[0].rsplit("/", 1)[-1] if self.words else ""


@once
def commands_of(act: Act) -> tuple[Command, ...]:
    """The simple commands of a call of a shell; none for any other call."""
    line = act.line
    if not line:
        return ()
    return _remembered(line) if len(line) <= _SHORT else commands(line)


@lru_cache(maxsize=1024)
def _remembered(line: str) -> tuple[Command, ...]:
    return commands(line)


def commands(line: str) -> tuple[Command, ...]:
    """The simple commands of a command line, in order."""
    block = _EDIT_BLOCK.match(line)
    if block:
        return (Command(("edit", block.group(1)), fed=block.group(2)),)
    return tuple(_commands(line[:_LIMIT], "", 0))


def _commands(line: str, folder: str, depth: int) -> list[Command]:
    line, documents = _without_documents(line)
    found: list[Command] = []
    words: list[str] = []
    writes: list[str] = []
    fed = ""
    piped = False
    target: str | None = None
    for match in _TOKEN.finditer(line + "\n"):
        what = match.lastgroup
        token = match.group()
        if what == "word":
            if target is not None:
                if target.lstrip("0123456789").startswith((">", "&")):
                    writes.append(unquoted(token))
                target = None
            elif token.startswith("\x00"):
                fed = documents[int(token[1:])]
            else:
                words.append(token)
        elif what == "redirect":
            target = None if re.search(r">&\d?$", token) and not token.endswith(">&") else token
        elif what == "end":
            if words or writes:
                made = _finished(words, folder, writes, fed, piped, depth)
                for command in made:
                    folder = _entered(command, folder)
                found += made
            words, writes, fed, target = [], [], "", None
            piped = token in ("|", "|&")
    return found


def _without_documents(line: str) -> tuple[str, list[str]]:
    """The line with each here-document's body taken out and a mark in place of its `<<WORD`."""
    documents: list[str] = []
    place = 0
    while match := _HEREDOC.search(line, place):
        start = line.find("\n", match.end())
        end = re.compile(rf"^\s*{re.escape(match.group(2))}[ \t]*$", re.MULTILINE).search(line, max(start, match.end()))
        mark = f" \x00{len(documents)} "
        rest = line[match.end() : start] if start >= 0 else ""
        documents.append(line[start + 1 : end.start() if end else len(line)] if start >= 0 else "")
        head = line[: match.start()] + mark
        line = head + rest + (line[end.end() :] if end else "")
        place = len(head)
    return line, documents


def unquoted(token: str) -> str:
    """A word as the program sees it."""
    if "'" in token or '"' in token or "\\" in token:
        return _QUOTES.sub(lambda match: match.group(1) or match.group(2) or match.group(3) or "", token)
    return token


def _finished(raw: list[str], folder: str, writes: list[str], fed: str, piped: bool, depth: int) -> list[Command]:
    words = [unquoted(token) for token in raw]
    while words:
        first = words[0]
        name = first.rsplit("/", 1)[-1]
        if first in _KEYWORDS or _ASSIGNMENT.match(first):
            words = words[1:]
        elif name in _WRAPPERS and len(words) > 1:
            words = _unwrapped(name, words[1:])
        else:
            break
    if len(words) > 2 and words[0].rsplit("/", 1)[-1] in _SHELLS and depth < _DEPTH:
        for place, word in enumerate(words[1:-1], start=1):
            if word.startswith("-") and word.endswith("c"):
                return _commands(words[place + 1], folder, depth + 1)
    if words and words[0].rsplit("/", 1)[-1] in _SHELLS and fed and depth < _DEPTH:
        return _commands(fed, folder, depth + 1)
    return [Command(tuple(words), folder, tuple(writes), fed, piped)] if words or writes else []


def _unwrapped(name: str, words: list[str]) -> list[str]:
    values = _TAKES_VALUE.get(name, set())
    while words and (words[0].startswith("-") or _ASSIGNMENT.match(words[0])):
        words = words[2:] if words[0] in values else words[1:]
    return words[_WRAPPERS[name] :]


def _entered(command: Command, folder: str) -> str:
    if command.program in ("cd", "pushd") and len(command.words) > 1:
        return placed(command.words[1], folder)
    return folder


def placed(path: str, folder: str) -> str:
    """A path as seen from where the command line started."""
    if not folder or path.startswith(("/", "~", "$")):
        return path
    return posixpath.normpath(posixpath.join(folder, path))
