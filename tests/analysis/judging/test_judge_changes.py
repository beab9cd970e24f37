"""What differs between two judges is told part by part."""

from typing import Any

from misstep_analysis.judging.drift import judge_changes

ASKED: dict[str, Any] = {
    "judge": "loops",
    "judge_digest": "aa",
    "prompt": "loops@1",
    "model": "small-1",
    "settings": {"temperature": 0.0},
    "votes": 1,
    "benchmark": "gates",
}


def test_what_differs_is_told_with_both_values() -> None:
    assert judge_changes(ASKED, ASKED | {"votes": 3}) == {"votes": ("1", "3")}
    assert judge_changes(ASKED, ASKED) == {}
