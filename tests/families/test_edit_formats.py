"""Rules for every edit format: it applies what it writes, and what is damaged is refused or right."""

from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from misstep_harness.edits import EDIT_FORMATS, apply_edit, edit_format, instructions
from misstep_harness.errors import EditRefused, UsageError

PATH = "pkg/module.py"
LINES = st.one_of(
    st.sampled_from(
        ["", "def f():", "    return x", "}", "=======", "-- a", "++ b", "@@ q", "*** x", "a\rb", "x ", "\f"]
    ),
    st.integers(0, 30).map("line {}".format),
    st.text(st.characters(blacklist_characters="\n\r\t", blacklist_categories=["Cs"]), max_size=12),
)
TEXTS = st.builds(
    lambda lines, end, closed: end.join(lines) + (end if closed and lines else ""),
    st.lists(LINES, max_size=20),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
PIECES = st.sampled_from(
    r"""<<<<<<< SEARCH
=======
>>>>>>> REPLACE
--- a/x
+++ b/x
@@ -1,2 +1 @@
@@ @@
*** Begin Patch
*** End Patch
*** Update File: x
*** Add File: y
*** End of File
@@ f
-1 a
+1 b
-a
+b
 c
x.py
\ No newline at end of file
rename to ../x
diff --git a/x b/x
--- /dev/null
new file mode 100644
...
+# ... rest of code
```

""".splitlines(keepends=True)
)
REPLIES = st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=14).map("".join)


def applied(name: str, reply: str, files: Mapping[str, str]) -> dict[str, str | None] | None:
    """What an edit makes of files, `None` where it is refused."""
    try:
        return dict(apply_edit(name, reply, files.get, PATH).files)
    except EditRefused:
        return None


@pytest.mark.parametrize("name", EDIT_FORMATS)
def test_a_format_is_registered_under_its_name_and_has_instructions(name: str) -> None:
    assert name == edit_format(name).NAME
    assert len(instructions(name, "a.py")) > 200


@pytest.mark.parametrize("name", EDIT_FORMATS)
def test_the_example_of_a_format_is_marked_as_one_and_names_the_file_that_is_asked_about(name: str) -> None:
    rules = instructions(name, "src/{odd}/Cart.tsx")
    assert "example, with made-up lines" in rules.splitlines()[0]
    example = rules.split("\n\n- ")[0].split("made-up lines:")[1]
    assert [edit.path for edit in edit_format(name).parse(example, "other.py").files] == ["src/{odd}/Cart.tsx"]


def test_a_format_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="search_replace"):
        edit_format("whole")


def test_a_format_from_elsewhere_is_named_by_its_dotted_path() -> None:
    assert edit_format("misstep_harness.edits:unified_diff").NAME == "unified_diff"


@pytest.mark.parametrize("name", EDIT_FORMATS)
@given(before=TEXTS, after=TEXTS)
@example(before="\n", after="\r\n\r\n")
def test_what_a_format_writes_it_applies_to_exactly_the_edited_file(name: str, before: str, after: str) -> None:
    try:
        reply = edit_format(name).render(PATH, before, after)
    except EditRefused:
        return  # the format cannot say it
    assert applied(name, reply, {PATH: before}) in ({PATH: after}, None)


@pytest.mark.parametrize("name", EDIT_FORMATS)
@given(seed=st.integers(0, 10**6))
def test_an_edit_of_plain_lines_is_never_refused(name: str, seed: int) -> None:
    draw = Random(seed)  # noqa: S311
    old = [f"line {draw.randint(0, 15)} of {draw.randint(0, 3)}" for _ in range(draw.randint(1, 25))]
    new = list(old)
    for _ in range(draw.randint(1, 3)):
        at = draw.randint(0, len(new))
        new[at : at + draw.randint(0, 2)] = [f"new {draw.randint(0, 99)}" for _ in range(draw.randint(1, 3))]
    before, after = "".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new)
    assert applied(name, edit_format(name).render(PATH, before, after), {PATH: before}) == {PATH: after}


@pytest.mark.parametrize("name", EDIT_FORMATS)
@given(seed=st.integers(0, 10**6))
def test_an_edit_with_a_changed_old_line_is_refused(name: str, seed: int) -> None:
    """The file has another line where the edit shows an old one: nothing may be applied."""
    draw = Random(seed)  # noqa: S311
    lines = [f"word {number} stands here {draw.randint(0, 9)}" for number in range(30)]
    at = draw.randint(3, 26)
    new = [*lines[:at], "a new line", *lines[at + 1 :]]
    before, after = ("".join(f"{line}\n" for line in each) for each in (lines, new))
    reply = edit_format(name).render(PATH, before, after)
    now = "".join(f"{line}\n" for line in [*lines[:at], f"{lines[at]} changed", *lines[at + 1 :]])
    assert applied(name, reply, {PATH: now}) is None


@pytest.mark.parametrize("name", EDIT_FORMATS)
@given(reply=REPLIES, text=TEXTS)
@example(reply="", text="")
def test_whatever_the_reply_nothing_but_a_refusal_is_raised_and_no_path_leads_out(name, reply, text) -> None:
    files = applied(name, reply, {PATH: text, "x": text})
    for path in files or {}:
        assert not path.startswith(("/", "~"))
        assert not {"..", ".git", ""} & set(path.split("/"))
