"""Tell which dependencies an agent's calls add: by a package manager, or by a line in a file that declares them.

pip install polars                               → adds polars
echo polars >> requirements.txt                  → adds polars
Edit package.json: "a": "1" → "a": "1", "b": "2"  → adds b
pip install -r requirements.txt, npm ci          → adds nothing
"""

import re
from collections.abc import Iterable, Iterator

from misstep.harness.classifiers.calls import programs
from misstep.harness.classifiers.calls.effects import Effect, effects
from misstep.harness.classifiers.calls.failures import failed
from misstep.harness.classifiers.calls.history import Act, History, once
from misstep.harness.classifiers.calls.shell import Command, commands_of, placed
from misstep.harness.classifiers.calls.tools import NEW_KEYS, OLD_KEYS, first_text, path_of
from misstep.harness.classifiers.own_files import FileChange, changes_of
from misstep.harness.classifiers.prose import parts_of

_FOR_DEVELOPMENT = re.compile(
    r"(?:pytest|tox|nox|ruff|mypy|black|isort|flake8|pylint|coverage|build|twine|pip|setuptools|wheel|hatch|uv|poetry"
    r"|pre-commit|virtualenv|ipython|ipdb|debugpy)(?:-.*)?|types-.*"
)
"""Tools that an environment has beside what a program needs: by pip they change nothing in the project."""
_GLOBAL = frozenset({"-g", "--global", "--no-save", "--location=global", "--target", "-t"})
_ISOLATED = frozenset({"pipx", "apt", "apt-get", "brew", "dnf", "yum", "apk", "pacman"})
_PACKAGE = re.compile(r"@?[A-Za-z][\w.-]*(?:/[\w.-]+)*")
_PARTLY = frozenset({"offset", "limit", "view_range", "start_line", "end_line"})
_NUMBER = re.compile(r"^[^\S\n]*+\d++[\t→|:] ?", re.MULTILINE)
_NOT_FOUND = re.compile(r"No matching distribution|Could not find a version|E404|404 Not Found|name resolution")
_READ = 20_000

_REQUIREMENTS = re.compile(
    r"(?:^|/)(?=[\w.-]*?requirements)[\w.-]++(?:(?<=\.txt)|(?<=\.in))$|(?:^|/)requirements/[^/]++(?:(?<=\.txt)|(?<=\.in))$"
)
_LISTS = re.compile(r"(?:^|/)(?:pyproject\.toml|setup\.(?:py|cfg)|Pipfile|Cargo\.toml|environment\.ya?ml)$")
_JSON = re.compile(r"(?:^|/)(?:package|composer)\.json$")
_GO, _GEMS = re.compile(r"(?:^|/)go\.mod$"), re.compile(r"(?:^|/)Gemfile$")

_VERSION = r"(?:===?|[<>~!]=|[<>^~])\s*v?[\d*]"
_LINE = re.compile(
    rf"^[^\S\n]*+(?:-[^\S\n]++)?([A-Za-z][\w.-]*+)(?:\[[\w, .-]*+\])?[^\S\n]*+(?:(?:{_VERSION}|={{1,2}}\d|[;@#]).*)?$",
    re.MULTILINE,
)
_QUOTED = re.compile(
    rf"[\"']([A-Za-z][\w.-]*)(?:\[[\w, .-]*\])?\s*({_VERSION}[^\"']*)?(?:;[^\"']*)?[\"']\s*(?=[,\]\n]|$)"
)
_KEY = re.compile(
    r"^[^\S\n]*+([A-Za-z][\w-]*+)[^\S\n]*+=[^\S\n]*+(?:[\"'](?:[\^~<>=!]{1,2}\s*)?[\d*]|\{[^}\n]*\b(?:version|git|path|extras)\b)",
    re.MULTILINE,
)
_JSON_KEY = re.compile(
    r"\"(@?[A-Za-z][\w./-]*)\"\s*:\s*\"(?:[\^~<>=]{0,2}\s*v?\d|\*|latest|workspace:|git|file:|npm:|https?:)"
)
_GO_LINE = re.compile(r"^[^\S\n]*+(?:require[^\S\n]++)?([\w-]+(?:\.[\w-]+)+/[\w./-]+)\s+v\d", re.MULTILINE)
_GEM = re.compile(r"^[^\S\n]*+gem[^\S\n]++[\"']([\w-]+)", re.MULTILINE)
_DECLARES = re.compile(r"dependenc|requires\b|install_requires", re.IGNORECASE)
_NO_PACKAGE = programs.words(
    "version python python-version requires-python python-requires node npm engines name edition minversion"
    " target-version rust-version"
)


@once
def added_dependencies(history: History) -> list[FileChange]:
    """Return the calls that add a dependency, each with the package manager's package or the file that declares it."""
    answers: list[tuple[str, str]] = []
    added: list[FileChange] = []
    texts: dict[str, str] = {}
    changes = {(change.step, change.effect.target): change for change in changes_of(history)}
    for act in history.acts:
        text = act.result.text[:_READ] if act.result is not None else ""
        for effect in _additions(act, answers, texts):
            change = changes.get((act.step, effect.target), FileChange(act.step, effect, own=False, gone=False))
            if not change.gone and not change.own:
                added.append(change)
        answers.append((act.line or "", text))
        if (path := _read_whole(act)) and not failed(act):
            texts[_key(path)] = _NUMBER.sub("", text)
    return added


def _read_whole(act: Act) -> str:
    if act.kind == "read" and isinstance(act.call.arguments, dict) and _PARTLY.isdisjoint(act.call.arguments):
        return path_of(act.call)
    words = commands[0].words if len(commands := commands_of(act)) == 1 else ()
    return placed(words[1], commands[0].folder) if len(words) == 2 and words[0] == "cat" else ""


def _key(path: str) -> str:
    return "/".join(parts_of(path)[-2:])


def _additions(act: Act, answers: Iterable[tuple[str, str]], texts: dict[str, str]) -> Iterator[Effect]:
    answer = act.result.text if act.result is not None else ""
    for effect in effects(act):
        is_new = effect.verb == "install" and effect.target and not _is_known(act, effect, answers)
        if is_new and not _NOT_FOUND.search(answer):
            yield effect
    if failed(act) and len(commands_of(act)) <= 1:
        return
    for path, old, new in _rewritten(act, texts):
        if declared(path, new) - declared(path, old):
            yield Effect("edit", path, new)


def _is_known(act: Act, effect: Effect, answers: Iterable[tuple[str, str]]) -> bool:
    """Return whether a package is not added to the project: a tool, a file, or one that the project showed it uses."""
    name, program = _PACKAGE.match(effect.target), effect.text
    commands = [command for command in commands_of(act) if effect.target in command.words]
    words = {word for command in commands for word in command.words}
    is_tool = program in _ISOLATED or words & _GLOBAL or (program in ("cargo", "go") and "install" in words)
    if name is None or is_tool or effect.target.startswith("http") or effect.target.endswith((".whl", ".gz")):
        return True
    if program in programs.RECORDS_PACKAGES and not (program == "uv" and "pip" in words):
        return False
    package = name[0].lower()
    if _FOR_DEVELOPMENT.fullmatch(package):
        return True
    spelled = re.escape(package.replace("_", "-")).replace(r"\-", "[-_]")
    word = re.compile(rf"(?<![\w-]){spelled}(?![\w-])", re.IGNORECASE)
    return any(word.search(text) for line, text in answers if not word.search(line))


def _rewritten(act: Act, texts: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Return each file that declares dependencies and that a call changes, with the text before and after it."""
    arguments = act.call.arguments if isinstance(act.call.arguments, dict) else {}
    path = path_of(act.call)
    for command in commands_of(act):
        text = command.fed or "\n".join(command.words[1:]).replace("\\n", "\n")
        is_known = command.program in ("echo", "printf", "cat", "tee") or command.fed
        for target in (*command.writes, *(command.words[1:] if command.program == "tee" else ())):
            if is_known and _declares(target) and (_key(target) in texts or _appends(act, command)):
                yield target, texts.get(_key(target), ""), text
    if act.kind == "patch":
        text = next((value for value in arguments.values() if isinstance(value, str) and "\n" in value), "")
        for effect in effects(act):
            if _declares(effect.target):
                lines = (text or effect.text).splitlines()
                removed, context = _lines(lines, "-"), _lines(lines, " ")
                yield effect.target, f"{context}\n{removed}", f"{context}\n{_lines(lines, '+')}"
    elif path and _declares(path) and act.kind == "edit":
        edits = arguments.get("edits")
        for one in edits if isinstance(edits, list) else [arguments]:
            if isinstance(one, dict):
                yield path, *_texts(one)
    elif path and act.kind == "write" and (old := texts.get(_key(path))):
        yield path, old, _texts(arguments)[1]


def _appends(act: Act, command: Command) -> bool:
    return ">>" in (act.line or "") or "-a" in command.words


def _texts(arguments: dict[str, object]) -> tuple[str, str]:
    return first_text(arguments, OLD_KEYS), first_text(arguments, NEW_KEYS)


def _lines(lines: Iterable[str], sign: str) -> str:
    return "\n".join(line[1:] for line in lines if line.startswith(sign) and not line.startswith(sign * 3))


def _declares(path: str) -> bool:
    return any(pattern.search(path) for pattern in (_REQUIREMENTS, _LISTS, _JSON, _GO, _GEMS))


def declared(path: str, text: str) -> set[str]:
    """Return the packages that a piece of a file that declares dependencies names, in small letters."""
    if _REQUIREMENTS.search(path):
        names = [match[1] for match in _LINE.finditer(text)]
    elif _JSON.search(path):
        names = _JSON_KEY.findall(text)
    elif _GO.search(path):
        names = _GO_LINE.findall(text)
    elif _GEMS.search(path):
        names = _GEM.findall(text)
    elif _LISTS.search(path):
        entries = list(_QUOTED.finditer(text))
        are_packages = any(entry[2] for entry in entries) or _DECLARES.search(text) is not None
        names = [entry[1] for entry in entries if entry[2] or are_packages] + _KEY.findall(text)
        if path.endswith((".yml", ".yaml", ".cfg")):
            names += [match[1] for match in _LINE.finditer(text)]
    else:
        names = []
    return {name.lower().replace("_", "-") for name in names} - _NO_PACKAGE
