"""The README names every key of the files that people write, and every value where only some are valid."""

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec import inspect

from harness.clients.prices import Price, PriceFile
from harness.items import BenchmarkFile, Item
from harness.judges.judge_file import JudgeFile, ModelSettings
from harness.judges.pattern_judge import Condition, PatternFile
from harness.repair.case import Case

README = (Path(__file__).parents[2] / "README.md").read_text()
FORMS = {
    "The form of a judge": (JudgeFile, ModelSettings),
    "The form of a pattern judge": (PatternFile, Condition),
    "The form of a benchmark": (BenchmarkFile, Item),
    "The form of a price file": (PriceFile, Price),
    "The form of a repair case": (Case,),
}


def valid(kind: inspect.Type) -> list[Any]:
    if isinstance(kind, inspect.UnionType):
        return [value for one in kind.types for value in valid(one)]
    if isinstance(kind, inspect.VarTupleType):
        return valid(kind.item_type)
    return list(kind.values) if isinstance(kind, inspect.LiteralType) else []


@pytest.mark.parametrize("title", FORMS)
def test_the_readme_names_each_key_of_a_form_with_its_valid_values(title: str) -> None:
    section = README.split(f"### {title}\n")[1].split("\n## ")[0].split("\n### ")[0]
    named = set(re.findall(r"`\[*(\w+)\]*`", section))
    for struct in FORMS[title]:
        told = inspect.type_info(struct)
        assert isinstance(told, inspect.StructType)
        for field in told.fields:
            assert field.encode_name in named
            assert {str(value) for value in valid(field.type)} <= named, field.encode_name


def test_an_error_that_names_a_form_names_a_section_of_the_readme() -> None:
    root = Path(__file__).parents[2]
    files = [file for room in ("harness", "analysis", "misstep") for file in (root / room).rglob("*.py")]
    sections = {
        name for file in files for name in re.findall(r"“(The form of [\w ]+)” in the README", file.read_text())
    }
    assert sections
    assert sections <= set(FORMS)
    assert not [file for file in files if "See the README for" in file.read_text()]
