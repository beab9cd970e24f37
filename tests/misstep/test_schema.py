"""`misstep schema COMMAND`: every command with --json has a schema; `tests.schemas` holds its documents to it."""

import json
from collections.abc import Iterator
from importlib import import_module

import pytest
import typer
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from misstep import schema
from misstep.command_groups import LINES
from misstep.schema.known import known_commands, schema_of
from tests.misstep.as_a_user import command_of
from tests.misstep.made_up import atif_lines
from tests.misstep.made_up_exports import KINDS
from tests.schemas import closed

_schema = command_of(schema.app)


def _with_json(command: object, name: str) -> Iterator[str]:
    if any("--json" in parameter.opts for parameter in command.params):
        yield name
    for inner_name, inner in getattr(command, "commands", {}).items():
        yield from _with_json(inner, f"{name} {inner_name}")


PRINTING_JSON = [
    command
    for name, (module, _) in LINES.items()
    for command in _with_json(typer.main.get_command(import_module(module).app), name)
]


def test_every_command_with_json_has_a_schema_and_no_other_command() -> None:
    assert sorted(known_commands()) == sorted(PRINTING_JSON)
    assert _schema().stdout.split("\n")[:-1] == list(known_commands())


@pytest.mark.parametrize("command", PRINTING_JSON)
def test_a_schema_is_valid_names_its_dialect_and_asks_for_something(command: str) -> None:
    result = schema_of(command)
    Draft202012Validator.check_schema(result)
    assert result["$schema"].endswith("2020-12/schema")
    assert result["title"] == f"misstep {command} --json"
    with pytest.raises(ValidationError):
        Draft202012Validator(result).validate(5)


def test_a_field_has_the_meaning_that_the_docstring_of_its_type_gives() -> None:
    shown = schema_of("show")["$defs"]["RunInBrief"]
    assert shown["description"] == "The lines that matter of a run."
    assert shown["properties"]["n"] == {"type": "integer", "description": "How many records it has."}


def test_users_may_get_further_keys_later_and_tests_may_not() -> None:
    result = schema_of("export")
    assert "additionalProperties" not in result
    assert closed(result)["additionalProperties"] is False


@pytest.mark.parametrize("words", [("view",), ("judge",), ("nothing", "at", "all")])
def test_a_command_that_prints_no_json_is_refused_in_a_line(words: tuple[str, ...]) -> None:
    result = _schema(*words)
    assert result.exit_code == 1
    assert f"no command `misstep {' '.join(words)}` prints JSON" in str(result.exception)


CHEAP = (
    "generate trajectories --n 3 --out {folder}/made",
    "datasets list",
    "experiment codes list",
    "experiment run --n 4 --out {folder}/experiment",
    "judge ask infinite_loop@rule {sessions}",
    "judge probe infinite_loop@rule {sessions} --out {folder}/probed",
    "advise {classified}",
    "group {judged}",
    "repair report {repaired}",
    "repair patches {repaired} --out {folder}/patches",
    "show {triaged}",
)


@pytest.mark.parametrize("line", CHEAP)
def test_what_no_other_test_prints_fits_its_schema_too(line: str, tmp_path, in_process) -> None:
    runs = {name: make(tmp_path) for name, make in KINDS.items() if f"{{{name}}}" in line}
    sessions = atif_lines(tmp_path / "s.jsonl", ["r1", "r2"]) if "{sessions}" in line else ""
    command, *rest = line.format(folder=tmp_path, sessions=sessions, **runs).split()
    code, printed, error = in_process(command, *rest, "--json")
    assert (code, bool(json.loads(printed))) == (0, True), error
