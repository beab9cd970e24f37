"""What several commands say alike: a page of output, lines with numbers, a file that is not there."""

from collections.abc import Mapping, Sequence

from misstep.harness.agent.actions import Observation, write_command
from misstep.harness.agent.environment import FileView

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
