"""`read_directory`, `read_file`, `find_file`, `go_to_line`: looking at files."""

from collections.abc import Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase

from misstep.harness.agent.actions import Observation
from misstep.harness.agent.environment import FileView
from misstep.harness.agent.tools import Tool
from misstep.harness.agent.tools.observing import PAGE, around, beneath, cut, no_file, numbered, paged, whole_number


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
