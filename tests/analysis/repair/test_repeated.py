"""Recorded attempts made again: each difference is named, and the table counts what came out as recorded."""

from misstep_analysis.repair.attempts import repeated_table, repeats
from tests.analysis.repair.made_up import arm, attempt

RECORDED = arm(attempt("apple"), attempt("pear", False), attempt("plum"), name="kept", dataset="quixbugs")


def _sentences(*again) -> list[str]:
    return [sentence for repeat in repeats(RECORDED, arm(*again)) for sentence in repeat.differences]


def test_each_difference_from_the_recording_is_said() -> None:
    assert _sentences(attempt("pear", iterations=7)) == [
        "pear/search/react+tests/search_replace/0: solved is True, and False in the recording.",
        "pear/search/react+tests/search_replace/0: iterations is 7, and 5 in the recording.",
    ]
    assert _sentences(attempt("rowan")) == ["rowan/search/react+tests/search_replace/0 is not in the recording kept."]


def test_the_table_counts_the_attempts_that_agree_and_shows_both() -> None:
    table = repeated_table([(RECORDED, arm(attempt("apple"), attempt("pear"), dataset="quixbugs"))])
    assert table.finding == "1 of 2 recorded attempts made again came out as recorded."
    assert [(row.quantity, row.source, row.value) for row in table.rows] == [
        ("apple", "recorded", "solved in 5 commands"),
        ("apple", "made again", "solved in 5 commands"),
        ("pear", "recorded", "patched in 5 commands"),
        ("pear", "made again", "solved in 5 commands"),
    ]
    assert table.datasets == ("quixbugs",)
