"""Unified diffs as models write them: wrong numbers, no counts, lost marks; at one place or refused with the reason."""

import pytest

from misstep_harness.edits import apply_edit
from misstep_harness.edits.changes import Applied
from misstep_harness.errors import EditRefused

FILE = "".join(f"line {number}\n" for number in range(1, 21))
HEAD = "--- a/m.py\n+++ b/m.py\n"
HUNK = " line 9\n-line 10\n+line ten\n line 11\n"
STALE = HUNK.replace("line 10", "line X")


def edited(reply: str, text: str | None = FILE) -> Applied:
    return apply_edit("unified_diff", reply, {"m.py": text}.get)


def refusal(reply: str, text: str | None = FILE) -> EditRefused:
    with pytest.raises(EditRefused) as caught:
        edited(reply, text)
    return caught.value


def test_a_diff_of_git_is_applied_and_the_receipt_says_where() -> None:
    done = edited(f"diff --git a/m.py b/m.py\nindex 1..2 100644\n{HEAD}@@ -9,3 +9,3 @@ def f():\n{HUNK}")
    assert done.files == {"m.py": FILE.replace("line 10", "line ten")}
    assert (done.receipts[0].rule, done.receipts[0].lines) == ("exact", (9, 11))


@pytest.mark.parametrize(
    ("header", "rule"),
    [
        ("@@ -4,3 +4,3 @@", "other_line"),
        ("@@ @@", "no_line_number, counts"),
        ("@@ ... @@", "no_line_number, counts"),
        ("@@ -9 +9 @@", "counts"),
    ],
)
def test_a_right_text_with_a_wrong_header_is_applied_by_a_named_rule(header: str, rule: str) -> None:
    done = edited(f"{HEAD}{header}\n{HUNK}")
    assert done.files == {"m.py": FILE.replace("line 10", "line ten")}
    assert done.receipts[0].rule == rule


def test_the_line_number_decides_between_equal_places_only_where_it_is_right() -> None:
    text = "a\nb\nc\na\nb\nc\n"
    hunk = " a\n-b\n+B\n c\n"
    assert edited(f"{HEAD}@@ -4,3 +4,3 @@\n{hunk}", text).files == {"m.py": "a\nb\nc\na\nB\nc\n"}
    assert refusal(f"{HEAD}@@ -3,3 +3,3 @@\n{hunk}", text).reason == "not_unique"


def test_blank_lines_lost_at_the_end_of_a_hunk_are_put_back_if_the_file_has_them() -> None:
    reply = f"{HEAD}@@ -1,3 +1,3 @@\n-a\n+b\n c"
    assert edited(reply, "a\nc\n\n").files == {"m.py": "b\nc\n\n"}
    assert refusal(reply, "a\nc\nd\n").reason == "hunk_mismatch"


@pytest.mark.parametrize(
    ("hunk", "reason", "lines"),
    [
        ("@@ -90,2 +90,2 @@\n nowhere at all\n-never there\n+new\n", "no_such_line", "20 lines"),
        (f"@@ -9,3 +9,3 @@\n{STALE}", "hunk_mismatch", "line 10 is `line 10`, not `line X`"),
    ],
)
def test_a_line_that_does_not_exist_and_a_stale_hunk_are_refused(hunk: str, reason: str, lines: str) -> None:
    refused = refusal(f"{HEAD}{hunk}")
    assert refused.reason == reason
    assert lines in str(refused)


def test_context_without_its_marks_is_understood() -> None:
    done = edited(f"```diff\n{HEAD}@@ -9,3 +9,3 @@\nline 9\n-line 10\n+line ten\nline 11\n```\n")
    assert done.files == {"m.py": FILE.replace("line 10", "line ten")}
    assert done.receipts[0].rule == "context_marker"


def test_crlf_is_kept_and_a_reply_in_lf_fits_it() -> None:
    text = "a\r\nb\r\nc\r\n"
    for reply in (f"{HEAD}@@ -1,2 +1,2 @@\n a\n-b\n+B\n", f"{HEAD}@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n"):
        assert edited(reply, text).files == {"m.py": "a\r\nB\r\nc\r\n"}


def test_the_end_of_a_file_is_what_the_diff_says() -> None:
    end = "\\ No newline at end of file\n"
    assert edited(f"{HEAD}@@ -1 +1 @@\n-a\n{end}+b\n{end}", "a").files == {"m.py": "b"}
    assert edited(f"{HEAD}@@ -1 +1 @@\n-a\n{end}+b\n", "a").files == {"m.py": "b\n"}
    assert edited(f"{HEAD}@@ -1 +1 @@\n-a\n+b\n{end}", "a\n").files == {"m.py": "b"}


@pytest.mark.parametrize(("old", "new"), [("i/", "w/"), ("c/", "i/"), ("1/", "2/"), ("", "")])
def test_paths_are_known_with_each_of_the_prefixes_that_git_writes(old: str, new: str) -> None:
    names = f"diff --git {old}m.py {new}m.py\n"
    changed = f"{names}--- {old}m.py\n+++ {new}m.py\n@@ -1 +1 @@\n-a\n+b\n"
    gone = f"{names}deleted file mode 100644\n--- {old}m.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    assert edited(changed, "a\n").files == {"m.py": "b\n"}
    assert edited(gone, "a\n").files == {"m.py": None}


def test_files_are_made_deleted_and_moved() -> None:
    made = "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,2 @@\n+a\n+b\n"
    gone = "--- a/m.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    moved = "diff --git a/m.py b/n.py\nsimilarity index 100%\nrename from m.py\nrename to n.py\n"
    assert edited(made).files == {"new.py": "a\nb\n"}
    assert edited(gone, "a\n").files == {"m.py": None}
    assert edited(moved, "a\n").files == {"m.py": None, "n.py": "a\n"}


@pytest.mark.parametrize(
    "head", ["GIT binary patch\n", "Binary files a/m.py and b/m.py differ\n", "new file mode 120000\n", "copy from a\n"]
)
def test_what_is_no_text_of_a_file_is_refused(head: str) -> None:
    assert refusal(f"diff --git a/m.py b/m.py\n{head}").reason == "malformed"


@pytest.mark.parametrize(
    ("reply", "text", "reason"),
    [
        (f"{HEAD}@@ -9,4 +9,5 @@\n{HUNK}", FILE, "hunk_mismatch"),  # fewer lines than it counts: it may be cut off
        (f"{HEAD}@@ -3 +3 @@\n-line 10\n+line ten\n", FILE, "hunk_mismatch"),  # one short line elsewhere
        (f"{HEAD}@@ -5,0 +6 @@\n+new\n", FILE, "absent"),
        (f"```diff\n{HEAD}@@ -9,3 +9,3 @@\n{HUNK}", FILE, "malformed"),
        (f"{HEAD}@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\n", "a\nb\n", "mixed_line_endings"),
        (f"{HEAD}@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\nb", "no_newline_at_end"),
        (f"{HEAD}@@ -1 +1 @@\n-b\n\\ No newline at end of file\n+c\n", "b\n", "no_newline_at_end"),
        ("--- /dev/null\n+++ b/m.py\n@@ -0,0 +1 @@\n+a\n", FILE, "exists"),
        ("--- a/m.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "a\nb\n", "hunk_mismatch"),
        (f"{HEAD}@@ -9,3 +9,3 @@\n{HUNK}", None, "no_such_file"),
        (f"--- a/../m.py\n+++ b/../m.py\n@@ -9,3 +9,3 @@\n{HUNK}", FILE, "path_escape"),
        (f"{HEAD}@@ -9,3 +9,3 @@\n{HUNK}@@ -9,3 +9,3 @@\n{HUNK}", FILE, "hunk_mismatch"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_reason(reply: str, text: str | None, reason: str) -> None:
    assert refusal(reply, text).reason == reason
