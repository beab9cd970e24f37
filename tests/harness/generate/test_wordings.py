"""The wordings: many, in several registers and languages, of two sets apart from each other and from the rules.

Apart from the rules is measured in two ways, over every text and every regular expression under `harness/classifiers`:

- no wording has a phrase (three words in a row, or more until two of them say something) that a rule's text has or a
  match of a rule's expression can have, through every alternative of it;
- of the words by which limits are told (in no other wording, and not in the project's own documents), few are a rule's.

What pydantic and JSON-RPC print is fixed, and may be known to rules and generator alike.
"""

import ast
import re
import tomllib
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path
from string import Template

import pytest

from misstep.harness import classifiers
from misstep.harness.generate.families import load_families
from misstep.harness.generate.sessions import Case, generate_sessions
from misstep.harness.generate.voice import FOLDER, SETS, Wording, load_wordings
from tests.families.test_patterns import uses
from tests.harness.generate.phrases import phrases, phrases_of_pattern, shared_runs, words
from tests.harness.generate.steps import stands_in

ROOT = Path(__file__).parents[3]
FIXED = ("pydantic", "jsonrpc")
"""Registers whose texts are those of a specification."""
FEW = 0.15
"""The most of the words by which limits are told that rules may have: the nouns of the trade are nobody's own."""
_PLAIN = re.compile(r"[(\[>]*[^\W\d_]+(?:['’-][^\W\d_]+)*[,.;:!?)]*")
"""A word of a sentence, with its punctuation."""
OTHER_LANGUAGES = ("de", "es", "zh")


def _of_file(name: str) -> list[Wording]:
    kinds = {line[1:].partition(".")[0] for line in (FOLDER / name).read_text().splitlines() if line.startswith("[")}
    return [one for one in load_wordings() if one.kind in kinds]


LIMITS = _of_file("limits.toml")


def _strings(data: object) -> list[str]:
    if isinstance(data, str):
        return [data]
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return [text for one in inner for text in _strings(one)]


@cache
def rule_texts() -> tuple[str, ...]:
    """Every text but docstrings in the code of the rules, and every text of their data."""
    folder = Path(classifiers.__file__).parent
    results = [text for file in folder.rglob("*.toml") for text in _strings(tomllib.loads(file.read_text()))]
    for file in folder.rglob("*.py"):
        tree = ast.parse(file.read_text())
        alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        results += [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone
        ]
    return tuple(results)


@cache
def rule_phrases() -> frozenset[tuple[str, ...]]:
    results = {phrase for text in rule_texts() for phrase in phrases(text)}
    for key in uses(classifiers.__name__).place:
        results |= phrases_of_pattern(re.compile(*key))
    return frozenset(results)


def test_no_wording_has_three_words_in_a_row_that_a_rule_has() -> None:
    shared = {one.text: phrases(one.text) & rule_phrases() for one in load_wordings() if one.register not in FIXED}
    assert {text: result for text, result in shared.items() if result} == {}


def test_of_the_words_by_which_limits_are_told_few_are_a_rules() -> None:
    limit_words = _own_words(LIMITS)
    ordinary = _own_words([one for one in load_wordings() if one not in LIMITS])
    ordinary |= {
        word
        for file in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/**/*.md")]
        for word in words(file.read_text())
    }
    rules = {word for text in rule_texts() for word in words(re.sub(r"\\[a-zA-Z]", " ", text))}
    own = limit_words - ordinary
    assert len(own) > 150
    assert len(own & rules) <= FEW * len(own), sorted(own & rules)


def _own_words(wordings: list[Wording]) -> set[str]:
    texts = (re.sub(r"\$\{?\w+\}?", " ", one.text) for one in wordings if one.language == "en")
    return {word for text in texts for word in words(text) if len(word) > 3}


def test_there_are_a_hundred_ways_to_set_a_limit_and_more_in_the_set_for_scoring() -> None:
    assert len({one.text for one in LIMITS}) == len(LIMITS) >= 200
    assert len({one.text for one in LIMITS if one.set == "scoring"}) >= 100


@pytest.mark.parametrize("set_", SETS)
def test_limits_are_told_in_several_registers_and_in_three_other_languages(set_: str) -> None:
    mine = [one for one in LIMITS if one.set == set_]
    assert len({one.register for one in mine}) >= 8
    kinds = {one.kind for one in mine} - {"plan_mode"}
    assert {(one.kind, one.language) for one in mine} >= set(product(kinds, OTHER_LANGUAGES))


def test_every_kind_is_worded_in_both_sets_with_the_same_names_to_fill_in() -> None:
    names: dict[tuple[str, str], set[str]] = {}
    for one in load_wordings():
        names.setdefault((one.kind, one.set), set()).update(Template(one.text).get_identifiers())
    assert {kind for kind, set_ in names if set_ == SETS[0]} == {kind for kind, set_ in names if set_ == SETS[1]}
    assert all(Template(one.text).is_valid() for one in load_wordings())


def test_no_wording_stands_twice_and_each_has_a_language_that_is_known() -> None:
    counted = Counter((one.kind, one.text) for one in load_wordings())
    assert [text for text, times in counted.items() if times > 1] == []
    assert {one.language for one in load_wordings()} == {"en", *OTHER_LANGUAGES}


def test_the_two_sets_share_no_text_and_no_four_words_in_a_row() -> None:
    development, scoring = ([one for one in load_wordings() if one.set == set_] for set_ in SETS)
    assert not {one.text for one in development} & {one.text for one in scoring}
    joined = " \n0 ".join(one.text for one in development)
    shared = {one.text: shared_runs(joined, one.text, 4) for one in scoring if one.register not in FIXED}
    assert {text: result for text, result in shared.items() if result} == {}
    assert not {one.agent for one in load_families() if one.set == SETS[0]} & {
        one.agent for one in load_families() if one.set == SETS[1]
    }


@pytest.fixture(scope="module")
def cases() -> dict[str, list[Case]]:
    return {set_: list(generate_sessions(330, 7, wordings=set_)) for set_ in SETS}


def test_what_is_said_in_the_sessions_of_one_set_has_no_four_words_in_a_row_of_the_other(cases) -> None:
    development, scoring = (
        {run for case in cases[set_] for step in case.trajectory.steps for run in _runs(step.text)} for set_ in SETS
    )
    assert len(development) > 500
    assert len(scoring) > 900
    assert development & scoring == set()


def _runs(text: str) -> set[tuple[str, ...]]:
    results: set[tuple[str, ...]] = set()
    row: list[str] = []
    for word in [*text.split(), "0"]:
        if _PLAIN.fullmatch(word):
            row.append(word.strip("([>,.;:!?)").lower())
        if not _PLAIN.fullmatch(word) or word.endswith((".", "!", "?")):
            results |= {tuple(row[start : start + 4]) for start in range(len(row) - 3)}
            row = []
    return results


def test_the_same_seed_gives_other_sessions_in_each_set(cases: dict[str, list[Case]]) -> None:
    development, scoring = ([case.variant for case in cases[set_]] for set_ in SETS)
    assert development != scoring
    assert not {case.trajectory.id for case in cases[SETS[0]]} & {case.trajectory.id for case in cases[SETS[1]]}


def test_a_wording_of_a_limit_is_used_sooner_or_later(balanced: list[Case]) -> None:
    texts = [step.text for case in balanced for step in case.trajectory.steps if step.role != "agent"]
    kinds = {"only_path"}  # of the tasks that really run alone
    scoring = [one for one in LIMITS if one.set == "scoring" and one.kind not in kinds]
    used = [one for one in scoring if any(stands_in(one.text, text) for text in texts)]
    assert len(used) >= 0.7 * len(scoring)
