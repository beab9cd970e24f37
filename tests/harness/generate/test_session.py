"""A session acts on its project: what tools answer is what the files hold."""

from random import Random

import msgspec
import pytest

from misstep_harness.generate.pieces import misremembered
from misstep_harness.generate.projects import change_comparison, change_limit, make_project
from misstep_harness.generate.session import Agent, Session, Vocabulary, load_agents
from misstep_harness.generate.voice import SETS, Voice, load_wordings

PROJECTS = range(12)
AGENTS = {agent.name: agent for wordings in SETS for agent in load_agents(wordings)}


def _voice(seed: int) -> Voice:
    return Voice(Random(seed), "development")  # noqa: S311 (made-up data)


def _session(seed: int, agent: Agent = AGENTS["handyman"]) -> Session:
    random = Random(seed)  # noqa: S311 (made-up data)
    voice = Voice(random, "development")
    return Session(random, make_project(random), Vocabulary(agent, voice), voice, voice)


@pytest.mark.parametrize("seed", PROJECTS)
def test_every_function_has_a_limit_and_a_comparison_that_stand_once_in_its_file(seed: int) -> None:
    random = Random(seed)  # noqa: S311 (made-up data)
    project = make_project(random)
    for path, functions in project.functions.items():
        for one in functions:
            for change in (change_limit(random, one), change_comparison(one)):
                assert project.text(path).count(change.old) == 1
                assert change.new != change.old
                assert not any(wrong in project.text(path) for wrong in misremembered(change.old))


def test_an_edit_shows_in_the_next_look() -> None:
    session = _session(1)
    change = change_limit(session.random, session.pick_functions(1)[0])
    before, _, after = session.read(change.path), session.solve(change), session.read(change.path)
    assert change.old in session.steps[before].results[0].text
    assert change.new in session.steps[after].results[0].text


def test_an_edit_that_works_has_its_text_in_the_file_and_one_that_fails_has_not() -> None:
    session = _session(2)
    with pytest.raises(ValueError, match="0 times"):
        session.edit("README.md", "no such line", "another")
    with pytest.raises(ValueError, match="is in README"):
        session.failed_edit("README.md", session.project.files["README.md"][0], "another")


@pytest.mark.parametrize("seed", PROJECTS)
def test_looking_around_opens_no_file_twice_nor_one_that_it_is_told_not_to(seed: int) -> None:
    session = _session(seed, list(AGENTS.values())[seed % len(AGENTS)])
    avoided = session.project.sources[0]
    session.explore(60, 60, avoid=(avoided,))
    calls = [msgspec.json.encode((call.name, call.arguments)) for step in session.steps for call in step.calls]
    assert len(calls) == len(set(calls)) == 60
    assert avoided not in session.known


@pytest.mark.parametrize("agent", AGENTS.values(), ids=lambda agent: agent.name)
def test_calls_that_are_refused_are_none_that_the_agent_makes_otherwise(agent: Agent) -> None:
    vocabulary = Vocabulary(agent, _voice(1))
    usual = {vocabulary.read("a.py", 1, 5)[0], vocabulary.run("ls")[0], vocabulary.edit("a.py", "x", "y")[0]}
    assert vocabulary.unknown("a.py", "word").name not in usual
    malformed = vocabulary.malformed("a.py", "word")
    assert malformed.parse_error
    assert isinstance(malformed.arguments, str)
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(malformed.arguments)
    broken = vocabulary.incomplete("src/a.py", "word")
    assert broken.parse_error is None
    assert agent.required not in broken.arguments
    calls = (agent.read, agent.search, agent.run)
    assert any(call.tool == broken.name and agent.required in call.arguments for call in calls)


def test_a_voice_repeats_itself_only_when_it_has_said_all() -> None:
    voice = _voice(5)
    number = len(load_wordings()["again"]["development"])
    texts = [voice.say("again") for _ in range(2 * number)]
    assert len(set(texts[:number])) == number
    assert sorted(texts[:number]) == sorted(texts[number:])


def test_a_program_always_answers_in_the_same_words() -> None:
    voice = Voice(Random(5), "scoring")  # noqa: S311 (made-up data)
    assert len({voice.keep("unknown_tool", tool="probe") for _ in range(9)}) == 1
    assert "other" in voice.keep("unknown_tool", tool="other")
