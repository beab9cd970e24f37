"""Search and replace: blocks as models write them, at one place or refused with the reason."""

import pytest

from misstep_harness.edits import apply_edit
from misstep_harness.edits.changes import Applied
from misstep_harness.errors import EditRefused

FILE = """import os


def add(a, b):
    total = a
    return total - b


def sub(a, b):
    total = a
    return a - b
"""


def block(old: str, new: str, size: int = 7) -> str:
    return f"{'<' * size} SEARCH\n{old}{'=' * size}\n{new}{'>' * size} REPLACE\n"


A_TO_B = block("a\n", "b\n")


def edited(reply: str, text: str | None = FILE, path: str = "m.py") -> Applied:
    return apply_edit("search_replace", reply, {path: text}.get, path)


def refusal(reply: str, text: str | None = FILE) -> EditRefused:
    with pytest.raises(EditRefused) as caught:
        edited(reply, text)
    return caught.value


def test_a_block_at_one_place_is_replaced_and_the_receipt_says_where() -> None:
    done = edited(block("    return total - b\n", "    return total + b\n"))
    assert done.files == {"m.py": FILE.replace("total - b", "total + b")}
    assert [(one.path, one.rule, one.lines) for one in done.receipts] == [("m.py", "exact", (6, 6))]


@pytest.mark.parametrize(
    ("old", "reason", "lines"),
    [
        ("    total = a\n", "not_unique", "lines 5, 10"),
        ("def add(a, b):\n    total = c\n", "absent", "line 5 is `total = a`, not `total = c`"),
    ],
)
def test_a_block_at_two_places_or_none_is_refused_with_the_lines(old: str, reason: str, lines: str) -> None:
    refused = refusal(block(old, "x\n"))
    assert refused.reason == reason
    assert lines in str(refused)


def test_a_block_is_searched_in_what_the_one_before_left() -> None:
    done = edited(block("import os\n", "import re\n") + block("import re\n", "import sys\n"))
    assert done.files == {"m.py": FILE.replace("import os", "import sys")}


@pytest.mark.parametrize(
    "above", ["pkg/n.py", "`pkg/n.py`", "**pkg/n.py**", "### File: pkg/n.py", "pkg/n.py:", "**pkg/my\\_n.py**"]
)
def test_the_file_is_named_above_the_fence_in_any_dress(above: str) -> None:
    reply = f"Here it is.\n\n{above}\n```python\n{A_TO_B}```\nDone.\n"
    named = "pkg/my_n.py" if "my" in above else "pkg/n.py"
    assert apply_edit("search_replace", reply, {named: "a\n"}.get, "m.py").files == {named: "b\n"}


def test_code_in_a_line_opens_no_fence() -> None:
    assert edited(f"This calls\n```x()```\nm.py\n```\n{A_TO_B}```\n", "a\n").files == {"m.py": "b\n"}


def test_a_file_may_be_named_in_the_fence_or_by_its_last_part() -> None:
    for opening in ("```python pkg/m.py", "```python:pkg/m.py", "m.py\n~~~"):
        reply = f"{opening}\n{A_TO_B}{opening[-3:] if '~' in opening else '```'}\n"
        assert apply_edit("search_replace", reply, {"pkg/m.py": "a\n"}.get, "pkg/m.py").files == {"pkg/m.py": "b\n"}


@pytest.mark.parametrize(
    ("old", "new", "before", "after", "rule"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", "a  \nb \nc\t\n", "a  \nB\nc\t\n", "trailing_whitespace"),
        ("def add(first):\n    total = first\n", "def add(first):\n    if first:\n        total = first\n",
         "    def add(first):\n        total = first\n",
         "    def add(first):\n        if first:\n            total = first\n", "indentation"),
        ("\tvalue = first\n\t\treturn value + 1\n", "\tvalue = first\n\t\treturn value + 2\n",
         "    value = first\n        return value + 1\n", "    value = first\n        return value + 2\n", "tabs"),
    ],
)  # fmt: skip
def test_white_space_is_that_of_the_file(old: str, new: str, before: str, after: str, rule: str) -> None:
    done = edited(block(old, new), before)
    assert done.files == {"m.py": after}
    assert done.receipts[0].rule == rule
    assert edited(block("b\n", "c\nd\n"), "a\r\nb").files == {"m.py": "a\r\nc\r\nd"}


def test_lines_left_out_in_both_halves_stay() -> None:
    done = edited(block("import os\n...\n    return total - b\n", "import re\n...\n    return total + b\n"))
    assert done.files == {"m.py": FILE.replace("import os", "import re").replace("total - b", "total + b")}
    assert {one.rule for one in done.receipts} == {"ellipsis"}


def test_a_new_stub_body_is_no_lines_left_out() -> None:
    done = edited(block("import os\n", "import os\n\n\ndef stub():\n    ...\n"))
    assert "    ...\n" in str(done.files["m.py"])


def test_a_line_that_is_a_marker_needs_longer_markers() -> None:
    text = "Title\n=======\n"
    old, new = "Title\n=======\n", "Name\n=======\n"
    assert refusal(block(old, new), text).reason == "malformed"
    assert edited(block(old, new, 8), text).files == {"m.py": new}


def test_an_empty_search_makes_a_new_file_and_fills_an_empty_one_alone() -> None:
    assert edited(block("", "a\n"), None).files == {"m.py": "a\n"}
    assert edited(block("", "a\n"), "").files == {"m.py": "a\n"}
    assert refusal(block("", "a\n")).reason == "absent"


@pytest.mark.parametrize("path", ["../m.py", "/etc/m.py", "a/../../m.py", ".git/hooks/pre-commit"])
def test_a_path_that_leads_out_is_refused(path: str) -> None:
    assert refusal(f"{path}\n{A_TO_B}").reason in ("path_escape", "malformed")


SHIFTED = block("total = first + second\nreturn total * second\n", "        total = second\n        return total\n")


@pytest.mark.parametrize(
    ("reply", "text", "reason"),
    [
        (block("    stop()\n", "    go()\n"), "if a:\n    stop()\n    if b:\n        stop()\n", "not_unique"),
        (block("import os\n", "import re\n") + block("nowhere\n", "x\n"), FILE, "absent"),
        (SHIFTED, "    def f():\n        total = first + second\n        return total * second\n", "hunk_mismatch"),
        (block("def add(a, b):\n    total = a\n", "def add(a, b):\n    # ... rest ...\n"), FILE, "ellipsis"),
        (block("b\n", "c\n"), "a\r\nb\n", "mixed_line_endings"),
        (f"```\n{A_TO_B}", "a\n", "malformed"),
        ("Nothing to do.", "a\n", "malformed"),
        ("<<<<<<< SEARCH\na\n=======\nb\n", "a\n", "malformed"),
        ("<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", "a\n", "malformed"),
        (block("import os\n", "import os\n"), FILE, "unchanged"),
        (block("a\nb\n", "b\na\n"), "a  \nb  \n", "hunk_mismatch"),  # moved, and the file has other spaces
    ],
)
def test_what_does_not_fit_is_refused_with_its_reason(reply: str, text: str, reason: str) -> None:
    assert refusal(reply, text).reason == reason
