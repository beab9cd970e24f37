"""Memory is measured by the useful lessons that it shows when their item comes."""

from misstep.analysis.measures.reflexive.lessons import Recall, lesson_use


def _recall(item: str, *shown: str, useful: tuple[str, ...] = (), harmful: tuple[str, ...] = ()) -> Recall:
    return Recall(item, frozenset(useful), frozenset(harmful), shown, stored=9)


def test_useful_lessons_count_where_they_are_shown() -> None:
    use = lesson_use([_recall("a", "1", "2", useful=("1", "3")), _recall("b", "4", useful=("4",), harmful=("5",))])

    assert use.useful.value == 2 / 3
    assert use.precision.value == 2 / 3
    assert use.harmful.value == 0.0
    assert (use.n, use.shown, use.stored) == (2, 1.5, 9)
