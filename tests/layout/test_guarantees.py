"""What users may rely on stays: a promise is a line in `tests/reference/guarantees`; lines go and come on purpose."""

from typing import Annotated

import pytest
import typer

from scripts.guarantees import FOLDER, GUARANTEES, _of_command, _of_schema

AGAIN = "on purpose? Record anew with: python -m scripts.guarantees"


@pytest.mark.parametrize("name", GUARANTEES)
def test_what_is_guaranteed_is_as_it_was_recorded(name: str) -> None:
    now, recorded = set(GUARANTEES[name]()), set((FOLDER / f"{name}.txt").read_text("utf-8").splitlines())
    assert not recorded - now, f"gone, so keep it for a minor version (docs/guarantees.md), or {AGAIN}"
    assert not now - recorded, f"new; {AGAIN}"


def test_a_line_says_what_an_option_takes_and_whether_a_key_may_be_missing() -> None:
    def command(files: list[str], to: Annotated[str, typer.Option()], every: int = 5, quiet: bool = False) -> None: ...

    app = typer.Typer(add_completion=False)
    app.command()(command)
    lines = list(_of_command("misstep x", typer.main.get_command(app)))
    assert lines == [
        "misstep x",
        "misstep x files <str>… required",
        "misstep x --to <str> required",
        "misstep x --every <int> [5]",
        "misstep x --quiet/--no-quiet",
    ]
    schema = {"properties": {"n": {"type": "integer"}, "of": {"anyOf": [{"$ref": "#/$defs/A"}, {"enum": [1, "b"]}]}}}
    lines = list(
        _of_schema("x", {**schema, "required": ["n"], "$defs": {"A": {"items": {"type": ["string", "null"]}}}})
    )
    assert lines == ["A[]: string", "A[]: null", "x.n: integer", "x.of?: A", "x.of?: 1", "x.of?: 'b'"]
