"""Record what users may rely on, a line a promise: `python -m scripts.guarantees`. A test finds lines that changed.

A line that goes breaks somebody's script: keep what it promises for a minor version first (docs/guarantees.md).
"""

import ast
import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any, get_args

import msgspec
import typer

import misstep
from misstep.command_line import LINES
from misstep.doctor.plugins import _REGISTRIES
from misstep_analysis.runs.kind import KINDS
from misstep_harness import errors
from misstep_harness.journal import records
from misstep_harness.observer import records as observer_records
from misstep_harness.reflexive import records as reflexive_records
from misstep_harness.repair import records as repair_records
from misstep_harness.triage import records as triage_records
from misstep_harness.verdict import PairVerdict
from scripts.schemas.known import DOCUMENTS, schema_of

FOLDER = Path(__file__).parents[1] / "tests/reference/guarantees"


def commands() -> Iterator[str]:
    """List the commands with their options and arguments."""
    for name, (module, _) in LINES.items():
        yield from _of_command(f"misstep {name}", typer.main.get_command(import_module(module).app))


def _of_command(line: str, command: Any) -> Iterator[str]:
    yield line
    for one in command.params:
        kind = one.type_descriptor.annotation
        value = "|".join(getattr(part, "__name__", str(part)) for part in get_args(kind) or [kind])
        shown = "" if getattr(one, "is_flag", False) else f" <{value}>"
        several = "…" * (one.multiple or one.nargs < 0)
        default = "" if one.default in (None, False) or callable(one.default) else f" [{one.default}]"
        names = "/".join([*one.opts, *one.secondary_opts])
        yield f"{line} {names}{shown}{several}{default}{' required' * one.required}"
    for name, inner in getattr(command, "commands", {}).items():
        yield from _of_command(f"{line} {name}", inner)


def documents() -> Iterator[str]:
    """List the keys of the JSON documents with their types; `?` is behind a key that may be missing."""
    for command in DOCUMENTS:
        yield from _of_schema(f"misstep {command}", schema_of(command))


def runs() -> Iterator[str]:
    """List the kinds of runs, and the records in their folders."""
    yield from (f"kind of run: {name}" for name in KINDS)
    rooms = (records, observer_records, reflexive_records, repair_records, triage_records)
    for one in (value for room in rooms for value in vars(room).values() if isinstance(value, records.Records)):
        yield from _of_schema(one.file, msgspec.json.schema(one.type))
    yield from _of_schema(records.VERDICTS, msgspec.json.schema(PairVerdict))
    yield from _of_schema(records.MANIFEST, msgspec.json.schema(records.Manifest))


def _of_schema(place: str, schema: dict[str, Any]) -> Iterator[str]:
    """List what a JSON Schema allows at a place, and in the definitions to which it refers."""
    for name, inner in schema.get("$defs", {}).items():
        yield from _of_schema(name, inner)
    for name, inner in schema.get("properties", {}).items():
        yield from _of_schema(f"{place}.{name}{'' if name in schema.get('required', ()) else '?'}", inner)
    for key, below in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(key), dict):
            yield from _of_schema(f"{place}{below}", schema[key])
    for inner in (*schema.get("anyOf", ()), *schema.get("prefixItems", ())):
        yield from _of_schema(place, inner)
    kinds = schema.get("type", ())
    named = [schema["$ref"].rpartition("/")[2]] if "$ref" in schema else [kinds] if isinstance(kinds, str) else kinds
    yield from (f"{place}: {one}" for one in (*named, *map(repr, schema.get("enum", ()))))


def names() -> Iterator[str]:
    """List what `from misstep import …` gives, with members and parameters; groups of entry points; exit codes."""
    for name in sorted({*misstep.__all__} - {"__version__"}):
        public = getattr(misstep, name)
        yield f"misstep.{name}"
        for one in public.__mro__ if isinstance(public, type) else [public]:
            if one.__module__.startswith("misstep"):
                yield from _of_source(f"misstep.{name}", ast.parse(dedent(inspect.getsource(one))).body[0])
    yield from (f"entry points: {group}" for group in sorted({*_REGISTRIES, KINDS.group}))
    of_module = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.MisstepError)]
    yield from (f"exit code {one.exit_code}: {one.__name__}" for one in of_module)


def _of_source(place: str, node: ast.stmt) -> Iterator[str]:
    """List the signature of a function, or the public members of a class, as its source has them."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        waits = "await " * isinstance(node, ast.AsyncFunctionDef)
        yield f"{waits}{place}({ast.unparse(node.args)}) -> {ast.unparse(node.returns) if node.returns else None}"
    for one in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(one, ast.AnnAssign) and not ast.unparse(one.target).startswith("_"):
            yield f"{place}.{ast.unparse(one)}"
        elif isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and (
            not one.name.startswith("_") or one.name in ("__init__", "__call__")
        ):
            yield from _of_source(f"{place}.{one.name}", one)


GUARANTEES: dict[str, Callable[[], Iterator[str]]] = {
    "commands": commands,
    "documents": documents,
    "runs": runs,
    "names": names,
}
"""Name of the file → what lists its lines."""


def main() -> None:
    """Write the lines of today."""
    for name, lines in GUARANTEES.items():
        (FOLDER / f"{name}.txt").write_text("".join(f"{line}\n" for line in dict.fromkeys(lines())), "utf-8")


if __name__ == "__main__":
    main()
