"""Only this project's own source is shown, and a function is found in the line where it is defined."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from misstep_analysis.provenance import Input, line_of, module_sha256, source_of
from misstep_analysis.tables import Table, made_by_this


def test_a_function_is_found_in_its_line():
    line = line_of("misstep_analysis.tables.made_by_this")
    assert source_of("misstep_analysis.tables").splitlines()[line - 1].startswith("def made_by_this(")


@pytest.mark.parametrize(
    "module",
    [
        "os",
        "json.decoder",
        "misstep_analysis.no_such",
        "analysis..tables",
        "../analysis",
        "misstep_analysis.tables/..",
        "",
        "analysis_",
    ],
)
def test_what_is_not_of_this_project_has_no_source(module):
    assert source_of(module) == ""
    assert line_of(f"{module}.dump") is None


def test_a_name_that_is_no_function_at_the_top_of_its_module_has_no_line():
    assert line_of("misstep_analysis.tables.Table") is None
    assert line_of("misstep_analysis.tables.making") is None


def test_a_table_says_which_function_made_it_and_of_several_the_one_that_was_asked():
    @made_by_this
    def inner() -> Table:
        return Table("t", "p", "T", "F", ())

    @made_by_this
    def outer() -> Table:
        return inner()

    assert inner().made_by.endswith(".inner")
    assert outer().made_by.endswith(".outer")
    assert outer().made_by.startswith(__name__)


ROOT = Path(__file__).parents[2]
_ADDRESS = re.compile(r"misstep_(?:harness|analysis)(?:\.[A-Za-z_]\w*){2,}", re.ASCII)


def addresses() -> Iterator[tuple[str, str]]:
    """Every address of code that is typed as a string in what makes tables."""
    for file in sorted((ROOT / "analysis").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _ADDRESS.fullmatch(node.value):
                yield node.value, f"{file.relative_to(ROOT)}:{node.lineno}"


def exists(address: str) -> bool:
    module, _, name = address.rpartition(".")
    try:
        return find_spec(address) is not None or hasattr(import_module(module), name)
    except ModuleNotFoundError as error:
        return error.name == address and hasattr(import_module(module), name)


def test_every_address_of_code_that_a_table_names_exists():
    named = dict(addresses())
    assert any("generate_sessions" in address for address in named)
    missing = {address: place for address, place in named.items() if not exists(address)}
    assert missing == {}


def test_every_generator_has_a_digest():
    named = [address for address, _ in addresses() if ".generate." in address]
    assert named
    assert [address for address in named if not module_sha256(address)] == []


def test_nothing_without_a_digest_is_verified():
    assert Input("generated/x", "generated", "1", "").verified is False
    assert Input("generated/x", "generated", "1", "9f").verified is True
    assert Input("datasets/x", "data set", "1", "", verified=None).verified is None
