"""What plug-ins are written with is imported from `misstep`, by name, without slowing its start."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import misstep
from examples.asks_twice import AsksTwice
from misstep_harness.protocols import Judge

_TREE = ast.parse(Path(str(misstep.__file__)).read_text())
_FOR_TYPES = {
    alias.asname or alias.name: (str(node.module), alias.name)
    for block in _TREE.body
    if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
    for node in block.body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}


@pytest.mark.parametrize("name", misstep.__all__)
def test_a_public_name_is_what_type_checkers_see_under_it(name: str) -> None:
    result = getattr(misstep, name)
    if name in _FOR_TYPES:
        module, inner = _FOR_TYPES[name]
        assert result is getattr(import_module(module), inner)
    assert name in dir(misstep)


def test_every_name_for_type_checkers_is_public() -> None:
    assert _FOR_TYPES.keys() == {*misstep.__all__} - {"__version__"}


def test_an_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Trajektory'"):
        _ = misstep.Trajektory  # type: ignore[attr-defined]


def test_the_judge_of_the_examples_is_a_judge_for_a_type_checker() -> None:
    judge: Judge = AsksTwice()
    assert judge.name == "asks_twice"


def test_importing_the_package_imports_none_of_them() -> None:
    script = "import misstep, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "misstep" in loaded
    assert not {"msgspec", "misstep_harness.trajectory", "misstep_harness.protocols"} & set(loaded)
