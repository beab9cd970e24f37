"""The folder of a repair case."""

from pathlib import Path

import pytest

from misstep_harness.edits import apply_edit
from misstep_harness.errors import EditRefused, InputError
from misstep_harness.repair.case import RepairCase, read_case, read_cases, write_case
from misstep_harness.repair.scoring import original_reader

CASE = RepairCase(
    id="price-1",
    language="python",
    task="1 failure:\n1) test_total\nAssertionError: 'a' != \"b\"",
    test_command="python -m pytest -q",
    oracle=("tests/test_price.py::test_total",),
    diffs={"12": "a change"},
    extra={"lines": 3},
)


def _written(folder: Path, case: RepairCase = CASE, golden: str | None = "--- a\r\n") -> Path:
    (folder / "before").mkdir(parents=True)
    write_case(case, folder, golden)
    return folder


@pytest.mark.parametrize("golden", ["--- a\r\n", None])
def test_a_written_case_is_read_back_with_its_golden_patch_if_it_has_one(tmp_path: Path, golden: str | None) -> None:
    folder = read_case(_written(tmp_path / "price-1", golden=golden))
    assert (folder.case, folder.golden(), folder.before) == (CASE, golden, tmp_path / "price-1/before")


def test_a_benchmark_is_a_folder_of_cases_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b", "a"):
        _written(tmp_path / name, RepairCase(name, "python", "t", "pytest", ("t.py",)))
    (tmp_path / "notes").mkdir()
    assert [each.case.id for each in read_cases(tmp_path)] == ["a", "b"]
    assert [each.case.id for each in read_cases(tmp_path / "b")] == ["b"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("oracle = []", "oracle names no test"),
        ('test_command = " "', "test command is empty"),
        ('id = "../up"', "not a file name"),
        ("timeout_second = 3", "unknown key 'timeout_second'"),
        ("timeout_seconds = 'long'", "timeout_seconds"),
    ],
)
def test_what_breaks_the_form_is_said_with_its_file(tmp_path: Path, line: str, message: str) -> None:
    values = {"id": '"a"', "language": '"python"', "task": '"t"', "test_command": '"pytest"', "oracle": '["t"]'}
    key, _, value = line.partition(" = ")
    values[key] = value
    (tmp_path / "before").mkdir()
    (tmp_path / "case.toml").write_text("".join(f"{name} = {given}\n" for name, given in values.items()))
    with pytest.raises(InputError, match=r"case\.toml") as error:
        read_case(tmp_path)
    assert message in error.value.line()


def test_a_folder_without_a_case_a_case_without_a_tree_and_two_of_one_id_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no repair case"):
        list(read_cases(tmp_path))
    write_case(CASE, tmp_path / "a")
    with pytest.raises(InputError, match="broken tree"):
        list(read_cases(tmp_path))
    (tmp_path / "a/before").mkdir()
    _written(tmp_path / "b")
    with pytest.raises(InputError, match="is that of"):
        list(read_cases(tmp_path))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Something of the user's that a case may want to show."""
    folder = tmp_path / "own"
    _written(folder)
    (folder / "held_out").mkdir()
    (folder / "held_out/test_key.py").write_text("secret")
    return folder


@pytest.mark.parametrize("part", ["case.toml", "before", "golden.patch", "held_out"])
def test_no_part_of_a_case_is_read_through_a_link(tmp_path: Path, own: Path, part: str) -> None:
    folder = _written(tmp_path / "case")
    if (folder / part).is_dir():
        (folder / part).rmdir()
    (folder / part).unlink(missing_ok=True)
    (folder / part).symlink_to(own / part)
    with pytest.raises(InputError, match=f"{part}' is a link"):
        (case := read_case(folder)).golden(), case.held_out()


def test_a_link_to_a_case_in_a_benchmark_is_refused_and_one_that_the_user_names_is_read(
    tmp_path: Path, own: Path
) -> None:
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases/one").symlink_to(own)
    with pytest.raises(InputError, match="'one' is a link"):
        list(read_cases(tmp_path / "cases"))
    assert [one.case.id for one in read_cases(tmp_path / "cases/one")] == ["price-1"]


@pytest.mark.parametrize(
    "patch",
    [
        "diff --git a/link b/b.py\nsimilarity index 100%\nrename from link\nrename to b.py\n",
        "diff --git a/link b/b.py\nsimilarity index 100%\ncopy from link\ncopy to b.py\n",
        "diff --git a/deep/key b/b.py\nsimilarity index 100%\nrename from deep/key\nrename to b.py\n",
        "--- a/link\n+++ b/link\n@@ -1 +1 @@\n-secret\n+s\n",
        "--- a/../../own/key\n+++ b/../../own/key\n@@ -1 +1 @@\n-secret\n+s\n",
    ],
)
def test_a_patch_takes_no_file_of_the_user_into_the_tree(tmp_path: Path, own: Path, patch: str) -> None:
    (own / "key").write_text("secret\n")
    folder = read_case(_written(tmp_path / "case"))
    (folder.before / "link").symlink_to(own / "key")
    (folder.before / "deep").symlink_to(own)
    with pytest.raises(EditRefused):
        apply_edit("unified_diff", patch, original_reader(folder))


def test_links_among_held_out_tests_are_left_out_and_their_files_are_read(tmp_path: Path, own: Path) -> None:
    folder = read_case(_written(tmp_path / "case"))
    (folder.folder / "held_out/tests").mkdir(parents=True)
    (folder.folder / "held_out/tests/test_a.py").write_text("a")
    (folder.folder / "held_out/tests/test_b.py").symlink_to(own / "held_out/test_key.py")
    (folder.folder / "held_out/more").symlink_to(own / "held_out")
    assert folder.held_out() == {"tests/test_a.py": b"a"}
