"""The line diff: deleted and added lines with their numbers, checked against the text of the deleted ones."""

import pytest

from misstep_harness.edits import apply_edit
from misstep_harness.edits.changes import Applied
from misstep_harness.errors import EditRefused

FILE = "a\nb\nc\nd\ne\n"


def edited(reply: str, text: str | None = FILE) -> Applied:
    return apply_edit("line_diff", reply, {"m.py": text}.get, "m.py")


def refusal(reply: str, text: str | None = FILE) -> EditRefused:
    with pytest.raises(EditRefused) as caught:
        edited(reply, text)
    return caught.value


@pytest.mark.parametrize(
    ("reply", "after"),
    [
        ("-2 b\n+2 B\n", "a\nB\nc\nd\ne\n"),
        ("m.py\n```\n-2 b\n-3 c\n+2 x\n```\n", "a\nx\nd\ne\n"),
        ("-2 b\n+2 b\n+3 new\n-4 d\n+5 D\n", "a\nb\nnew\nc\nD\ne\n"),
        ("-1 a\n-4 d\n+1 A\n+4 D\n", "A\nb\nc\nD\ne\n"),
        ("-2: b\n+2: B\n", "a\nB\nc\nd\ne\n"),
        ("-1 a\n-2 b\n-3 c\n-4 d\n-5 e\n", ""),
    ],
)
def test_numbers_are_of_the_old_file_and_of_the_new_one(reply: str, after: str) -> None:
    assert edited(reply).files == {"m.py": after}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("-2 x\n+2 B\n", "hunk_mismatch"),  # another text
        ("-9 x\n+9 y\n", "no_such_line"),
        ("+3 new\n", "hunk_mismatch"),  # no deleted line beside it checks its number
        ("-2 b\n+2 B\n+5 new\n", "hunk_mismatch"),
        ("-1 a\n-4 d\n+4 D\n", "hunk_mismatch"),  # an old number for a new line
    ],
)
def test_lines_that_do_not_fit_the_file_are_refused(reply: str, reason: str) -> None:
    assert refusal(reply).reason == reason


def test_a_new_file_has_added_lines_alone() -> None:
    assert edited("+1 a\n+2     b\n", None).files == {"m.py": "a\n    b\n"}
    assert refusal("+1 a\n+3 b\n", None).reason == "hunk_mismatch"


@pytest.mark.parametrize(
    "reply", ["", "```\n-2 b\n+2 B\n", "-2b\n+2B\n", "-2 b\n-2 b\n", "-0 a\n", "```\n-2 b\nB\n```\n"]
)
def test_a_broken_or_cut_off_reply_is_refused(reply: str) -> None:
    assert refusal(reply).reason == "malformed"


def test_several_files_stand_each_below_its_path() -> None:
    reply = "x.py\n```\n-1 a\n+1 b\n```\ny.py\n```\n-1 a\n+1 c\n```\n"
    assert apply_edit("line_diff", reply, lambda _: "a\n").files == {"x.py": "b\n", "y.py": "c\n"}
