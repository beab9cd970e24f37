"""Tell what a call did to the world: files written, made or deleted, packages installed, commits, commands run.

bash {"command": "cd src && rm b.py"}      → Effect("delete", "src/b.py")
bash {"command": "pip install rich"}       → Effect("install", "rich")

`nature_of` tells what repeating a call can mean: a change, a look, a wait, or a move of what is seen.

bash {"command": "cat a.py | head"}  → look      bash {"command": "pytest -q"}   → test
bash {"command": "sleep 30; gh run view"} → wait  edit_file {…}                  → change
"""

import re
import shlex
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from misstep_harness.classifiers import tools
from misstep_harness.classifiers.failures import failed, own_failure
from misstep_harness.classifiers.history import Act, once
from misstep_harness.classifiers.prose import has
from misstep_harness.classifiers.shell import Command, commands, commands_of, placed
from misstep_harness.classifiers.tools import NEW_KEYS, PATCH_KEYS, Kind, first_text, path_of, words_of
from misstep_harness.trajectory import ToolCall

Nature = Literal["look", "orient", "test", "run", "change", "wait", "move"]

_BY_KIND: dict[Kind, Nature] = {
    "read": "look", "search": "look", "list": "look", "look": "look", "ask": "look", "note": "look", "finish": "look",
    "edit": "change", "write": "change", "patch": "change", "delete": "change", "rename": "change", "undo": "change",
    "change": "change", "test": "test", "run": "run", "wait": "wait", "view": "move",
}  # fmt: skip

_STATUS_WORDS = tools.words("status wait watch poll rollout checks runs")
_HOW_LONG = tools.words(
    "s sec secs second seconds ms millis milliseconds minute minutes mins duration delay time timeout wait"
)
_PAUSES = ("sleep", "wait", "watch", ":")
_ALONE = 2
"""Words of `git status` and of `ls` without anything more."""

_RANK: dict[Nature, int] = {"orient": 0, "look": 1, "test": 2, "move": 3, "run": 4, "change": 5, "wait": 6}


@once
def nature_of(act: Act) -> Nature:
    """Return what repeating a call can mean; a command line of several commands is what its weightiest command is."""
    line = act.line
    if line is None:
        return "wait" if _only_waits(act.call) else _BY_KIND.get(act.kind, "run")
    if not line.strip():
        return "look" if own_failure(act) else "wait"  # an empty line asks what a running program has to say
    commands = commands_of(act)
    natures = {_command_nature(command) for command in commands}
    # What is done before a look at how it goes is no waiting, and neither are tests and changes after a pause.
    if natures & {"test", "change"} or ("run" in natures and all(one.program not in _PAUSES for one in commands)):
        natures.discard("wait")
    return max(natures, key=_RANK.__getitem__, default="run")


def changes_files(act: Act) -> bool:
    """Return whether a call wrote, edited, made or deleted a file."""
    return any(effect.verb in CHANGES_FILES for effect in effects(act))


def _only_waits(call: ToolCall) -> bool:
    arguments = call.arguments
    if not isinstance(arguments, dict) or len(arguments) != 1:
        return False
    ((name, value),) = arguments.items()
    return isinstance(value, int | float) and not isinstance(value, bool) and not _HOW_LONG.isdisjoint(words_of(name))


def is_run(command: Command) -> bool:
    """Return whether a command runs tests or a program, and does not only look."""
    return _command_nature(command) in ("test", "run")


def _command_nature(command: Command) -> Nature:
    words = command.words
    program = command.program
    if command_effects(command):
        return "change"
    if not words or program in tools.ORIENTS:
        return "orient"
    if is_test_run(command):
        return "test"
    if words[0].startswith("./"):
        return "run"  # a program of the project, whatever its name
    if program == "git":
        what = next((word for word in words[1:] if not word.startswith("-")), "")
        if what in ("status", "diff") and all(word.startswith("-") for word in words[_ALONE:]):
            return "orient"
        return "look" if what in tools.GIT_LOOKS else "run"
    if program in tools.WAITS and (program in _PAUSES or _STATUS_WORDS & set(words) or "get" in words):
        return "wait"
    if program in tools.MOVES:
        return "move"
    if program == "ls" and len(words) <= _ALONE:
        return "orient"
    return "look" if program in tools.LOOKS or program == "sed" else "run"


Verb = Literal["edit", "write", "create", "delete", "install", "commit", "push", "git"]
CHANGES_FILES: frozenset[Verb] = frozenset(("edit", "write", "create", "delete"))


class Effect(Struct, frozen=True, gc=False):
    """One thing that a call did; `target` is a path, a package or the arguments of git.

    `text` is what was written, the package manager, or `MOVED` for a path whose file has another name now.
    """

    verb: Verb
    target: str
    text: str = ""


MOVED = "moved"
_PATCH_FILE = re.compile(
    r"^\*\*\* (Update|Add|Delete) File: (.*\S)[^\S\n]*$|^\*\*\* Move to: (.*\S)[^\S\n]*$", re.MULTILINE
)
_DIFF_FILE = re.compile(r"^--- (\S++).*+\n\+\+\+ (\S+)", re.MULTILINE)
_LITERAL = r"(?:(?:pathlib\.)?Path\(\s*)?[rbuf]?(?P<quote>['\"])(?P<path>[^'\"\n]+)(?P=quote)\s*\)?"
_INLINE_WRITES = tuple(
    re.compile(form.format(place=rf"(?:{_LITERAL}|(?P<name>[A-Za-z_]\w*))"))
    for form in (
        r"\bopen\(\s*{place}\s*,\s*(?:mode\s*=\s*)?['\"](?:[wax]|r\+)",
        r"(?<![\w.]){place}\.(?:write_(?:text|bytes)\(|open\(\s*['\"][wax])",
        r"\bwriteFileSync\(\s*{place}",
    )
)
"""How a program writes a file, by its name or by a variable that has it."""
_WRITING = ("open(", ".write_", "writeFileSync(", "remove(", "unlink(", "rmtree(", "unlinkSync(")
_INLINE_NAME = re.compile(rf"(?<![\w.])(?P<name>[A-Za-z_]\w*)\s*=\s*{_LITERAL}\s*(?:[;\n]|$)")
_INLINE_DELETE = re.compile(rf"\b(?:os\.(?:remove|unlink)|shutil\.rmtree|unlinkSync)\(\s*{_LITERAL}")
_INLINE_READ = (
    r"\bopen\(\s*{place}\s*(?:\)|,(?!\s*(?:mode\s*=\s*)?['\"][wax]))"
    r"|{place}\s*\)?\.read_(?:text|bytes)\(|readFileSync\(\s*{place}"
)
_OPEN_FILE = re.compile(r"\[File: (\S+)|^(\S+\.\w+) has been (?:updated|edited)", re.MULTILINE)
_ANSWER = 2000
_FILE = re.compile(r"\.[A-Za-z]{1,5}$")
_LINES = re.compile(r"\d+(?::\d+)?$")
_NAME_OF_COPY = re.compile(r"^.*[/:](?=.)|/?(?:\.git)?/?$")
"""What of the address of a repository is not the folder that a copy gets."""

_DRY_RUN = re.compile(r"-[a-zA-Z]*n[a-zA-Z]*$")
_MAKES_FOLDERS = ("mkdir", "clone", "worktree", "venv")
_SAVES = {"curl": re.compile(r"-[a-zA-Z]*o|--output"), "wget": re.compile(r"-[a-zA-Z]*O|--output-document")}
"""Flags before the file in which what is loaded is put."""

_PUSHED = tools.words("git files branch branches changes code commit commits remote origin repo repository")
_NOWHERE = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "$null", "NUL", "nul", "&1", "&2", "-"))
_UNNAMED = "{}"
"""The file of a command that gets its files from `find` or `xargs`."""

_HAS_VALUE = dict.fromkeys(
    tools.FORMATTERS, tools.words("-c --config --config-file --settings-file --settings-path --stdin-filename")
) | {
    "clone": tools.words("-b -B -c -C -o --branch --config --depth --origin --prompt --python"),
    "touch": tools.words("-r -d -t --reference --date"),
    "install": tools.words("-m -o -g --mode --owner --group"),
    "truncate": tools.words("-s -r --size --reference"),
}
"""Flags whose value, the word behind them, is no file."""


@once
def effects(act: Act) -> list[Effect]:
    """Return what one call did; nothing where it failed or only looked."""
    call = act.call
    kind = act.kind
    if kind == "shell":
        commands = commands_of(act)
        changes = [effect for command in commands for effect in command_effects(command)]
        changes = changes or _edit_of_open_file(act, commands)
        return [] if changes and len(commands) <= 1 and failed(act) else changes
    if kind in ("read", "search", "list", "look", "view", "wait", "ask", "note", "finish", "test") or failed(act):
        return []
    path = path_of(call)
    text = first_text(call.arguments, NEW_KEYS)
    if kind == "patch":
        return patched(
            first_text(call.arguments, PATCH_KEYS) if isinstance(call.arguments, dict) else call.arguments, path
        )
    if kind == "run":
        code = first_text(call.arguments, ("code", "script", "source", "input"))
        return _inline_writes(code, "") if code else []
    verbs: dict[str, Verb] = {"edit": "edit", "undo": "edit", "write": "write", "delete": "delete"}
    if kind in verbs and path:
        return [Effect(verbs[kind], path, text)]
    if kind == "rename":
        new = first_text(call.arguments, ("destination", "new_path", "to", "target", "dest"))
        old = first_text(call.arguments, ("source", "old_path", "from", "path"))
        return [Effect("delete", old, MOVED), *([Effect("write", new)] if new else [])] if old else []
    if kind != "change":
        return []
    name = words_of(call.name)
    if "commit" in name and name.isdisjoint(("comment", "status")):
        return [Effect("commit", "")]
    if "push" in name and (len(name) == 1 or not name.isdisjoint(_PUSHED)):
        return [Effect("push", "")]
    if "install" in name:
        return [Effect("install", path)]
    if not path or ("create" in name and not name.isdisjoint(("directory", "dir", "folder"))):
        return []
    return [Effect("write" if name.isdisjoint(("delete", "remove")) else "delete", path, text)]


def _edit_of_open_file(act: Act, commands: Sequence[Command]) -> list[Effect]:
    if len(commands) != 1 or commands[0].program != "edit" or act.result is None:
        return []
    named = _OPEN_FILE.search(act.result.text[:_ANSWER])
    return [Effect("edit", named.group(1) or named.group(2), commands[0].fed)] if named else []


def patched(text: str, path: str = "") -> list[Effect]:
    """Return the files that a patch changes, in the form of a unified diff or between `*** Begin Patch` marks."""
    changes = []
    for what, named, moved in _PATCH_FILE.findall(text):
        verb: Verb = {"Update": "edit", "Add": "create", "Delete": "delete"}.get(what, "create")  # type: ignore[assignment]
        changes.append(Effect(verb, named or moved, text))
    if not changes:
        for old, new in _DIFF_FILE.findall(text):
            if new == "/dev/null":
                changes.append(Effect("delete", old.removeprefix("a/")))
            else:
                changes.append(Effect("create" if old == "/dev/null" else "edit", new.removeprefix("b/"), text))
    return changes or ([Effect("edit", path, text)] if path else [])


@lru_cache(maxsize=1024)
def _remembered(command: Command) -> tuple[Effect, ...]:
    return tuple(_command_effects(command))


def command_effects(command: Command) -> Sequence[Effect]:
    """Return what one simple command of a shell did, as far as its words tell."""
    return _command_effects(command) if command.fed else _remembered(command)


def _command_effects(command: Command) -> list[Effect]:
    changes = [
        Effect("write", placed(path, command.folder), command.fed) for path in command.writes if path not in _NOWHERE
    ]
    words = command.words
    if not words:
        return changes
    program = command.program
    arguments = _plain(words[1:], _HAS_VALUE.get(program, frozenset()))
    flags = [word for word in words[1:] if word.startswith("-")]

    def at(verb: Verb, *paths: str) -> None:
        changes.extend(
            Effect(verb, placed(path, command.folder), command.fed) for path in paths if path not in _NOWHERE
        )

    if program in tools.RUNNERS and arguments:
        ways = tools.RUNNERS[program]
        if not ways or arguments[0] in ways:
            start = words.index(arguments[0]) + (1 if ways else 0)
            return changes + _command_effects(Command(words[start:], command.folder, (), command.fed))
    if program == "git":
        return changes + _git(command)
    if (installed := _installed(program, words)) is not None:
        return [*changes, *(Effect("install", name, program) for name in installed or [""])]
    if program in ("rm", "unlink", "rmdir", "shred"):
        at("delete", *(arguments or [_UNNAMED]))
    elif program == "find":
        changes += _on_what_is_found(command)
    elif program == "tee":
        at("write", *arguments)
    elif program == "touch":
        at("create", *(arguments or [_UNNAMED]))
    elif program == "truncate":
        at("write", *arguments)
    elif program in ("mv", "cp", "ln", "install") and len(arguments) > 1:
        if "-t" in flags:  # the folder comes first
            folder = words[words.index("-t") + 1]
            arguments = [*(word for word in arguments if word != folder), f"{folder}/"]
        if program == "mv":
            changes += [Effect("delete", placed(path, command.folder), MOVED) for path in arguments[:-1]]
        at("write", *_arrivals(arguments[:-1], arguments[-1]))
    elif program in ("sed", "gsed", "perl") and any(_in_place(program, flag) for flag in flags):
        scripted = any(flag in ("-e", "-f", "--expression") for flag in flags) and program != "perl"
        at("edit", *((_scriptless(words) if scripted or program == "perl" else arguments[1:]) or [_UNNAMED]))
    elif program in ("curl", "wget"):
        at("write", *(path for flag, path in pairwise(words) if _SAVES[program].fullmatch(flag)))
    elif program == "dd":
        at("write", *(word[3:] for word in words if word.startswith("of=")))
    elif program in tools.FORMATTERS and _rewrites(program, words):
        at("edit", *(path for path in arguments if "." in path.strip(".") or "/" in path.strip("./")))
    elif program in ("apply_patch", "patch"):
        changes += patched(command.fed or (arguments[0] if program == "apply_patch" and arguments else ""))
    elif (program == "node" or program.startswith("python")) and (command.fed or "-c" in flags or "-e" in flags):
        changes += _inline_writes(command.fed or " ".join(words), command.folder)
    elif program in ("str_replace_editor", "edit_anthropic") and len(arguments) > 1:
        verbs: dict[str, Verb] = {"create": "create", "str_replace": "edit", "insert": "edit", "undo_edit": "edit"}
        if arguments[0] in verbs:
            at(verbs[arguments[0]], arguments[1])
    elif program == "edit" and arguments and not _LINES.match(arguments[0]):
        at("edit", arguments[0])
    elif program == "create" and len(words) == 2:
        at("create", arguments[0] if arguments else "")
    return changes


def _plain(words: Sequence[str], has_value: frozenset[str] = frozenset()) -> list[str]:
    """Return the words that are neither flags nor their values; what is behind `--` is none of them."""
    end = words.index("--") if "--" in words else len(words)
    pairs = zip(("", *words[:end]), words[:end], strict=False)
    named = [word for before, word in pairs if word[:1] not in ("", "-") and before not in has_value]
    return [*named, *words[end + 1 :]]


def _on_what_is_found(command: Command) -> list[Effect]:
    """Return what `find` does with the files that it finds, by `-delete` or by commands of `-exec`."""
    words = command.words
    changes = [Effect("delete", _UNNAMED)] if "-delete" in words else []
    for start in (place + 1 for place, word in enumerate(words) if word in ("-exec", "-execdir", "-ok")):
        end = next((place for place in range(start, len(words)) if words[place] in (";", "+")), len(words))
        changes += [effect for one in commands(shlex.join(words[start:end])) for effect in command_effects(one)]
    return changes


def _arrivals(sources: Sequence[str], target: str) -> list[str]:
    """Return the files that a copy or a move writes: in a folder, each by its own name."""
    if len(sources) == 1 and not target.endswith("/"):
        return [target]
    return [f"{target.rstrip('/')}/{source.rstrip('/').rsplit('/', 1)[-1]}" for source in sources]


def _in_place(program: str, flag: str) -> bool:
    if flag.startswith("--"):
        return flag.startswith("--in-place")
    return "i" in flag[1:3] if program != "perl" else "i" in flag[1:4]


def _scriptless(words: tuple[str, ...]) -> list[str]:
    files = []
    skip = False
    for word in words[1:]:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word.endswith(("e", "f")) or word == "--expression"
        else:
            files.append(word)
    return files


def _rewrites(program: str, words: tuple[str, ...]) -> bool:
    if {"--check", "--diff", "--check-only"} & set(words):
        return False
    if program in ("ruff", "eslint"):
        return "--fix" in words or (program == "ruff" and "format" in words)
    if program in tools.PRINTING_FORMATTERS:
        return any(word in ("--write", "-w", "--in-place") or re.match(r"-[a-z]*i", word) for word in words)
    return not {"-c", "-d"} & set(words)


def _inline_writes(code: str, folder: str) -> list[Effect]:
    """Return the files that a program changes by a name that it writes out; one that it also reads was there before."""
    if not has(code, _WRITING):
        return []
    names = {match["name"]: match["path"] for match in _INLINE_NAME.finditer(code)}
    done = [Effect("delete", placed(match["path"], folder), code) for match in _INLINE_DELETE.finditer(code)]
    for match in (match for pattern in _INLINE_WRITES for match in pattern.finditer(code)):
        path = match["path"] or names.get(match["name"], "")
        if path:
            place = match["name"] or rf"(?:Path\(\s*)?['\"]{re.escape(path)}['\"]"
            is_read = re.search(_INLINE_READ.format(place=place), code) is not None
            done.append(Effect("edit" if is_read else "write", placed(path, folder), code))
    return done


def _installed(program: str, words: tuple[str, ...]) -> list[str] | None:
    """The packages that a command installs by name (none for the project's own); `None` where it installs nothing."""
    rest = list(words[1:])
    if program.startswith("python") and rest[:2] == ["-m", "pip"]:
        program, rest = "pip", rest[2:]
    if program == "uv" and rest[:1] == ["pip"]:
        program, rest = "pip", rest[1:]
    ways = tools.INSTALLERS.get(program)
    plain = _plain(rest, tools.INSTALLERS_VALUES)
    if ways is None or not plain or plain[0] not in ways or {"--help", "--dry-run"} & set(rest):
        return None if not (program == "yarn" and not rest) else []
    plain += [word.removeprefix("-Dartifact=") for word in rest if word.startswith("-Dartifact=")]
    return [name for name in plain[1:] if not name.startswith(".") and "*" not in name]


def _git(command: Command) -> list[Effect]:
    words = list(command.words[1:])
    folder = command.folder
    while words and words[0].startswith("-"):
        if words[0] == "-C" and len(words) > 1:
            folder = placed(words[1], folder)
        words = words[2:] if words[0] in ("-C", "-c") else words[1:]
    if not words:
        return []
    what, rest = words[0], words[1:]
    plain = [word for word in rest if not word.startswith("-")]
    if _only_says(what, rest):
        return []
    if what == "commit":
        return [Effect("commit", " ".join(rest))]
    if what == "push":
        return [Effect("push", " ".join(rest))]
    if (what == "rm" and "--cached" in rest) or (
        what == "restore" and {"--staged", "-S"} & set(rest) and not {"--worktree", "-W"} & set(rest)
    ):
        return []  # of the index alone
    if what == "apply" and command.fed:
        return patched(command.fed)
    if what in ("rm", "mv"):
        paths = plain if what == "rm" else plain[:-1]
        deletions = [Effect("delete", placed(path, folder), MOVED if what == "mv" else "") for path in paths]
        return deletions + ([Effect("write", placed(plain[-1], folder))] if what == "mv" and plain else [])
    if what in tools.GIT_CHANGES_FILES and not (what == "stash" and rest[:1] in (["list"], ["show"])):
        named = rest[rest.index("--") + 1 :] if "--" in rest else plain if what == "restore" else []
        if what == "checkout" and not named and not {"-b", "-B", "--orphan", "-t", "--track"} & set(rest):
            named = [word for word in plain if _FILE.search(word)]
        return [Effect("edit", placed(path, folder)) for path in named] or [Effect("git", " ".join(words))]
    if (what == "tag" and "-a" in rest) or (
        what in ("tag", "branch") and plain and tools.GIT_LISTS.isdisjoint(word.split("=")[0] for word in rest)
    ):
        return [Effect("git", " ".join(words))]
    return []


def _only_says(what: str, rest: Sequence[str]) -> bool:
    """Return whether a command of git only says what it would do."""
    if what == "apply" and {"--check", "--stat", "--numstat", "--summary"} & set(rest):
        return True
    short = what in ("clean", "push", "rm", "mv") and any(map(_DRY_RUN.match, rest))
    return short or bool({"--dry-run", "--help", "-h"} & set(rest))


def made_folders(act: Act) -> list[str]:
    """Return the folders that a call made: by `mkdir`, as a copy of a repository, as an environment of Python."""
    if act.line is None or not has(act.line, _MAKES_FOLDERS) or failed(act):
        return []
    folders = []
    for command in commands_of(act):
        words = _plain(command.words, _HAS_VALUE["clone"])
        if command.program == "mkdir":
            folders += [placed(path, command.folder) for path in words[1:]]
        elif words[1:2] == ["clone"] or words[1:3] == ["worktree", "add"] or words[1:2] == ["venv"]:
            place = {"clone": 3, "worktree": 3, "venv": 2}[words[1]]
            named = words[place : place + 1] or [_NAME_OF_COPY.sub("", path) for path in words[2:3]]
            folders += [placed(path, command.folder) for path in named]
    return folders


def is_test_run(command: Command) -> bool:
    """Return whether a simple command runs tests."""
    words = command.words
    program = command.program
    if not words or {"--version", "--help"} & set(words):
        return False
    ways = tools.RUNNERS.get(program)
    runs = program in tools.RUN_A_FILE if ways is None else not ways or not ways.isdisjoint(words)
    if runs or program.startswith("python"):
        return any(_names_tests(word, words[place + 2 :]) for place, word in enumerate(words[1:]))
    return _names_tests(words[0], words[1:]) or (program == "node" and "--test" in words)


def _names_tests(word: str, rest: tuple[str, ...]) -> bool:
    name = word.rsplit("/", 1)[-1]
    if name in tools.TEST_PROGRAMS:
        return True
    ways = tools.TEST_COMMANDS.get(name)
    if ways is not None:
        plain = [following for following in rest if not following.startswith("-")]
        if plain[:1] == ["run"]:
            plain = plain[1:]
        return any(following.split(":")[0] in ways for following in plain[:3])
    return name.startswith("test_") or name.endswith(("_test.py", "_tests.py", "run_tests.sh", "test.sh", "tests.sh"))
