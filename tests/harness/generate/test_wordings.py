"""The wordings: of two sets apart from each other and from the rules.

Apart from the rules is measured in two ways, over every text and every regular expression of the
classifiers:

- no wording has a phrase (three words in a row, or more until two of them say something) that a rule's text has or a
  match of a rule's expression can have, through every alternative of it;
- of the words by which limits are told (in no other wording, and not in the project's own documents), few are a rule's.

What pydantic and JSON-RPC print is fixed, and may be known to rules and generator alike.
"""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path
from string import Template

import pytest

from misstep_harness import classifiers
from misstep_harness.generate.session import load_agents
from misstep_harness.generate.sessions import Case, generate_sessions
from misstep_harness.generate.voice import FOLDER, SETS, load_wordings
from tests.families.test_patterns import uses
from tests.harness.generate.phrases import beginnings_of, phrases, phrases_of_pattern, shared_runs, words
from tests.harness.generate.steps import stands_in

ROOT = Path(__file__).parents[3]
FIXED = re.compile("validation error for|jsonrpc")
"""The texts of a specification have one of these."""
FEW = 0.15
"""The most of the words by which limits are told that rules may have: the nouns of the trade are nobody's own."""
_PLAIN = re.compile(r"[(\[>]*[^\W\d_]+(?:['’-][^\W\d_]+)*[,.;:!?)]*")
"""A word of a sentence, with its punctuation."""
DEVELOPMENT, SCORING = ([text for sets in load_wordings().values() for text in sets[set_]] for set_ in SETS)
LIMITS = [
    text
    for kind in tomllib.loads((FOLDER / "limits.toml").read_text())
    for set_ in SETS
    for text in load_wordings()[kind][set_]
]


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


def test_no_wording_has_three_words_in_a_row_that_a_rule_has() -> None:
    by_text = {text: phrases(text) for text in (*DEVELOPMENT, *SCORING) if not FIXED.search(text)}
    wanted = frozenset(phrase for of_text in by_text.values() for phrase in of_text)
    beginnings = beginnings_of(wanted)
    rules = {phrase for text in rule_texts() for phrase in phrases(text)}
    for key in uses(classifiers.__name__).place:
        rules |= phrases_of_pattern(re.compile(*key), wanted, beginnings)
    assert {text: of_text & rules for text, of_text in by_text.items() if of_text & rules} == {}


def test_of_the_words_by_which_limits_are_told_few_are_a_rules() -> None:
    limit_words = _own_words(LIMITS)
    ordinary = _own_words([text for text in (*DEVELOPMENT, *SCORING) if text not in LIMITS])
    ordinary |= {
        word
        for file in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/**/*.md")]
        for word in words(file.read_text())
    }
    rules = {word for text in rule_texts() for word in words(re.sub(r"\\[a-zA-Z]", " ", text))}
    own = limit_words - ordinary
    assert len(own) > 90
    assert len(own & rules) <= FEW * len(own), sorted(own & rules)


def _own_words(wordings: list[str]) -> set[str]:
    texts = (re.sub(r"\$\{?\w+\}?", " ", text) for text in wordings)
    return {word for text in texts for word in words(text) if len(word) > 3}


def test_every_kind_is_worded_in_both_sets() -> None:
    assert {kind for kind, sets in load_wordings().items() if set(sets) != set(SETS) or not all(sets.values())} == set()
    assert all(Template(text).is_valid() for text in (*DEVELOPMENT, *SCORING))


def test_the_two_sets_share_no_text_and_no_four_words_in_a_row() -> None:
    assert len({*DEVELOPMENT, *SCORING}) == len(DEVELOPMENT) + len(SCORING)
    joined = " \n0 ".join(DEVELOPMENT)
    shared = {text: shared_runs(joined, text, 4) for text in SCORING if not FIXED.search(text)}
    assert {text: result for text, result in shared.items() if result} == {}
    own = [{agent.name for agent in load_agents(set_) if agent.set} for set_ in SETS]
    assert not own[0] & own[1]


@pytest.fixture(scope="module")
def cases() -> dict[str, list[Case]]:
    return {set_: list(generate_sessions(330, 7, wordings=set_)) for set_ in SETS}


def test_what_is_said_in_the_sessions_of_one_set_has_no_four_words_in_a_row_of_the_other(cases) -> None:
    development, scoring = (
        {run for case in cases[set_] for step in case.trajectory.steps for run in _runs(step.text)} for set_ in SETS
    )
    assert len(development) > 300
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
    told = tomllib.loads((FOLDER / "limits.toml").read_text())
    scoring = [text for sets in told.values() for text in sets["scoring"]]
    used = [one for one in scoring if any(stands_in(one, text) for text in texts)]
    assert len(used) >= 0.9 * len(scoring)
