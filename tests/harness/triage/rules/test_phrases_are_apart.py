"""No text of the generator has a phrase of rules or baseline, so that no rule is measured on its own words."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import misstep_harness.triage
from misstep_harness.triage.generate.plans import families
from misstep_harness.triage.rules.events import phrases
from misstep_harness.triage.runs.rule_methods import table

ROOT = Path(misstep_harness.triage.__file__).parent
OWN_WORDS = ("assert", "failed", "timeout", "timed out", "sigkill")
"""Words of any test and any log: what real programs print has them, whoever writes the case."""

RUNNING = ("case_folders", "recording", "scenarios")
"""The modules that run and write generated cases."""

PHRASES = sorted(
    {
        *(one for kinds in phrases().values() for known in kinds.values() for one in known),
        *(one for row in table().row for one in row.phrases),
    }
)


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)


def is_said(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and "import " not in node.value


def said_by_the_generator() -> str:
    """What the generator writes in its own words: pools of texts, lines of logs, instructions and notes of families."""
    generator = ROOT / "generate"
    pools, modules = sorted(generator.glob("*.toml")), sorted(generator.glob("*.py"))
    assert pools
    assert modules
    sources = [text for file in pools for text in texts(tomllib.loads(file.read_text()))]
    for file in [*(ROOT / f"runs/{name}.py" for name in RUNNING), *modules]:
        tree = ast.parse(file.read_text())
        explains = {one.value for one in ast.walk(tree) if isinstance(one, ast.Expr)}
        sources += [text.value for text in ast.walk(tree) if is_said(text) and text not in explains]
    for family in families("all").values():
        sources += [family.instruction, *family.environment.values()]
    return "\n".join(sources).lower()


def test_no_text_of_the_generator_has_a_phrase_of_a_rule() -> None:
    texts = said_by_the_generator()
    results = [one for one in PHRASES if one not in OWN_WORDS and re.search(rf"(?<!\w){re.escape(one)}(?!\w)", texts)]
    assert not results


def test_a_phrase_is_in_small_letters_as_texts_are_when_they_are_searched() -> None:
    assert [phrase for phrase in PHRASES if phrase != phrase.lower()] == []
