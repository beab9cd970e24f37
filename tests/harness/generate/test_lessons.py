"""A generated set of lessons shares with items the words that are stated, and no others."""

import pytest

from misstep.harness.generate.lessons import STORED, LessonSet, generate_lessons


def test_the_same_seed_gives_the_same_set() -> None:
    assert generate_lessons(7) == generate_lessons(7)
    assert generate_lessons(7) != generate_lessons(8)


def test_a_set_has_as_many_lessons_as_the_witness_stored() -> None:
    made = generate_lessons(0)
    assert len({lesson.text for lesson in made.earlier + made.learned}) == STORED


@pytest.mark.parametrize("common", [0, 1, 2])
def test_a_lesson_shares_with_items_what_is_stated(common: int) -> None:
    made = generate_lessons(0, common)
    items = {item.id: (item.category, frozenset(item.text.split())) for item in made.items}
    for lesson in made.earlier + made.learned:
        words = frozenset(lesson.text.removesuffix(".").split())
        shared = {name: len(words & theirs) for name, (_, theirs) in items.items()}
        foreign = {name for name, (category, _) in items.items() if category != lesson.category}
        assert not any(shared[name] for name in foreign)
        if lesson.helps:
            assert {name: n for name, n in shared.items() if n} == ({lesson.helps: common} if common else {})
        for name in lesson.harms:
            assert shared[name] == 2
        if not (lesson.helps or lesson.harms):
            assert sorted(set(shared.values())) in ([0, 1, 2], [0, 1])


def test_every_item_has_at_most_one_useful_lesson_and_nearly_all_have_one() -> None:
    made: LessonSet = generate_lessons(0)
    helped = [lesson.helps for lesson in made.earlier + made.learned if lesson.helps]
    assert len(set(helped)) == len(helped)
    assert len(helped) >= 0.95 * len(made.items)
