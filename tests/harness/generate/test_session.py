"""A session acts on its project: what tools answer is what the files hold."""

from random import Random

import msgspec
import pytest

from misstep.harness.generate.families import load_families, own_tools
from misstep.harness.generate.misbehaviours import misremembered
from misstep.harness.generate.projects import change_comparison, change_limit, make_project
from misstep.harness.generate.session import Session
from misstep.harness.generate.vocabularies import VOCABULARIES, Vocabulary
from misstep.harness.generate.voice import SETS, Voice, WordingSet, load_wordings

PROJECTS = range(12)


def _voice(seed: int) -> Voice:
    return Voice(Random(seed), "development")  # noqa: S311 (made-up data)


def _session(seed: int, vocabulary: type[Vocabulary] = Vocabulary) -> Session:
    random = Random(seed)  # noqa: S311 (made-up data)
    voice = Voice(random, "development")
    return Session(random, make_project(random), vocabulary(voice), voice, voice)


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
    session = _session(seed, VOCABULARIES[seed % len(VOCABULARIES)])
    avoided = session.project.sources[0]
    session.explore(60, 60, avoid=(avoided,))
    calls = [msgspec.json.encode((call.name, call.arguments)) for step in session.steps for call in step.calls]
    assert len(calls) == len(set(calls)) == 60
    assert avoided not in session.known


@pytest.mark.parametrize("vocabulary", VOCABULARIES, ids=lambda one: one.__name__)
def test_calls_that_are_refused_are_none_that_the_agent_makes_otherwise(vocabulary: type[Vocabulary]) -> None:
    _holds(vocabulary(_voice(1)))


@pytest.mark.parametrize("set_", SETS)
def test_calls_that_are_refused_are_none_that_a_family_of_tools_makes_otherwise(set_: WordingSet) -> None:
    for seed in range(12):
        random = Random(seed)  # noqa: S311 (made-up data)
        vocabulary = own_tools(random, Voice(random, set_))
        _holds(vocabulary)
        assert vocabulary.agent in {one.agent for one in load_families() if one.set == set_}


def _holds(vocabulary: Vocabulary) -> None:
    usual = {vocabulary.read("a.py", 1, 5)[0], vocabulary.run("ls")[0], vocabulary.edit("a.py", "x", "y")[0]}
    assert vocabulary.unknown("a.py", "word").name not in usual
    malformed = vocabulary.malformed("a.py", "word")
    assert malformed.parse_error
    assert isinstance(malformed.arguments, str)
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(malformed.arguments)
    for broken in (vocabulary.incomplete("src/a.py", "word"), vocabulary.invalid("src/a.py", "word")):
        assert broken.parse_error is None
        assert broken.answer


def test_a_voice_repeats_itself_only_when_it_has_said_all() -> None:
    voice = _voice(5)
    pool = [one for one in load_wordings() if (one.kind, one.set, one.language) == ("again", "development", "en")]
    number = len(pool)
    texts = [voice.say("again") for _ in range(2 * number)]
    assert len(set(texts[:number])) == number
    assert sorted(texts[:number]) == sorted(texts[number:])


def test_a_program_always_answers_in_the_same_words() -> None:
    voice = Voice(Random(5), "scoring")  # noqa: S311 (made-up data)
    assert len({voice.keep("unknown_tool", tool="probe") for _ in range(9)}) == 1
    assert "other" in voice.keep("unknown_tool", tool="other")


@pytest.mark.parametrize("language", ["de", "es", "zh"])
def test_a_voice_speaks_its_language_where_the_set_has_it_and_else_english(language: str) -> None:
    voice = Voice(Random(5), "scoring", language)  # noqa: S311 (made-up data)
    spoken = {one.text for one in load_wordings() if one.language == language}
    assert {voice.say("no_commit") for _ in range(9)} <= spoken
    assert voice.say("steering") not in spoken


def test_a_wording_that_is_asked_for_and_missing_is_named() -> None:
    with pytest.raises(ValueError, match="'no_such_kind' in the set 'scoring'"):
        Voice(Random(5), "scoring").say("no_such_kind")  # noqa: S311 (made-up data)


def test_users_write_the_names_of_files_in_several_ways() -> None:
    session = _session(7)
    messages = [session.user_text("protect_folder", folder="src/core") for _ in range(120)]
    marks = {text[text.index("src/core") - 1 : text.index("src/core")] for text in messages if "src/core" in text[1:]}
    assert {" ", "`", "@", "/"} <= marks
