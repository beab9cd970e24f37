"""No key leaves with an export, and no path or server of the machine: rows are looked through before they are written.

A secret is the key of the environment in any spelling, whatever else of the environment goes to a server, and whatever
has the form of a key.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import Struct

from misstep_analysis.runs.kind import ExportedTable, Values
from misstep_harness.errors import InputError
from misstep_harness.journal.records import encode
from misstep_harness.path_names import Places, without_folders, without_places
from misstep_harness.redaction import KEY, Redaction, keys_in, secrets, without_keys

_PLACES = frozenset({"file", "project"})
"""The columns that hold places: of a path that no command line names, the last name is left."""

_OF_ENVIRONMENT = "a secret of the environment"


class FoundSecret(Struct, frozen=True):
    """A secret: its kind, and the file, the record and the column that it is in."""

    kind: str
    file: str
    record: str
    column: str


class Secrets:
    """Finds secrets in what is exported, or takes them out."""

    def __init__(self, *, replace: bool, places: Places | None = None) -> None:
        self.places = places or {}
        self.replace = replace
        self.hits: list[FoundSecret] = []
        self._redaction = Redaction(os.environ.get(KEY, ""), secrets())

    def checked(self, table: ExportedTable) -> Iterator[Values]:
        """Return the rows of a table; with `replace` without secrets."""
        for cells in table.rows():
            row = {name: self._from_here(value, name in _PLACES) for name, value in cells.items()}
            # A row is looked through as a whole first: nearly none has a secret.
            yield self._checked(row, table) if any(self._kinds(encode(row).decode())) else row

    def text(self, text: str, file: str, record: str) -> str:
        """Return a text that is in no table; with `replace` without secrets."""
        text = without_places(text, self.places)
        self.hits += [FoundSecret(kind, file, record, "") for kind in self._kinds(text)]
        return self._without(text) if self.replace else text

    def refuse(self, folder: str) -> None:
        """Refuse the export where secrets were found and not replaced."""
        if not self.hits or self.replace:
            return
        first, more = self.hits[0], len(self.hits) - 1
        others = f", and {more:,} more" if more else ""
        raise InputError(
            f"this has the form of {first.kind}{others}, and an export is made to be passed on",
            "Write it with --redact, which puts [secret] in the place of each.",
            file=f"{folder}/{first.file}",
            field=": ".join(filter(None, (first.record, first.column))),
        )

    def counts(self) -> dict[str, int]:
        """Return how many of each kind were found, the most frequent first."""
        return dict(Counter(one.kind for one in self.hits).most_common())

    def _checked(self, row: Values, table: ExportedTable) -> Values:
        record = ", ".join(f"{name} {row[name]}" for name in table.key)
        checked = {}
        for name, value in row.items():
            for text in _texts(value):
                self.hits += [FoundSecret(kind, table.file, self._without(record), name) for kind in self._kinds(text)]
            checked[name] = _in_texts(value, self._without) if self.replace else value
        return checked

    def _from_here(self, value: Any, is_place: bool) -> Any:
        """Return a value without the places of the machine."""
        if isinstance(value, str):
            text = without_places(value, self.places)
            return without_folders(text) if is_place else text
        return _in_texts(value, lambda text: without_places(text, self.places))

    def _kinds(self, text: str) -> Iterator[str]:
        for key in keys_in(text):
            yield key.kind
        if self._redaction(text) != text:
            yield _OF_ENVIRONMENT

    def _without(self, text: str) -> str:
        return without_keys(self._redaction(text))


def _in_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a value in whose texts something is changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _in_texts(one, change) for name, one in value.items()}
    return [_in_texts(one, change) for one in value] if isinstance(value, list | tuple) else value


def _texts(value: Any) -> Iterable[str]:
    """Return the texts in a value."""
    if isinstance(value, str):
        return (value,)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return (text for one in inner for text in _texts(one))
