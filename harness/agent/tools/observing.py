"""What several commands say alike: a page of output, a file that is not there, a number that is none."""

from collections.abc import Mapping, Sequence

from misstep.harness.agent.actions import Observation, write_command
from misstep.harness.agent.environment import FileView
from misstep.harness.agent.paging import page_of

PAGE = {"page": "number of the page of a long output, from 1"}


def paged(lines: Sequence[str], name: str, arguments: Mapping[str, str]) -> Observation:
    """Return a page of a command's output, the first where none is asked for."""
    given = arguments.get("page", "1")
    page = whole_number(given)
    if page is None:
        return Observation(f"page={given!r} is not a whole number.", is_error=True)
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
    """That a file is not there, or is not text, and which may have been meant."""
    if environment.files.exists(path):
        return Observation(f"{path} is not a text file in UTF-8.", is_error=True)
    near = environment.index.near_paths(path)
    hint = f" Did you mean: {', '.join(near)}?" if near else " find_file searches for a name."
    return Observation(f"There is no file {path!r}.{hint}", is_error=True)
