"""`misstep help` names every key of the files that people write, with values and meanings; errors name its topics."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from misstep import command_line
from misstep.help_topics import GUIDES, TOPICS, form_of, topic_text
from misstep_analysis.pages.form_text import docstring_sections, meanings
from misstep_harness.agent.turns import Turn
from misstep_harness.errors import UsageError
from misstep_harness.forms import values_of
from misstep_harness.reflexive.protocols import Agent, Check, HealthProbe, Reading, Skill, Target
from misstep_harness.reflexive.records import MECHANISMS, WorkItem
from tests.misstep.as_a_user import misstep

ROOT = Path(__file__).parents[2]
LINES = ("items", "verdicts")
"""The topics whose example is a line of JSON."""


def _fields(kind: inspect.Type) -> Iterator[tuple[type[Any], inspect.Field]]:
    """Each field of a struct and of those in it, with the struct."""
    if isinstance(kind, inspect.UnionType):
        for one in kind.types:
            yield from _fields(one)
    elif isinstance(kind, inspect.VarTupleType | inspect.ListType):
        yield from _fields(kind.item_type)
    elif isinstance(kind, inspect.StructType):
        for field in kind.fields:
            yield kind.cls, field
            yield from _fields(field.type)


@pytest.mark.parametrize("topic", TOPICS)
def test_a_page_has_each_key_of_its_form_with_its_valid_values_and_meaning(topic: str) -> None:
    page = topic_text(topic)
    one_line = " ".join(page.split())
    for struct, field in _fields(inspect.type_info(form_of(topic))):
        lines = [line for line in page.splitlines() if re.match(rf"  {field.encode_name} +\S.*; ", line)]
        words = [set(re.findall(r"[\w-]+", line)) for line in lines]
        assert [one for one in words if set(values_of(field.type)) <= one and ("required" in one) == field.required]
        assert meanings(struct)[field.name] in one_line


@pytest.mark.parametrize("topic", TOPICS)
def test_what_is_described_are_the_fields_that_there_are(topic: str) -> None:
    for struct in {struct for struct, _ in _fields(inspect.type_info(form_of(topic)))}:
        assert set(meanings(struct)) == set(struct.__struct_fields__)


@pytest.mark.parametrize("topic", TOPICS)
def test_the_meaning_of_a_key_is_a_sentence_that_does_not_start_in_its_middle(topic: str) -> None:
    for struct, field in _fields(inspect.type_info(form_of(topic))):
        text = meanings(struct)[field.name]
        assert text.split()[0] not in {"Of", "What", "Where", "Which", "How", "Who", "Whether"}, text
        assert text[0].isupper() or text.startswith("`")
        assert text.endswith(".")


@pytest.mark.parametrize("topic", TOPICS)
def test_the_example_of_a_page_has_the_form(topic: str) -> None:
    example = docstring_sections(form_of(topic))["Examples"]
    if topic in LINES:
        assert msgspec.json.decode(example, type=form_of(topic))
    else:
        dedented = "\n".join(line.removeprefix("    ") for line in example.splitlines())
        assert msgspec.convert(tomllib.loads(dedented), form_of(topic))


def test_an_error_that_names_a_topic_names_one_that_there_is() -> None:
    files = [file for room in ("harness", "analysis", "studies", "misstep") for file in (ROOT / room).rglob("*.py")]
    texts = [file.read_text() for file in files]
    named = {name for text in texts for name in re.findall(r"`misstep help ([a-z-]+)`", text)}
    assert named == (set(TOPICS) | set(GUIDES)) - {"verdicts"}
    assert not [text for text in texts if re.search(r"in the README\.\"|See the README", text)]


def test_an_unknown_topic_is_told_the_nearest_and_all() -> None:
    with pytest.raises(UsageError, match=r"unknown topic 'judge'.*Topics: judge-file, .*`misstep COMMAND --help`"):
        form_of("judge")
    with pytest.raises(UsageError, match=r"Did you mean repair-case\?"):
        form_of("repair-cas")


def test_help_lists_the_topics_and_shows_one() -> None:
    assert "help" in command_line.LINES
    assert misstep("help").stdout.count("misstep help ") == len(TOPICS) + len(GUIDES)
    shown = misstep("help", "judge-file")
    assert (shown.returncode, shown.stdout.rstrip("\n")) == (0, topic_text("judge-file"))


def test_the_guide_of_a_skill_names_all_that_the_loop_asks_of_it() -> None:
    guide = topic_text("reflect-skill")
    for protocol in (Skill, Target, Agent, Turn):
        members = {name for name in vars(protocol) if not name.startswith("_")}
        assert members
        assert all(re.search(rf"^  (async )?{name}\b", guide, re.MULTILINE) for name in members)
    for form in (WorkItem, HealthProbe, Reading, Check):
        assert all(re.search(rf"^  {name} +\S.*; ", guide, re.MULTILINE) for name in form.__struct_fields__)
    assert (ROOT / re.search(r"examples/\w+\.py", guide)[0]).is_file()
    assert not re.search(r"^ *(Whether|What|Where|Of|Who|How) ", guide, re.MULTILINE)


def test_the_guide_of_mechanisms_has_a_line_for_each() -> None:
    guide = misstep("help", "reflect-mechanisms").stdout
    assert all(re.search(rf"^  {name} +\S", guide, re.MULTILINE) for name in MECHANISMS)


def test_a_broken_file_names_the_topic_of_its_form(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('name = "mine"\n')
    done = misstep("judge", "run", tmp_path / "mine.toml", "--benchmark", ROOT / "examples/last_messages", "--out", "x")
    assert done.returncode == 2
    assert "See `misstep help judge-file`." in done.stderr
