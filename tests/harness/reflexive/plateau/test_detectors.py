"""Every detector of plateaus: one interface, and what no detector may do; each of them, what it is for."""

import json
import os
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from misstep_harness.errors import MissingPrerequisite, UsageError
from misstep_harness.reflexive.plateau import (
    DETECTORS,
    FUNCTION_WORDS,
    TEMPLATE_WORDS,
    AngleDetector,
    PlateauDetector,
    detector,
)

REWORDED = (
    "The disk cannot be split into partitions while the system runs from it.",
    "While it is running, no partition of the system's disk can be changed!",
    "Splitting a disk: impossible on a running system, whose partitions are in use.",
)
UNLIKE = (
    "Pattern: repeated failure. Root cause: the certificate has expired.",
    "Pattern: repeated failure. Root cause: the port is taken.",
    "Pattern: repeated failure. Root cause: nobody may write the folder.",
)


@pytest.fixture(params=DETECTORS)
def each(request: pytest.FixtureRequest) -> PlateauDetector:
    """Every registered detector; the one with a model where that is installed."""
    return made(request.param)


def made(name: str) -> PlateauDetector:
    try:
        return detector(name)
    except MissingPrerequisite as error:
        if os.environ.get("CI"):
            pytest.fail(f"CI must embed reflections: {error}")
        pytest.skip(str(error))


def test_the_same_text_three_times_is_a_plateau_for_each(each: PlateauDetector) -> None:
    assert each.shared(["The certificate of the proxy has expired."] * 3)


def test_fewer_reflections_than_the_window_are_no_plateau(each: PlateauDetector) -> None:
    assert [each.shared(REWORDED[:1] * count) for count in range(3)] == [None] * 3


def test_only_the_last_reflections_are_compared(each: PlateauDetector) -> None:
    same = ["The certificate of the proxy has expired."] * 3
    assert each.shared([UNLIKE[0], *same])
    assert each.shared([*same, "Nobody can write to that folder, whose owner left."]) is None


TEXTS = st.lists(st.text(st.characters(codec=None), max_size=60), max_size=5)


@pytest.mark.parametrize("name", DETECTORS)
@given(texts=TEXTS)
@example(texts=["\ud800"] * 3)
def test_no_text_raises_anything_and_the_answer_is_the_same_again(name: str, texts: list[str]) -> None:
    answers = [made(name).shared(texts) for _ in range(2)]
    assert answers[0] == answers[1]
    assert answers[0] is None or len(texts) >= 3


CONTENT = st.sampled_from(["disk", "partition", "mount", "kernel", "socket", "quota", "mirror", "lock"])
SENTENCES = st.lists(st.lists(CONTENT, min_size=1, max_size=6), min_size=3, max_size=3)
FORM = st.lists(st.sampled_from(sorted({*TEMPLATE_WORDS, *FUNCTION_WORDS, "hardening"})), max_size=5)


@given(sentences=SENTENCES, form=FORM, random=st.randoms(use_true_random=False))
def test_keywords_ignore_order_case_and_form(sentences: list[list[str]], form: list[str], random: Random) -> None:
    keywords = detector("keywords", ignored=frozenset({"hardening"}))
    plain = keywords.shared([" ".join(words) for words in sentences])
    shown = []
    for words in sentences:
        mixed = [*words, *form]
        random.shuffle(mixed)
        styled = [random.choice((str.upper, str.title, str))(word) for word in mixed]
        shown.append("".join(word + random.choice((", ", ". ", ": ", " (", "\n- ", "; ")) for word in styled))
    assert keywords.shared(shown) == plain


@given(sentences=SENTENCES)
def test_the_keywords_are_those_that_stand_in_all_three(sentences: list[list[str]]) -> None:
    common = set.intersection(*map(set, sentences))
    alike = common and all(set(words) == common for words in sentences)
    expected = tuple(sorted(common)) if len(common) >= 3 or alike else None
    assert detector("keywords").shared([" ".join(words) for words in sentences]) == expected


def test_a_form_in_common_is_a_plateau_as_printed_and_none_for_the_keywords() -> None:
    assert detector("keywords_as_printed").shared(UNLIKE) == ("cause", "failure", "pattern", "repeated", "root")
    assert detector("keywords").shared(UNLIKE) is None


def test_words_of_the_kind_of_work_are_told_to_the_detector() -> None:
    same = [f"the audit daemon rejects the {what}" for what in ("rules", "port", "key")]
    assert detector("keywords").shared(same) == ("audit", "daemon", "reject")
    assert detector("keywords", ignored=frozenset({"audit", "daemon"})).shared(same) is None


def test_a_short_diagnosis_said_again_is_a_plateau_however_few_its_words_are() -> None:
    assert detector("keywords").shared(["The disk is full."] * 3) == ("disk", "full")
    wanted = ("disk", "full")
    assert detector("keywords").shared(["The disk is full.", "Full is the DISK", "the disk is full"]) == wanted
    assert detector("keywords").shared(["The disk is full."] * 2) is None
    assert detector("keywords").shared(["The disk is full.", "The disk is full.", "The disk is slow."]) is None
    assert detector("keywords").shared(["Pattern: root cause."] * 3) is None


def test_equality_is_of_the_first_sentence_and_as_printed_of_the_first_characters() -> None:
    opening = "The disk is full."
    assert detector("exact").shared([f"{opening} {text}" for text in REWORDED]) == ("The disk is full",)
    assert detector("exact").shared([opening, opening.upper(), opening]) is None
    assert detector("exact_as_printed").shared(["x" * 160 + text for text in REWORDED]) == ("x" * 160,)
    assert detector("exact_as_printed").shared([opening, opening.upper(), opening]) == (opening.lower(),)


def test_nothing_said_three_times_is_no_plateau(each: PlateauDetector) -> None:
    assert each.shared(["", " ", "\n"]) is None


def test_a_model_that_is_not_installed_says_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("misstep_harness.reflexive.plateau.find_spec", lambda _: None)
    with pytest.raises(MissingPrerequisite, match=r"pip install 'misstep\[embeddings\]'"):
        detector("embeddings")


def test_embeddings_are_nearer_for_one_diagnosis_in_other_words_than_for_three() -> None:
    by_meaning = made("embeddings")
    assert isinstance(by_meaning, AngleDetector)
    other_words = ("The disk is full.", "There is no space on the drive.", "Disk space has run out.")
    three = ("The disk is full.", "The certificate has expired.", "Nobody may write the folder.")
    assert by_meaning.likeness(other_words) > 0.2 > by_meaning.likeness(three)
    assert detector("keywords").shared(other_words) is None


@pytest.mark.parametrize(("window", "shared"), [(1, 3), (3, 0)])
def test_a_window_that_compares_nothing_is_refused(window: int, shared: int) -> None:
    with pytest.raises(UsageError, match="Compare at least two"):
        detector("keywords", window=window, shared=shared)


@pytest.fixture
def quoted(data_folder: Path) -> dict[str, str]:
    lines = (data_folder / "gemmaforge" / "reflections.jsonl").read_bytes().splitlines()
    return {one["id"]: one["text"] for one in map(json.loads, lines)}


@pytest.mark.data
def test_as_printed_answers_as_the_original_was_seen_to(quoted: dict[str, str]) -> None:
    """What the function upstream gave on the stated input, as `FACTS.md` of the data set says."""
    printed = detector("keywords_as_printed")
    partition = printed.shared([quoted[name] for name in ("r002", "r003", "r004", "r005")])
    assert {"attempting", "remediate", "requirement"} <= set(partition or ())
    sudo = [quoted[f"r0{number}"] for number in (11, 12, 13, 14, 15, 16, 18, 19)]
    assert sum(printed.shared(triple) is not None for triple in combinations(sudo, 3)) == 1
    sharper = [quoted[name] for name in ("r033", "r034", "r035")]
    assert {"pattern", "root", "cause"} <= set(printed.shared(sharper) or ())
    assert printed.shared([text.replace("Pattern:", "Pattern identified:") for text in sharper]) is None


@pytest.mark.data
def test_ever_sharper_diagnoses_are_not_a_plateau(quoted: dict[str, str], each: PlateauDetector) -> None:
    if each.name != "keywords_as_printed":
        assert each.shared([quoted[name] for name in ("r033", "r034", "r035")]) is None
