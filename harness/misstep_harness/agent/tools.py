"""Carry out the 15 commands of table I, by its names and arguments; whatever goes wrong is an observation."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

from misstep_harness.agent.actions import Action, EditFeedback, Observation, write_command
from misstep_harness.agent.environment import Edited, Environment, FileView
from misstep_harness.errors import EditRefused, MisstepError, closed
from misstep_harness.registry import Registry

if TYPE_CHECKING:
    from misstep_harness.agent.code_index import Hit, Symbol

PAGE_LINES = 400
AROUND = 50
"""How many lines are shown around the one that is gone to (table I)."""

MOST_LINE = 500

PAGE = {"page": "number of the page of a long output, from 1"}


def paged(lines: Sequence[str], name: str, arguments: Mapping[str, str]) -> Observation:
    """Return a page of a command's output, the first where none is asked for."""
    number = arguments.get("page", "1")
    page = whole_number(number)
    if page is None:
        return Observation(f"page={number!r} is not a whole number.", is_error=True)
    rest = {key: value for key, value in arguments.items() if key != "page"}
    try:
        return Observation(page_of(lines, page, write_command(name, rest)))
    except ValueError as error:
        return Observation(str(error), is_error=True)


def whole_number(text: str) -> int | None:
    """Return the whole number that a text is, if it is one."""
    stripped = text.strip()
    return int(stripped) if stripped.isascii() and stripped.isdigit() and len(stripped) <= 9 else None


def beneath(path: str) -> str:
    """Return a path as the workspace names it: without `./`, doubled slashes or one at the end."""
    return "/".join(part for part in path.strip().split("/") if part not in ("", "."))


def no_file(path: str, environment: FileView) -> Observation:
    """Say that a file is not there, or is not text, and which may have been meant."""
    if environment.files.exists(path):
        return Observation(f"{path} is not a text file in UTF-8.", is_error=True)
    near = environment.index.near_paths(path)
    hint = f" Did you mean: {', '.join(near)}?" if near else " find_file searches for a name."
    return Observation(f"There is no file {path!r}.{hint}", is_error=True)


def page_of(lines: Sequence[str], page: int, command: str) -> str:
    """Return one page of lines, counted from 1, and which command gives the next."""
    pages = max(1, -(-len(lines) // PAGE_LINES))
    if not 1 <= page <= pages:
        raise ValueError(f"There {'is 1 page' if pages == 1 else f'are {pages} pages'}, and no page {page}.")
    shown = [cut(line) for line in lines[(page - 1) * PAGE_LINES : page * PAGE_LINES]]
    if page < pages:
        shown.append(f"[page {page} of {pages}; the next one: {command} page={page + 1}]")
    return "\n".join(shown)


def numbered(lines: Sequence[str], first: int = 1) -> list[str]:
    """Lines with their numbers before them, aligned."""
    width = len(str(first + len(lines) - 1))
    return [f"{number:>{width}} {line}" for number, line in enumerate(lines, first)]


def around(lines: Sequence[str], line: int) -> tuple[int, Sequence[str]]:
    """Return the `AROUND` lines about one, and the number of the first of them; fewer at the file's ends."""
    first = max(1, min(line - AROUND // 2, len(lines) - AROUND + 1))
    return first, lines[first - 1 : first - 1 + AROUND]


def cut(line: str) -> str:
    """Return a line, cut where it is long."""
    return line if len(line) <= MOST_LINE else f"{line[:MOST_LINE]}… [{len(line) - MOST_LINE} more characters]"


async def _read_directory(arguments: Mapping[str, str], environment: FileView) -> Observation:
    folder = beneath(arguments["directory_path"])
    start = f"{folder}/" if folder else ""
    below = [path.removeprefix(start) for path in environment.files.files() if path.startswith(start)]
    if not below:
        if environment.files.exists(folder):
            return Observation(f"{folder} is a file: read_file file_path='{folder}'", is_error=True)
        folders = sorted({path.rpartition("/")[0] for path in environment.files.files()} - {""})
        near = get_close_matches(folder, folders, n=3, cutoff=0.5)
        hint = f" Did you mean: {', '.join(near)}?" if near else ""
        return Observation(f"There is no directory {folder!r}.{hint}", is_error=True)
    entries = {rest.split("/", 1)[0] + ("/" if "/" in rest else "") for rest in below}
    return paged(sorted(entries), "read_directory", arguments)


async def _read_file(arguments: Mapping[str, str], environment: FileView) -> Observation:
    path = beneath(arguments["file_path"])
    text = environment.text(path)
    if text is None:
        return no_file(path, environment)
    if not text:
        return Observation(f"{path} is empty.")
    return paged(numbered(text.splitlines()), "read_file", arguments)


async def _find_file(arguments: Mapping[str, str], environment: FileView) -> Observation:
    wanted = beneath(arguments["file_name"])
    if not wanted:
        return Observation("file_name is empty.", is_error=True)
    pattern = wanted if any(letter in wanted for letter in "*?[") else f"*{wanted}"
    paths = environment.files.files()
    matches = [path for path in paths if fnmatchcase(path, pattern) or fnmatchcase(path.rpartition("/")[2], pattern)]
    # A name that is exactly the wanted one comes before those that only end with it.
    matches.sort(key=lambda path: (path != wanted and path.rpartition("/")[2] != wanted, path))
    if not matches:
        near = environment.index.near_paths(wanted)
        hint = f" Did you mean: {', '.join(near)}?" if near else ""
        return Observation(f"No file is named like {wanted!r}.{hint}", is_error=True)
    return paged(matches, "find_file", arguments)


async def _go_to_line(arguments: Mapping[str, str], environment: FileView) -> Observation:
    path, line = beneath(arguments["file_path"]), whole_number(arguments["line"])
    text = environment.text(path)
    if text is None:
        return no_file(path, environment)
    lines = text.splitlines()
    if line is None or not 1 <= line <= len(lines):
        return Observation(f"{path} has {len(lines)} lines, and no line {arguments['line']!r}.", is_error=True)
    first, shown = around(lines, line)
    return Observation("\n".join(cut(each) for each in numbered(shown, first)))


Place = TypeVar("Place", contravariant=True)


class Tool(Struct, Generic[Place], frozen=True):
    """One command: its purpose as a sentence, its arguments, all of them required, and what it does."""

    name: str
    purpose: str
    parameters: Mapping[str, str]
    run: Callable[[Mapping[str, str], Place], Awaitable[Observation]]
    optional: Mapping[str, str] = {}

    @property
    def usage(self) -> str:
        """Return how it is written, with the meaning of each argument in the place of its value."""
        required = [f"{name}=<{meaning}>" for name, meaning in self.parameters.items()]
        return " ".join([self.name, *required, *(f"[{name}=<{meaning}>]" for name, meaning in self.optional.items())])


READ_DIRECTORY = Tool(
    "read_directory",
    "List what a directory holds.",
    {"directory_path": "path of the directory; '.' is the root"},
    _read_directory,
    PAGE,
)
READ_FILE = Tool("read_file", "Show a file with line numbers.", {"file_path": "path of the file"}, _read_file, PAGE)
FIND_FILE = Tool("find_file", "Find files by name; * and ? may be in it.", {"file_name": "name"}, _find_file, PAGE)
GO_TO_LINE = Tool(
    "go_to_line",
    "Show the 50 lines around a line.",
    {"file_path": "path of the file", "line": "number of the line, from 1"},
    _go_to_line,
)


_WHOLE_BODIES = 3
"""Up to so many classes or methods are shown with their bodies, more by their place alone."""

_MOST_BODY = 200


def _hits(hits: "Sequence[Hit]", text: str, where: str, name: str, arguments: Mapping[str, str]) -> Observation:
    if not hits:
        return Observation(f"{text!r} is nowhere in {where}.", is_error=True)
    return paged([f"{hit.path}:{hit.line}: {hit.text.strip()}" for hit in hits], name, arguments)


async def _search_code(arguments: Mapping[str, str], environment: FileView) -> Observation:
    text = arguments["code_str"]
    if not text.strip():
        return Observation("code_str is empty.", is_error=True)
    return _hits(environment.index.search(text), text, "the code", "search_code", arguments)


async def _search_code_in_file(arguments: Mapping[str, str], environment: FileView) -> Observation:
    text, path = arguments["code_str"], beneath(arguments["file_path"])
    if environment.text(path) is None:
        return no_file(path, environment)
    if not text.strip():
        return Observation("code_str is empty.", is_error=True)
    return _hits(environment.index.search(text, path), text, path, "search_code_in_file", arguments)


def _symbols(
    kind: str,
    wanted: str,
    environment: FileView,
    name: str,
    arguments: Mapping[str, str],
    *,
    within: str | None = None,
    parent: str | None = None,
) -> Observation:
    symbols = environment.index.find(kind, wanted, within=within, parent=parent)
    if not symbols:
        where = f" in {within}" if within else ""
        where += f" in the class {parent}" if parent else ""
        near = [] if parent else environment.index.near_symbols(kind, wanted, within)
        hint = f" Did you mean: {', '.join(near)}?" if near else " search_code searches for any text."
        return Observation(f"There is no {kind} {wanted!r}{where}.{hint}", is_error=True)
    lines: list[str] = []
    for path, symbol in symbols:
        lines.append(f"{path}:{symbol.first}-{symbol.last}: {kind} {_full_name(symbol)}")
        if len(symbols) <= _WHOLE_BODIES:
            body = (environment.text(path) or "").split("\n")[symbol.first - 1 : symbol.last]
            shown = [cut(line) for line in numbered(body[:_MOST_BODY], symbol.first)]
            lines += shown if len(body) <= _MOST_BODY else [*shown, f"[{len(body) - _MOST_BODY} more lines]"]
    return paged(lines, name, arguments)


def _full_name(symbol: "Symbol") -> str:
    return f"{symbol.parent}.{symbol.name}" if symbol.parent else symbol.name


async def _search_class(arguments: Mapping[str, str], environment: FileView) -> Observation:
    return _symbols("class", arguments["class_name"].strip(), environment, "search_class", arguments)


async def _search_method(arguments: Mapping[str, str], environment: FileView) -> Observation:
    return _symbols("method", arguments["method_name"].strip(), environment, "search_method", arguments)


async def _search_method_in_file(arguments: Mapping[str, str], environment: FileView) -> Observation:
    path = beneath(arguments["file_path"])
    if environment.text(path) is None:
        return no_file(path, environment)
    wanted = arguments["method_name"].strip()
    return _symbols("method", wanted, environment, "search_method_in_file", arguments, within=path)


async def _search_method_in_class(arguments: Mapping[str, str], environment: FileView) -> Observation:
    wanted, parent = arguments["method_name"].strip(), arguments["class_name"].strip()
    if not environment.index.find("class", parent) and not environment.index.find("method", wanted, parent=parent):
        return _symbols("class", parent, environment, "search_method_in_class", arguments)
    return _symbols("method", wanted, environment, "search_method_in_class", arguments, parent=parent)


_TEXT = {"code_str": "text to search for"}
_METHOD = {"method_name": "name of the method or function"}
_FILE = {"file_path": "path of the file"}
_CLASS = {"class_name": "name of the class"}

SEARCH_CODE = Tool("search_code", "Search all code for a text.", _TEXT, _search_code, PAGE)
SEARCH_CODE_IN_FILE = Tool(
    "search_code_in_file", "Search one file for a text.", {**_TEXT, **_FILE}, _search_code_in_file, PAGE
)
SEARCH_CLASS = Tool("search_class", "Find a class by its name.", _CLASS, _search_class, PAGE)
SEARCH_METHOD = Tool("search_method", "Find a method or function by its name.", _METHOD, _search_method, PAGE)
SEARCH_METHOD_IN_FILE = Tool(
    "search_method_in_file", "Find a method in one file.", {**_METHOD, **_FILE}, _search_method_in_file, PAGE
)
SEARCH_METHOD_IN_CLASS = Tool(
    "search_method_in_class", "Find a method of one class.", {**_METHOD, **_CLASS}, _search_method_in_class, PAGE
)


_FEWEST_OF_ID = 6
_CHANGED = re.compile(r"^(?:\+\+\+ b/|--- a/)([^\t\n]+)", re.MULTILINE)


def _details(kind: str, number: str, known: Mapping[str, str], name: str, arguments: Mapping[str, str]) -> Observation:
    wanted = number.strip().lstrip("#")
    # An id may be cut short, or be longer than the one that is known; of `task-7` the 7 is enough.
    alike = [one for one in known if one.endswith(f"-{wanted}") or _begins_alike(one, wanted)]
    if wanted and (name_known := wanted if wanted in known else alike[0] if len(alike) == 1 else ""):
        return paged(known[name_known].splitlines(), name, arguments)
    there = f"Known: {', '.join(sorted(known))}." if known else f"No {kind} is known here."
    return Observation(f"There is no {kind} {number!r}. {there}", is_error=True)


def _begins_alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= _FEWEST_OF_ID and long.startswith(short)


async def _diff(arguments: Mapping[str, str], environment: Environment) -> Observation:
    known = {number: _titled(text) for number, text in environment.diffs.items()}
    return _details("diff", arguments["diff_number"], known, "get_diff_details", arguments)


def _titled(diff: str) -> str:
    """Return a diff with what it is about above it: a bare one has no title, and the files that it changes say most."""
    if not diff.lstrip().startswith(("diff ", "--- ", "Index: ")):
        return diff
    files = dict.fromkeys(_CHANGED.findall(diff))
    return f"Title: none is known; it changes {', '.join(files) or 'no file'}\n\n{diff}"


async def _task(arguments: Mapping[str, str], environment: Environment) -> Observation:
    return _details("task", arguments["task_num"], environment.tasks, "get_task_details", arguments)


async def _run_tests(arguments: Mapping[str, str], environment: Environment) -> Observation:  # noqa: ARG001
    if environment.run_tests is None:
        return Observation("Tests cannot be run in this environment.", is_error=True)
    return Observation((await environment.run_tests()).feedback())


async def _exit(arguments: Mapping[str, str], environment: Environment) -> Observation:  # noqa: ARG001
    return Observation("The run has ended.", ends=True)


async def _edit(arguments: Mapping[str, str], environment: Environment) -> Observation:
    path, instructions = beneath(arguments["file_path"]), arguments["instructions"]
    content = environment.text(path)
    if content is None:
        return no_file(path, environment)
    if not instructions.strip():
        return Observation("instructions is empty: say in words what to change.", is_error=True)
    try:
        reply = await environment.reply_of_patcher(path, content, instructions)
    except EditRefused as error:  # the change cannot be written in the run's format: the agent may want another one
        return _refused(environment, Edited(path, "", refused=error.line()))
    try:
        applied = environment.apply(reply, path)
    except (MisstepError, OSError) as error:
        refused = error.line() if isinstance(error, MisstepError) else str(error)
        return _refused(environment, Edited(path, reply, refused=refused))
    changed = tuple(applied.files)
    environment.edits.append(Edited(path, reply, applied.rules, changed))
    if not changed:
        return Observation("The edit changes nothing.", is_error=True, feedback=EditFeedback())
    return await _checked(changed, environment)


async def _checked(changed: tuple[str, ...], environment: Environment) -> Observation:
    errors = await environment.static_analysis(changed) if environment.static_analysis is not None else ""
    texts = [errors or f"The edit was successful: {', '.join(changed)} changed."]
    passed, rejected = None, False
    if environment.run_tests is not None:
        report = await environment.run_tests()
        passed = report.passed
        texts.append(f"The tests were run:\n{report.feedback()}")
        if passed and not errors and environment.patch_judge is not None:
            text, rejected = await environment.patch_judge()
            texts.append(text)
    return Observation("\n\n".join(texts), feedback=EditFeedback(True, bool(errors) or rejected, passed))


def _refused(environment: Environment, edit: Edited) -> Observation:
    environment.edits.append(edit)
    text = f"The edit was not applied: {closed(edit.refused)} Nothing has changed."
    return Observation(text, is_error=True, feedback=EditFeedback(applied=False))


_NUMBER = {"diff_number": "number of the diff"}
GET_DIFF_DETAILS = Tool(
    "get_diff_details", "Show a change: its title, its summary and what it changed.", _NUMBER, _diff, PAGE
)
GET_TASK_DETAILS = Tool(
    "get_task_details", "Show a task by its number.", {"task_num": "number of the task"}, _task, PAGE
)
RUN_TESTS = Tool("run_tests", "Run the tests that the task is about and show what fails.", {}, _run_tests)
EDIT = Tool(
    "edit",
    "Change a file: say in plain words what to change; a colleague who sees the file writes the change.",
    {"file_path": "path of the file", "instructions": "what to change, in words"},
    _edit,
)
EXIT = Tool("exit", "End the run, with a summary of what you did.", {"summary": "what you did and why"}, _exit)
TOOLS: "Registry[Tool[Environment]]" = Registry(
    "misstep.agent_tools",
    {
        "exit": "misstep_harness.agent.tools:EXIT",
        "get_diff_details": "misstep_harness.agent.tools:GET_DIFF_DETAILS",
        "get_task_details": "misstep_harness.agent.tools:GET_TASK_DETAILS",
        "read_directory": "misstep_harness.agent.tools:READ_DIRECTORY",
        "read_file": "misstep_harness.agent.tools:READ_FILE",
        "find_file": "misstep_harness.agent.tools:FIND_FILE",
        "go_to_line": "misstep_harness.agent.tools:GO_TO_LINE",
        "search_code": "misstep_harness.agent.tools:SEARCH_CODE",
        "search_code_in_file": "misstep_harness.agent.tools:SEARCH_CODE_IN_FILE",
        "search_class": "misstep_harness.agent.tools:SEARCH_CLASS",
        "search_method": "misstep_harness.agent.tools:SEARCH_METHOD",
        "search_method_in_file": "misstep_harness.agent.tools:SEARCH_METHOD_IN_FILE",
        "search_method_in_class": "misstep_harness.agent.tools:SEARCH_METHOD_IN_CLASS",
        "run_tests": "misstep_harness.agent.tools:RUN_TESTS",
        "edit": "misstep_harness.agent.tools:EDIT",
    },
)
"""Name → dotted path, in the order of the paper's table; entry points in the group add to it."""


@cache
def tool_named(name: str) -> Tool[Environment]:
    """Return the command of a name; raises `UsageError` if there is none."""
    return TOOLS.load(name)


def repair_tools(environment: Environment) -> tuple[Tool[Environment], ...]:
    """Return the commands of a repair agent; it runs tests only where its setting lets it."""
    return tuple(tool_named(name) for name in TOOLS if name != "run_tests" or environment.run_tests is not None)


async def carry_out(action: Action, place: Place, tools: Sequence[Tool[Place]]) -> Observation:
    """Return what a command gives; a malformed, unknown or forbidden one gives an explanation."""
    by_name = {tool.name: tool for tool in tools}
    if action.error:
        example = by_name.get("read_file", tools[0])
        return Observation(f"{action.error} Enter one command, as: {example.usage}", is_error=True)
    if action.name not in by_name:
        near = get_close_matches(action.name, by_name, n=3)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        return Observation(f"There is no command {action.name!r}.{hint} Commands: {', '.join(by_name)}", is_error=True)
    tool = by_name[action.name]
    missing = [name for name in tool.parameters if name not in action.arguments]
    unknown = [name for name in action.arguments if name not in tool.parameters and name not in tool.optional]
    if missing or unknown:
        problems = [f"lacks {', '.join(missing)}"] if missing else []
        problems += [f"has no argument {', '.join(unknown)}"] if unknown else []
        return Observation(f"{action.name} {' and '.join(problems)}. Usage: {tool.usage}", is_error=True)
    return await tool.run(action.arguments, place)
