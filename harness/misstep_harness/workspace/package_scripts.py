"""What `npm test`, `npx` and their like run: a package's scripts and its installed programs, as a plain shell line.

A shell line says which framework runs, so that tests can be named to it. No package manager is needed in the sandbox,
where it might look for a network. Coverage is not measured: one test alone never reaches a threshold.
"""

import json
import re
from collections.abc import Callable, Sequence
from posixpath import normpath

from misstep_harness.workspace.suite.command import OWN_WORDS

Read = Callable[[str], str | None]
"""Return the text of a file of the tree, by its path."""

_DEEPEST = 6
_MANIFEST = "package.json"
_MANAGED = re.compile(rf"(?<![\w./@:-])(npm|pnpm|yarn|bun|npx|bunx)(?=\s)({OWN_WORDS.pattern})")
_WORD = re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+""")
_LONGEST_SCRIPT = 5_000
_GOES_TO = re.compile(r"^\s*cd\s+([\w./@-]+)\s*&&")
_TO_FOLDER = frozenset({"--prefix", "-C", "--cwd", "--dir"})
_TO_PACKAGE = frozenset({"-w", "--workspace", "--filter", "-F", "workspace"})
_EACH = frozenset({"-r", "--recursive", "-ws", "--workspaces"})
_EXECUTES = frozenset({"exec", "x", "dlx"})
_COVERED = re.compile(
    r"(?<![\w./-])(?:c8|nyc)\s+[^|;&()]*?(?=(?:node|mocha|tape|ava|tap|jest|vitest|jasmine|borp|npm|pnpm|yarn|npx|tsx)\s)"
)
_COVERAGE = re.compile(r"(?<=\s)--(?:experimental-test-)?coverage(?:=true)?(?=\s|$)")


def plain_command(command: str, read: Read, paths: Callable[[], Sequence[str]] = tuple) -> str:
    """Return a command with the scripts of the packages in a tree in the place of what starts them."""
    goes = _GOES_TO.search(command)
    folder = normpath(goes[1]) if goes else "."
    line = _Scripts(read, paths).expanded(command, folder, _DEEPEST)
    line = _COVERED.sub("", line)
    if re.search(r"(?:^|[\s/])(?:jest|vitest|node)(?=\s|$)", line):
        line = _COVERAGE.sub("", line)
    programs = "".join(f"$PWD/{each}node_modules/.bin:" for each in dict.fromkeys((_below(folder), "")))
    return f'export PATH="{programs}$PATH"; {line}' if line != command and _MANAGED.search(command) else line


class _Scripts:
    def __init__(self, read: Read, paths: Callable[[], Sequence[str]]) -> None:
        self._read, self._paths = read, paths

    def expanded(self, command: str, folder: str, levels: int) -> str:
        def replaced(match: re.Match[str]) -> str:
            return self._line(match[1], _WORD.findall(match[2]), folder, levels) or match[0]

        return _MANAGED.sub(replaced, command) if levels else command

    def _line(self, manager: str, words: list[str], folder: str, levels: int) -> str:
        """Return what a call of a package manager runs; empty if it is neither a script nor a program."""
        if manager in ("npx", "bunx"):
            return _program(words)
        if _EACH & {*words}:
            return ""
        place, rest = self._place(words, folder)
        if rest and rest[0] in _EXECUTES:
            return _program(rest[1:])
        if rest and rest[0] in ("run", "run-script", "rum", "urn"):
            rest = [word for word in rest[1:] if word not in ("-s", "--silent")]
        elif manager == "npm" and rest and rest[0] not in ("test", "t", "tst"):
            return ""
        if not rest:
            return ""
        scripts = self._scripts(place)
        name = "test" if rest[0] in ("t", "tst") else rest[0]
        if name not in scripts:
            return " ".join(rest) if manager == "yarn" and scripts and name in _PROGRAMS else ""
        added = rest[2:] if rest[1:2] == ["--"] else rest[1:]
        lines = [scripts.get(f"pre{name}", ""), " ".join([scripts[name], *added]), scripts.get(f"post{name}", "")]
        script = " && ".join(self.expanded(line, place, levels - 1) for line in lines if line)
        if place == folder:
            return f"( {script} )"
        return f'( cd "$MISSTEP_ROOT/{place}" && PATH="$PWD/node_modules/.bin:$PATH" && {script} )'

    def _place(self, words: Sequence[str], folder: str) -> tuple[str, list[str]]:
        """Return the folder of the package that a call is about, and its words without options before the script."""
        rest = list(words)
        place = folder
        while rest and (rest[0].startswith("-") or rest[0] == "workspace"):
            option, _, value = rest.pop(0).partition("=")
            if option in _TO_FOLDER | _TO_PACKAGE:
                value = value or (rest.pop(0) if rest else "")
                place = self._package(value) if option in _TO_PACKAGE else normpath(f"{folder}/{value}")
        # npm takes these behind the script's name as well
        for at, word in enumerate(rest):
            if word == "--":
                break
            if word in ("-w", "--workspace", "--prefix") and at + 1 < len(rest):
                place = self._package(rest[at + 1]) if word != "--prefix" else normpath(f"{folder}/{rest[at + 1]}")
                return place, rest[:at] + rest[at + 2 :]
            if word.startswith(("--workspace=", "--prefix=")):
                return self._place([word, *rest[:at], *rest[at + 1 :]], folder)
        return place, rest

    def _package(self, name: str) -> str:
        folders = [path.removesuffix(f"/{_MANIFEST}") for path in self._paths() if path.endswith(f"/{_MANIFEST}")]
        if normpath(name) in folders:
            return normpath(name)
        return next((folder for folder in folders if self._manifest(folder).get("name") == name), name)

    def _scripts(self, folder: str) -> dict[str, str]:
        scripts = self._manifest(folder).get("scripts")
        texts = scripts.items() if isinstance(scripts, dict) else ()
        return {key: text for key, text in texts if isinstance(text, str) and len(text) <= _LONGEST_SCRIPT}

    def _manifest(self, folder: str) -> dict[str, object]:
        try:
            manifest = json.loads(self._read(f"{_below(folder)}{_MANIFEST}") or "{}")
        except (ValueError, RecursionError):
            return {}
        return manifest if isinstance(manifest, dict) else {}


_PROGRAMS = frozenset({"jest", "vitest", "mocha", "ava", "tape", "tap", "c8", "nyc", "node", "tsx"})


def _program(words: Sequence[str]) -> str:
    """Return the call of an installed program without options of what would fetch it; empty where it is unclear."""
    rest = list(words)
    while rest and rest[0] in ("-y", "--yes", "--no", "--no-install", "--"):
        rest.pop(0)
    return " ".join(rest) if rest and not rest[0].startswith("-") and "@" not in rest[0] else ""


def _below(folder: str) -> str:
    return "" if folder == "." else f"{folder}/"
