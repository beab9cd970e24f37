"""Texts in groups of like words: help with reading, with members and stability."""

import pytest

from misstep.analysis.measures.text_groups import group_texts

TIMEOUTS = [f"the request to the model server timed out after {seconds} seconds" for seconds in range(8)]
PARSING = [f"the reply holds no valid document, character {place} is a stray comma" for place in range(8)]
OTHERS = ["a lonely walrus hums", "quarterly invoices vanished overnight"]


def named(texts: list[str]) -> list[tuple[str, str]]:
    return [(f"t{place}", text) for place, text in enumerate(texts)]


def test_texts_of_like_words_come_together_whatever_numbers_are_in_them() -> None:
    result = group_texts(named(TIMEOUTS + PARSING + OTHERS))
    members = {frozenset(group.members) for group in result.groups}
    assert members == {frozenset(f"t{place}" for place in range(8)), frozenset(f"t{place}" for place in range(8, 16))}
    assert set(result.alone) == {"t16", "t17"}
    words = {word for group in result.groups for word in group.words}
    assert {"timed", "comma"} <= words
    assert all(group.example in group.members and group.stability > 0.9 for group in result.groups)


def test_every_text_is_in_one_group_or_alone() -> None:
    result = group_texts(named(TIMEOUTS + PARSING + OTHERS), least=2)
    listed = [*result.alone, *(member for group in result.groups for member in group.members)]
    assert sorted(listed) == sorted(name for name, _ in named(TIMEOUTS + PARSING + OTHERS))
    assert result.n == len(listed)


@pytest.mark.parametrize("others", [[], OTHERS, PARSING])
@pytest.mark.parametrize("text", ["timeout", "the model server is not reachable"])
@pytest.mark.filterwarnings("error")
def test_texts_that_say_the_same_are_one_group(text: str, others: list[str]) -> None:
    result = group_texts(named([text] * 6 + others))
    alike = next(group for group in result.groups if "t0" in group.members)
    assert alike.members == tuple(f"t{place}" for place in range(6))
    assert alike.stability > 0.9
    assert alike.words
