"""An index of a workspace's text files: strings by SQLite's trigrams, symbols of the files that name them."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from pathlib import PurePosixPath

from msgspec import Struct

from misstep_harness.agent.code_index.symbols import Symbol, language_of, symbols_in

MOST_BYTES = 1 << 20
"""Files that are longer are not indexed: they are data or generated."""

_TRIGRAM = 3
_MOST_NEAR = 5


class Hit(Struct, frozen=True):
    """A line in which a searched string is; lines count from 1."""

    path: str
    line: int
    text: str


class CodeIndex:
    """The files of a workspace, searchable."""

    def __init__(self, paths: Iterable[str], read: Callable[[str], bytes]) -> None:
        self._read = read
        self._symbols: dict[str, tuple[Symbol, ...]] = {}
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.execute("CREATE VIRTUAL TABLE code USING fts5(path UNINDEXED, text, tokenize='trigram')")
        self._rows: dict[str, int | None] = {}
        for path in paths:
            self.update(path)

    @property
    def paths(self) -> list[str]:
        """Return every file, sorted."""
        return sorted(self._rows)

    def update(self, path: str) -> None:
        """Read a file again, as after an edit; one that is gone leaves the index."""
        self._symbols.pop(path, None)
        if (row := self._rows.pop(path, None)) is not None:
            self._database.execute("DELETE FROM code WHERE rowid = ?", (row,))
        try:
            data = self._read(path)
        except OSError:
            return
        self._rows[path] = None
        if len(data) <= MOST_BYTES and b"\0" not in data:
            text = data.decode("utf-8", "replace")
            self._rows[path] = self._database.execute("INSERT INTO code VALUES (?, ?)", (path, text)).lastrowid

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def search(self, text: str, within: str | None = None) -> list[Hit]:
        """The lines with a string, in the order of the files; whatever its case if no file has it as written."""
        lines = text.strip("\n").split("\n")
        files = list(self._files_with(text.strip("\n"), within))
        exact = [hit for path, body in files for hit in _hits(path, body, lines, str)]
        return exact or [hit for path, body in files for hit in _hits(path, body, lines, str.casefold)]

    def symbols(self, path: str) -> tuple[Symbol, ...]:
        """Return the classes and methods of one file."""
        if path not in self._symbols:
            row = self._rows.get(path)
            stored = self._database.execute("SELECT text FROM code WHERE rowid = ?", (row,)).fetchone() if row else None
            self._symbols[path] = symbols_in(path, stored[0].encode()) if stored else ()
        return self._symbols[path]

    def find(
        self, kind: str, name: str, *, within: str | None = None, parent: str | None = None
    ) -> list[tuple[str, Symbol]]:
        """Return the classes or methods of a name with their files: in one file, in the class `parent`, or anywhere."""
        paths = [path for path, _ in self._files_with(name, within) if language_of(path)]
        return [
            (path, symbol)
            for path in paths
            for symbol in self.symbols(path)
            if symbol.kind == kind and symbol.name == name and parent in (None, symbol.parent)
        ]

    def near_symbols(self, kind: str, name: str, within: str | None = None) -> list[str]:
        """Names of classes or methods that are nearly `name`, in one file or among those that share its beginning."""
        paths = [within] if within else [path for path, _ in self._files_with(name[:_TRIGRAM], None)]
        known = {symbol.name for path in paths for symbol in self.symbols(path) if symbol.kind == kind}
        return get_close_matches(name, sorted(known), n=_MOST_NEAR, cutoff=0.5)

    def near_paths(self, path: str) -> list[str]:
        """Files that may have been meant by a path that is not there: of the same name first, then of a like path."""
        name = PurePosixPath(path).name
        same = [known for known in self.paths if PurePosixPath(known).name == name]
        alike = get_close_matches(path, self.paths, n=_MOST_NEAR, cutoff=0.6)
        return [*dict.fromkeys(same + alike)][:_MOST_NEAR]

    def _files_with(self, text: str, within: str | None) -> Iterator[tuple[str, str]]:
        if within is not None:
            row = self._rows.get(within)
            yield from self._database.execute("SELECT path, text FROM code WHERE rowid = ?", (row,))
        elif len(text) < _TRIGRAM:
            yield from self._database.execute("SELECT path, text FROM code WHERE instr(text, ?) ORDER BY path", (text,))
        else:
            phrase = text.replace("\0", "").replace('"', '""')
            query = "SELECT path, text FROM code WHERE code MATCH ? ORDER BY path"
            yield from self._database.execute(query, (f'text : "{phrase}"',))


def _hits(path: str, body: str, lines: list[str], fold: Callable[[str], str]) -> Iterator[Hit]:
    """Where consecutive lines hold the searched ones: the first ends with its line, the last begins with its own."""
    wanted = [fold(line) for line in lines]
    have = body.split("\n")
    folded = [fold(line) for line in have]
    for number in range(len(have) - len(wanted) + 1):
        if len(wanted) == 1:
            matches = wanted[0] in folded[number]
        else:
            first, *between, last = wanted
            stop = number + len(wanted) - 1
            matches = (
                folded[number].endswith(first)
                and folded[number + 1 : stop] == between
                and folded[stop].startswith(last)
            )
        if matches:
            yield Hit(path, number + 1, have[number])
