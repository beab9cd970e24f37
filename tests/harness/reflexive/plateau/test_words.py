"""The words of a diagnosis: plurals made even rightly, function words and the words of reflecting left out."""

import pytest

from misstep_harness.reflexive.plateau import TEMPLATE_WORDS, content_words, known_words, singular, words_of


@pytest.mark.parametrize(
    ("plural", "word"),
    [
        ("policies", "policy"),
        ("ties", "tie"),
        ("partitions", "partition"),
        ("accesses", "access"),
        ("patches", "patch"),
        ("caches", "cache"),
        ("searches", "search"),
        ("boxes", "box"),
        ("hashes", "hash"),
        ("databases", "database"),
        ("sizes", "size"),
        ("statuses", "status"),
        ("analyses", "analysis"),
        ("indices", "index"),
        ("vetoes", "veto"),
        ("services", "service"),
    ],
)
def test_both_forms_of_a_word_agree(plural: str, word: str) -> None:
    assert singular(plural) == singular(word) == word


@pytest.mark.parametrize("word", ["access", "process", "status", "basis", "series", "dns", "https", "bus", "gas", "os"])
def test_a_word_in_s_that_is_no_plural_stays(word: str) -> None:
    assert singular(word) == word


def test_small_letters_no_punctuation_no_function_words() -> None:
    assert words_of("The `_DISK_`, (again): isn't PARTITIONED; don't!") == ["disk", "partitioned"]


def test_words_of_reflecting_say_nothing_of_a_diagnosis() -> None:
    form = "Pattern identified: repeated failures. Root cause: the Worker's approach. Strategic recommendation: stop."
    assert content_words(form) == []
    assert "root" in TEMPLATE_WORDS


def test_words_of_the_kind_of_work_are_left_out_in_any_form() -> None:
    known = known_words({"Rules", "sshd_config", "PermitRootLogin no", "partitions"})
    assert content_words("A rule on partition layout in SSHD_CONFIG: permitrootlogin", known) == ["layout"]
