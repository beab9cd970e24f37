"""Commits of people that mended failing tests become repair cases."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from misstep_harness.repair.build.history import Considered, cases_from_history, is_source, refusal
from misstep_harness.repair.case import RepairCase, read_case, write_case
from misstep_harness.workspace import Sandbox, python_toolchain
from misstep_harness.workspace.repository import ChangedFile, Commit
from tests.harness.repair.failure_bot.histories import BROKEN, COMMAND, PRICE, TEST, TESTS, MadeRepository

NEWEST = Commit("n" * 40, ("p" * 40,), "Ann", "ann@example.org", datetime(2026, 6, 1, tzinfo=UTC), "mend")
SOURCE = [ChangedFile("src/price.py", is_text=True)]


def changed(*paths: str) -> list[ChangedFile]:
    return [ChangedFile(path, is_text=True) for path in paths]


@pytest.mark.parametrize(
    ("commit", "files", "reason"),
    [
        (NEWEST, SOURCE, ""),
        (NEWEST, changed("src/price.py", "CHANGES.md", "setup.py"), ""),
        (replace(NEWEST, committed=NEWEST.committed - timedelta(days=89)), SOURCE, ""),
        (replace(NEWEST, committed=NEWEST.committed - timedelta(days=91)), SOURCE, "older than 90 days"),
        (replace(NEWEST, author="renovate[bot]"), SOURCE, "made by a program"),
        (replace(NEWEST, parents=()), SOURCE, "the first commit"),
        (NEWEST, changed("src/price.py", "tests/test_price.py"), "changes tests"),
        (NEWEST, changed("setup.py", "pyproject.toml", "api_pb2.py", "README.md"), "changes no source"),
        (NEWEST, [*SOURCE, ChangedFile("logo.png", is_text=False)], "no text diff says all of it"),
    ],
)
def test_a_commit_breaks_a_heuristic_or_none(commit: Commit, files: list[ChangedFile], reason: str) -> None:
    refused = refusal(commit, files, NEWEST)
    assert refused.startswith(reason)
    assert bool(refused) == bool(reason)


def test_a_file_that_says_it_is_generated_is_no_source() -> None:
    reason = refusal(NEWEST, SOURCE, NEWEST, is_generated=lambda path: path == "src/price.py")
    assert reason.startswith("changes no source")


def test_tests_build_configuration_and_generated_files_are_not_source() -> None:
    source = ["src/a.py", "lib/index.js", "cmd/main.go", "a.rs", "builder/x.py", "latest.py"]
    other = ["a.toml", "README.md", "tests/a.py", "test_a.py", "setup.py", "docs/conf.py", "a.min.js", "jest.config.js"]
    assert [path for path in (*source, *other) if is_source(path)] == source


def _from_history(repo: MadeRepository, folder: Path, sandbox: Sandbox) -> list[Considered]:
    return cases_from_history(repo.folder, COMMAND, folder / "cases", sandbox=sandbox, toolchain=python_toolchain())


def test_a_commit_that_mends_a_test_becomes_a_case_with_its_golden_patch(tmp_path: Path, sandbox: Sandbox) -> None:
    repository = MadeRepository(tmp_path / "made")
    repository.commit({"price.py": PRICE, "test_price.py": TESTS})
    bad = repository.commit({"price.py": BROKEN}, "prices without the first\n\nWho needs it?\n\nNobody.")
    repository.commit({"notes.txt": "1"})
    good = repository.commit({"price.py": PRICE}, "all prices again")
    repository.commit({"price.py": PRICE + "\n# a remark\n"})
    result = _from_history(repository, tmp_path, sandbox)
    assert [one.commit.id == good for one in result if one.case] == [True]
    case = read_case(tmp_path / "cases" / f"made-{good[:10]}")
    assert case.case.oracle == (TEST,)
    assert list(case.case.diffs) == [bad[:10]]
    assert "Title: prices without the first\nAuthor: " in case.case.diffs[bad[:10]]
    assert "AssertionError: 2 != 3" in case.case.task
    assert (case.before / "price.py").read_text() == BROKEN
    assert case.case.extra["checkout"] == str(repository.folder.resolve())  # its packages are there for the tests
    golden = case.golden()
    assert golden is not None
    assert "+    return sum(prices)\n" in golden
    assert [one.reason for one in result if not one.case] == [
        "turns no failing test into a passing one, each time",
        "changes no source: build, configuration, generated or other files only",
        "turns no failing test into a passing one, each time",
        "the first commit",
    ]
    assert [path.name for path in (tmp_path / "cases").iterdir()] == [f"made-{good[:10]}"]


def test_a_case_that_is_written_already_is_kept(tmp_path: Path, sandbox: Sandbox) -> None:
    repository = MadeRepository(tmp_path / "made")
    commit = repository.commit({"price.py": PRICE})
    folder = tmp_path / "cases" / f"made-{commit[:10]}"
    (folder / "before").mkdir(parents=True)
    case = RepairCase(folder.name, "python", "mend it", COMMAND, (TEST,))
    write_case(case, folder)
    (result,) = _from_history(repository, tmp_path, sandbox)
    assert result.case == case
