"""The patch envelope: several files and places, all or nothing."""

import pytest

from misstep_harness.edits import apply_edit
from misstep_harness.edits.changes import Applied
from misstep_harness.errors import EditRefused

FILE = "class A:\n    def f(self):\n        return 1\n\n\nclass B:\n    def f(self):\n        return 1\n"


def patch(body: str) -> str:
    return f"*** Begin Patch\n{body}*** End Patch\n"


def edited(body: str, text: str | None = FILE) -> Applied:
    return apply_edit("patch_envelope", patch(body), {"m.py": text}.get)


def refusal(body: str, text: str | None = FILE) -> EditRefused:
    with pytest.raises(EditRefused) as caught:
        edited(body, text)
    return caught.value


UPDATE = "*** Update File: m.py\n"
CHANGE = "-        return 1\n+        return 2\n"


def test_the_lines_behind_at_signs_choose_between_equal_places() -> None:
    head, tail = FILE.rsplit("return 1", 1)
    assert edited(f"{UPDATE}@@ class B:\n@@     def f(self):\n{CHANGE}").files == {"m.py": f"{head}return 2{tail}"}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"{UPDATE}@@\n{CHANGE}", "not_unique"),
        (f"{UPDATE}@@     def f(self):\n{CHANGE}", "not_unique"),
        (f"{UPDATE}@@ class C:\n{CHANGE}", "absent"),
        ("*** Add File: new.py\n+a\n*** Update File: m.py\n@@\n-nowhere\n+b\n", "hunk_mismatch"),
        ("*** Add File: m.py\n+a\n", "exists"),
        ("*** Delete File: n.py\n", "no_such_file"),
        ("*** Update File: ../m.py\n@@\n-a\n+b\n", "path_escape"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_reason(body: str, reason: str) -> None:
    assert refusal(body).reason == reason


def test_a_text_outside_what_the_line_opens_is_refused_if_it_is_short() -> None:
    text = "class A:\n    x = 1\nclass B:\n    y = 1\n"
    assert refusal(f"{UPDATE}@@ class A:\n-    y = 1\n+    y = 2\n", text).reason == "hunk_mismatch"


def test_files_are_made_changed_moved_and_deleted_together() -> None:
    body = "*** Add File: new.py\n+a\n+\n+b\n*** Update File: m.py\n*** Move to: n.py\n@@\n-a\n+b\n"
    body += "*** Delete File: old.py\n"
    done = apply_edit("patch_envelope", patch(body), {"m.py": "a\n", "old.py": "x\n"}.get)
    assert done.files == {"new.py": "a\n\nb\n", "m.py": None, "n.py": "b\n", "old.py": None}


def test_blank_lines_above_the_first_place_are_none_of_the_file() -> None:
    assert edited(f"{UPDATE}\n@@\n-a\n+b\n\n@@\n-c\n+d\n", "a\nx\nc\n").files == {"m.py": "b\nx\nd\n"}


def test_the_end_of_the_file_is_a_place() -> None:
    assert edited(f"{UPDATE}@@\n-b\n+c\n*** End of File\n", "b\nb\n").files == {"m.py": "b\nc\n"}
    assert edited(f"{UPDATE}@@\n+c\n*** End of File\n", "a\nb").files == {"m.py": "a\nb\nc"}


@pytest.mark.parametrize(
    "reply",
    [
        "no patch",
        "*** Begin Patch\n*** Update File: m.py\n@@\n-a\n+b\n",
        patch(""),
        patch("stray\n*** Add File: n.py\n+a\n"),
        patch("*** Add File: n.py\na\n"),
        patch("*** Update File: m.py\n"),
        patch("*** Update File: m.py\n@@\n a\n"),
        patch("*** Update File: m.py\n@@\n-a\n+b\n@@ f\n"),
        patch("*** Delete File: m.py\n-a\n"),
    ],
)
def test_a_broken_or_cut_off_patch_is_refused(reply: str) -> None:
    with pytest.raises(EditRefused) as caught:
        apply_edit("patch_envelope", reply, {"m.py": "a\n"}.get)
    assert caught.value.reason == "malformed"
