"""Generated reflections: their truth follows from how they are made, and they share no words with what scores them."""

from collections import Counter
from itertools import product

import pytest

from misstep_harness.generate.voice import WordingSet
from misstep_harness.reflexive.plateau import TEMPLATE_WORDS, words_of
from misstep_harness.reflexive.reflections import (
    KINDS,
    SAME,
    SETS,
    Diagnosis,
    ReflectionCase,
    ReflectionTexts,
    form_words,
    generate_reflections,
    reflection_texts,
)
from tests.harness.generate.phrases import shared_runs

FEW = 3
"""How many of a set's words may be template words of the detectors, as nouns of the trade are nobody's own."""


def _diagnoses(texts: ReflectionTexts) -> list[Diagnosis]:
    return [one for family in texts.families.values() for one in family.diagnoses.values()]


def _all_texts(texts: ReflectionTexts) -> list[str]:
    results = [*texts.forms]
    for family in texts.families.values():
        results += [*family.effects, *family.asides]
    return results + [text for one in _diagnoses(texts) for text in (*one.voices, *one.causes, *one.advice)]


@pytest.fixture(scope="module", params=SETS)
def set_(request: pytest.FixtureRequest) -> WordingSet:
    return request.param


@pytest.fixture(scope="module")
def cases(set_: WordingSet) -> list[ReflectionCase]:
    return list(generate_reflections(360, 3, set_))


def test_every_kind_comes_in_turn_with_three_reflections_that_differ(cases: list[ReflectionCase]) -> None:
    assert set(Counter(case.kind for case in cases).values()) == {40}
    assert {case.same for case in cases if case.kind in SAME} == {True}
    assert {case.same for case in cases if case.kind not in SAME} == {False}
    assert all(len(set(case.reflections)) == 3 for case in cases if case.kind != "order" or case.same)


def test_the_truth_is_whether_every_reflection_tells_a_cause_of_one_diagnosis(cases, set_) -> None:
    causes = [{*one.voices, *one.causes} for one in _diagnoses(reflection_texts(set_))]
    for case in cases:
        numbers = [{number for number, texts in enumerate(causes) if any(cause in text for cause in texts)}
                for text in case.reflections]  # fmt: skip
        assert all(len(one) == 1 for one in numbers), case
        assert case.same == (len(set.union(*numbers)) == 1), case


def test_three_causes_of_one_failure_have_the_same_words_around_them(cases: list[ReflectionCase]) -> None:
    like = next(case for case in cases if case.kind == "like_words")
    assert len({words[0] for words in map(words_of, like.reflections)}) <= 3
    assert len(set.intersection(*(set(words_of(text)) for text in like.reflections))) >= 4


def test_the_same_seed_gives_the_same_cases_and_another_seed_others(set_: WordingSet) -> None:
    first, again, other = (list(generate_reflections(30, seed, set_)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_diagnosis_is_told_in_as_many_ways_as_a_window_has_and_no_text_stands_twice(set_: WordingSet) -> None:
    texts = reflection_texts(set_)
    assert all(len(family.diagnoses) == 3 for family in texts.families.values())
    assert all(len({*one.voices, *one.causes}) == 6 for one in _diagnoses(texts))
    assert [text for text, times in Counter(_all_texts(texts)).items() if times > 1] == []
    assert set(KINDS) > set(SAME)


def test_the_layouts_have_no_word_that_the_detectors_leave_out_and_the_texts_few(set_: WordingSet) -> None:
    assert {word for text in form_words(set_) for word in words_of(text)} & TEMPLATE_WORDS == set()
    words = {word for text in _all_texts(reflection_texts(set_)) for word in words_of(text.replace("$cause", ""))}
    assert len(words & TEMPLATE_WORDS) <= FEW
    assert len(words) > 300


def test_the_two_sets_share_no_family_no_layout_and_no_four_words_in_a_row() -> None:
    development, scoring = map(reflection_texts, SETS)
    assert not set(development.families) & set(scoring.families)
    joined = " \n0 ".join(_all_texts(development))
    shared = {text: shared_runs(joined, text, 4) for text in _all_texts(scoring)}
    assert {text: result for text, result in shared.items() if result} == {}
    pairs = product(form_words("development"), form_words("scoring"))
    assert all(set(words_of(one)) & set(words_of(other)) == set() for one, other in pairs)
