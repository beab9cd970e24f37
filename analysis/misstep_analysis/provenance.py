"""Where each figure of a run comes from: `provenance.json`, one object a figure, the inputs of all of them once.

The shape, with made-up values; the same seed on the same machine gives the same bytes:

    {"command": "misstep reproduce fruit --seed 0",
     "seed": 0,
     "versions": {"misstep": "0.1.0", "Python": "3.11.7", "numpy": "2.1.0"},
     "inputs": [
      {"name": "published/fruit", "kind": "published file", "version": "", "sha256": "9f…", "commits": {},
       "files": [], "verified": true},
      {"name": "datasets/pears", "kind": "data set", "version": "pears@1a2b3c4", "sha256": "77…",
       "commits": {"owner/pears": "1a2b3c4…"}, "files": [{"file": "counts.csv", "sha256": "c0…"}], "verified": true},
      {"name": "generated/harness.generate.fruit.make", "kind": "generated", "version": "0.1.0", "sha256": "12…",
       "commits": {}, "files": [], "verified": true}],
     "tables": [
      {"paper": "fruit", "name": "shares", "title": "Shares", "notebooks": ["fruit_shares"],
       "function": "misstep_analysis.papers.fruit.share_table", "function_sha256": "5d…",
        "drawn": ["Shares of ripe pears"],
       "files": {"CSV": "tables/fruit/shares.csv"}}],
     "figures": [
      {"paper": "fruit", "table": "shares", "row": 0, "group": "", "quantity": "Ripe", "evidence": "recomputed",
       "source": "Table 7", "inputs": ["published/fruit"], "seed": 0,
        "function": "misstep_analysis.papers.fruit.share_table"}]}

The sha256 of a data set is that of its list of files, of a generator or function that of its module. `verified` is null
where a set is not available. `row` is the place of the figure in the table's JSON, from 0.
"""

import ast
import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from msgspec import Struct, structs

from misstep_analysis.tables import Table
from misstep_analysis.tables.summary import InputFigure

Kind = Literal["published file", "data set", "generated"]
_MODULE = re.compile(r"misstep(?:_harness|_analysis)?(?:\.[A-Za-z_]\w*)*", re.ASCII)
"""The modules whose source may be shown; nothing else is read."""


class InputFile(Struct, frozen=True):
    """One file of a data set."""

    file: str
    sha256: str


class Input(Struct, frozen=True):
    """What figures are made of; `name` says kind and name, as `datasets/mast`. Without a digest nothing is verified."""

    name: str
    kind: Kind
    version: str
    sha256: str
    commits: dict[str, str] = {}
    files: tuple[InputFile, ...] = ()
    verified: bool | None = True

    def __post_init__(self) -> None:
        """Take back that an input is verified where there is no digest of it."""
        if self.verified and not self.sha256:
            structs.force_setattr(self, "verified", False)


class MadeTable(Struct, frozen=True):
    """A table of a run: the function that made it, the notebooks that show it, the figures drawn from it."""

    paper: str
    name: str
    title: str
    notebooks: tuple[str, ...]
    function: str
    function_sha256: str
    drawn: tuple[str, ...]
    files: dict[str, str]


class Provenance(Struct, frozen=True):
    """All figures of a run with what they are made of."""

    command: str
    seed: int
    versions: dict[str, str]
    inputs: tuple[Input, ...]
    tables: tuple[MadeTable, ...]
    figures: tuple[InputFigure, ...]


def module_sha256(function: str) -> str:
    """sha256 of the source of the module that a function is in; empty without that source."""
    source = source_of(function.rpartition(".")[0])
    return hashlib.sha256(source.encode()).hexdigest() if source else ""


def made_tables(
    tables: Mapping[str, Sequence[Table]],
    drawn: Mapping[tuple[str, str], Sequence[str]],
    files: Mapping[tuple[str, str], dict[str, str]],
) -> tuple[MadeTable, ...]:
    """Return every table once, by paper and name."""
    known = {(table.paper, table.name): table for shown in tables.values() for table in shown}
    return tuple(
        MadeTable(
            *key,
            table.title,
            tuple(notebook for notebook, shown in sorted(tables.items()) if table in shown),
            table.made_by,
            module_sha256(table.made_by),
            tuple(dict.fromkeys(drawn.get(key, ()))),
            files.get(key, {}),
        )
        for key, table in sorted(known.items())
    )


@cache
def source_of(module: str) -> str:
    """Return the source of a module; empty where it is none of this project's."""
    if not _MODULE.fullmatch(module):
        return ""
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:
        return ""
    if spec is None or spec.origin is None:
        return ""
    return Path(spec.origin).read_text(encoding="utf-8")


@cache
def line_of(function: str) -> int | None:
    """Return the line, from 1, of a function such as `misstep_analysis.observer.paper.prevalence.models_table`."""
    module, _, name = function.rpartition(".")
    for node in ast.parse(source_of(module)).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node.lineno
    return None
