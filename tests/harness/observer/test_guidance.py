"""Guidance for an agent: firmer a level at a time, filled from the evidence, and closed by nothing in it."""

import json
import re
from pathlib import Path

import msgspec
import pytest

from misstep_harness.classifiers import CLASSIFIERS
from misstep_harness.intervention import INTERVENTION, Misbehaviour
from misstep_harness.observer.guidance import OTHER, PLACEHOLDERS, categories, guidance, guidance_step, of_category
from misstep_harness.prompting import placeholders_in
from misstep_harness.readers.interchange.atif import from_atif, to_atif
from misstep_harness.reminder import defused
from tests.harness.observer.made_up_runs import asked, read, run
from tests.harness.test_reminder import FORGED

LEVELS = (1, 2, 3)
EVIDENCE = {
    "call": "read_file(file_path='a.py')",
    "times": "4",
    "tool": "read_file",
    "parameters": "file_path",
    "constraint": "Do not touch config.yaml.",
    "changed": "config.yaml",
    "request": "Mend the price.",
}


@pytest.mark.parametrize("category", [*categories(), OTHER])
def test_each_category_has_three_levels_of_dos_and_donts(category: str) -> None:
    levels = of_category(category).levels
    assert len(levels) == 3
    for level in levels:
        lines = (*level.says, *level.do, *level.dont)
        assert level.do
        assert level.dont
        assert all(placeholders_in(line) <= PLACEHOLDERS for line in lines)
        assert not placeholders_in(level.says[-1]), "the last sentence can always be said"
        assert all(line == line.strip() and line.endswith((".", ":", '"', "}")) for line in lines)


CONDITIONS = ("while ", "before ", "unless ", "but to ", " once more")


@pytest.mark.parametrize("category", [*categories(), OTHER])
def test_no_call_is_forbidden_that_a_tool_asks_for(category: str) -> None:
    for number, level in enumerate(of_category(category).levels, start=1):
        assert "reading a file right before an edit" in guidance([(Misbehaviour(category), number)])
        for line in level.dont:
            named = placeholders_in(line) & {"call", "tool", "changed"}
            assert not named or any(condition in line for condition in CONDITIONS), line
            assert "any call" not in line.lower()
            assert "circumstances" not in line


def test_each_rule_has_guidance_of_its_own() -> None:
    assert set(CLASSIFIERS) <= set(categories())


@pytest.mark.parametrize("category", [*categories(), "found_elsewhere"])
def test_each_level_says_something_else_and_the_third_asks_for_a_plan_or_the_user(category: str) -> None:
    texts = [guidance([(Misbehaviour(category, (3,), evidence=EVIDENCE), level)]) for level in LEVELS]
    assert len(set(texts)) == 3
    assert "revised plan" in texts[2]
    assert "the user" in texts[2]
    assert all("DO:" in text and "DON'T:" in text and "Mend the price." in text for text in texts)


def test_the_evidence_stands_in_the_guidance() -> None:
    loop = guidance([(Misbehaviour("infinite_loop", evidence=EVIDENCE), 1)])
    assert "You have made the call `read_file(file_path='a.py')` 4 times" in loop
    failing = guidance([(Misbehaviour("tool_call_failure", evidence=EVIDENCE), 1)])
    assert "Keep to the parameters of `read_file`: file_path" in failing
    drifting = guidance([(Misbehaviour("unrequested_changes", evidence=EVIDENCE), 1)])
    assert 'You have changed config.yaml, although the user said: "Do not touch config.yaml."' in drifting


@pytest.mark.parametrize("category", [*categories(), OTHER])
@pytest.mark.parametrize("level", LEVELS)
def test_what_the_evidence_lacks_is_not_spoken_of(category: str, level: int) -> None:
    text = guidance([(Misbehaviour(category), level)])
    assert "{" not in text
    assert "``" not in text
    assert '""' not in text


def test_several_misbehaviours_are_told_in_one_reminder_with_the_request_once() -> None:
    results = [(Misbehaviour(category, evidence=EVIDENCE), 1) for category in categories()]
    text = guidance(results)
    assert text.count("<system-reminder from=") == text.count("</system-reminder>") == 1
    assert text.count("The user's request was") == 1
    assert text.count("DO:") == len(results)


@pytest.mark.parametrize("category", [*categories(), OTHER])
def test_no_evidence_opens_or_closes_the_reminder(category: str) -> None:
    for forged in FORGED.values():
        evidence = {name: f"{forged} {value} {forged}" for name, value in EVIDENCE.items()}
        text = guidance([(Misbehaviour(category, rationale=forged, evidence=evidence), 1)])
        assert text.startswith('<system-reminder from="misstep"')
        assert text.endswith("\n</system-reminder>")
        inside = text.partition(">")[2].removesuffix("</system-reminder>")
        assert defused(inside) == inside


def test_what_a_detector_reasons_is_not_said_to_the_agent() -> None:
    reasoned = Misbehaviour("infinite_loop", (3,), "The page says: run this script.", EVIDENCE)
    assert "run this script" not in guidance([(reasoned, 1)])


def test_the_mark_of_guidance_is_kept_by_atif_and_in_json() -> None:
    guided = run(asked(), read(), guidance_step(guidance([(Misbehaviour("infinite_loop"), 1)]), 0), read())
    document = to_atif(guided)
    again = from_atif(json.loads(json.dumps(document)))
    assert again.steps == guided.steps
    assert again.steps[2].extra[INTERVENTION] == 0
    assert msgspec.json.decode(msgspec.json.encode(guided), type=type(guided)) == guided


HIDES = re.compile(
    r"(?:do not|don't|never|without) (?:mention|tell|reveal|say|disclose|show|mentioning|telling)[^.]{0,60}\buser"
    r"|program that runs you|(?:keep|hide|conceal)[^.]{0,40} from the user",
    re.IGNORECASE,
)


def test_no_text_for_an_agent_asks_it_to_hide_anything_from_the_user() -> None:
    harness = Path(guidance.__code__.co_filename).resolve().parents[1]
    files = [*(harness / "observer").rglob("*.toml"), *(harness / "prompts").rglob("*.md")]
    texts = {file.name: " ".join(file.read_text().split()) for file in files}
    assert len(texts) > 10
    assert {name: match[0] for name, text in texts.items() if (match := HIDES.search(text))} == {}
    said = guidance([(Misbehaviour("infinite_loop"), 1)])
    assert "Misstep" in said
    assert "you may speak of it" in said
