"""Long output, a page at a time, and lines of a file with their numbers."""

from collections.abc import Sequence

PAGE_LINES = 400
AROUND = 50
"""How many lines stand around the one that is gone to (table I)."""

MOST_LINE = 500


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
