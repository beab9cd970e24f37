"""Every JSON document that a command prints in any test is held to the schema that `make docs` writes."""

import json
import sys
from collections.abc import Sequence
from functools import cache, wraps
from typing import Any

from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from misstep.command_line import LINES
from scripts.schemas.known import DOCUMENTS, schema_of


def hold(words: Sequence[str], code: int, printed: str) -> None:
    """What a line of `misstep` printed fits the schema of its command, and has no key that the schema does not know."""
    if "--json" not in words or code not in (0, 1, 3) or not printed.strip():
        return
    named = [one for one in DOCUMENTS if [*words][: one.count(" ") + 1] == one.split()]
    assert named, f"no schema is known for the line misstep {' '.join(words)}"
    command = max(named, key=len)
    validator = _validator(command)
    for document in _documents(printed):
        errors = [f"{error.json_path}: {error.message[:300]}" for error in _causes(validator, document)]
        assert not errors, f"the schema of {command} does not fit what `misstep {' '.join(words)}` prints: {errors[:3]}"


def _documents(printed: str) -> list[Any]:
    """The one document, or those of the lines of a growing session."""
    try:
        return [json.loads(printed)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in printed.splitlines()]


def _causes(validator: Draft202012Validator, document: Any) -> list[Any]:
    """The errors, of alternatives those of the nearest."""
    errors = list(validator.iter_errors(document))
    return [inner for error in errors for inner in (_nearest(error.context) if error.context else [error])]


def _nearest(errors: Sequence[Any]) -> list[Any]:
    forms = {error.schema_path[0] for error in errors}
    return min(([one for one in errors if one.schema_path[0] == form] for form in forms), key=len)


@cache
def _validator(command: str) -> Draft202012Validator:
    return Draft202012Validator(closed(schema_of(command)))


def closed(schema: Any) -> Any:
    """A schema that allows no key beside those that it names: users are promised no less, tests ask for no more."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(one) for name, one in schema.items()}
    return {"additionalProperties": False, **inner} if isinstance(schema.get("properties"), dict) else inner


def hold_all_runs() -> None:
    """From now on, what a test runs by typer's runner is held to its schema."""
    invoke = CliRunner.invoke

    @wraps(invoke)
    def held(self: CliRunner, app: Any, args: Any = None, **options: Any) -> Any:
        result = invoke(self, app, args, **options)
        modules = ((name, sys.modules.get(module)) for name, (module, _) in LINES.items())
        name = next((name for name, module in modules if module is not None and module.app is app), None)
        if name is not None:
            hold([name, *map(str, args or ())], result.exit_code, result.stdout)
        return result

    CliRunner.invoke = held
