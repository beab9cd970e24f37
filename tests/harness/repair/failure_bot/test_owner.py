"""Who answers for a failing test, by the blamed change, CODEOWNERS and the test's own history."""

from pathlib import Path

import pytest

from misstep_harness.repair.failure_bot.owner import code_owners, is_bot, owners, parse_codeowners
from misstep_harness.repair.failure_bot.tasks import innermost
from misstep_harness.workspace.repository import Repository
from tests.harness.repair.failure_bot.histories import MadeRepository

EXAMPLE = """\
# The example of GitHub's documentation
*       @global-owner1 @global-owner2
*.js    @js-owner #This is an inline comment.
*.go docs@example.com
*.txt @octo-org/octocats
/build/logs/ @doctocat
docs/* docs@example.com
apps/ @octocat
/docs/ @doctocat
/scripts/ @doctocat @octocat
**/logs @octocat
/apps/ @octocat
/apps/github
/other/**/deep.md @deep
!negated @nobody
a[bc].py @nobody
with\\ space.py @space
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("README.md", ("@global-owner1", "@global-owner2")),
        ("src/a.js", ("@js-owner",)),
        ("src/main.go", ("docs@example.com",)),
        ("build/logs/a/b.txt", ("@octocat",)),
        ("src/build/logs2/b.md", ("@global-owner1", "@global-owner2")),
        ("docs/getting-started.md", ("@doctocat",)),
        ("src/docs/x.md", ("@global-owner1", "@global-owner2")),
        ("sub/apps/x.md", ("@octocat",)),
        ("scripts/x.sh", ("@doctocat", "@octocat")),
        ("deeply/nested/logs/x.md", ("@octocat",)),
        ("apps/github", ()),
        ("apps/github/x.md", ()),
        ("apps/other/x.md", ("@octocat",)),
        ("other/deep.md", ("@deep",)),
        ("other/a/b/deep.md", ("@deep",)),
        ("ab.py", ("@global-owner1", "@global-owner2")),
        ("with space.py", ("@space",)),
    ],
)
def test_the_last_line_that_matches_a_file_says_who_owns_it(path: str, expected: tuple[str, ...]) -> None:
    (line,) = code_owners(parse_codeowners(EXAMPLE), path)
    assert line.owners == expected


GITLAB = """\
* @all
[Web team] @web   # who owns what has no owner of its own
src/*.ts
src/api.ts @api
^[Docs][2] @writers
*.md
[web TEAM]
/src/old.ts
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/page.ts", ["@all", "@web"]),
        ("src/api.ts", ["@all", "@api"]),
        ("src/a.md", ["@all", "@writers"]),
        ("src/old.ts", ["@all"]),
    ],
)
def test_each_section_of_gitlab_names_owners(path: str, expected: list[str]) -> None:
    assert [name for line in code_owners(parse_codeowners(GITLAB), path) for name in line.owners] == expected


def test_a_star_at_the_end_of_a_folder_has_no_files_of_inner_folders() -> None:
    patterns = parse_codeowners("docs/* @writer\n")
    assert code_owners(patterns, "docs/a.md")
    assert code_owners(patterns, "docs/build-app/a.md") == ()


def test_a_program_owns_nothing_and_a_name_with_the_word_bot_is_not_one(tmp_path: Path) -> None:
    repo = MadeRepository(tmp_path / "made")
    repo.commit({"test_a.py": ""}, person=("Abbott Botha", "abbott@robotics.example"))
    with Repository(repo.folder) as repository:
        assert not is_bot(repository.head)
    repo.commit({"test_a.py": "x\n"}, person=("dependabot[bot]", "49699333+dependabot[bot]@users.noreply.github.com"))
    with Repository(repo.folder) as repository:
        assert is_bot(repository.head)
        (owner,) = owners(repository, "HEAD", "test_a.py", repository.head)
    assert owner.name == "Abbott Botha <abbott@robotics.example>"


def test_the_author_of_the_blamed_change_comes_first_then_owners_then_who_wrote_the_test(tmp_path: Path) -> None:
    repo = MadeRepository(tmp_path / "made")
    repo.commit({"tests/test_a.py": "", ".github/CODEOWNERS": "/tests/ @team\n"}, person=("Tia", "tia@example.org"))
    repo.commit({"CODEOWNERS": "* @not-read\n", "a.py": "x = 1\n"}, person=("Ben", "ben@example.org"))
    with Repository(repo.folder) as repository:
        result = owners(repository, "HEAD", "tests/test_a.py", repository.head)
        assert [owner.name for owner in result] == ["Ben <ben@example.org>", "@team", "Tia <tia@example.org>"]
        assert result[0].reason == f"wrote the blamed change {repository.head.short}"
        assert result[1].reason == "owns tests/test_a.py by line 1 of .github/CODEOWNERS"
        assert result[2].reason.startswith("changed tests/test_a.py last")


def test_a_failure_in_a_file_of_another_language_is_given_by_its_place(tmp_path: Path) -> None:
    repo = MadeRepository(tmp_path / "made")
    repo.commit({"src/sum.ts": "one\ntwo\n", "test/sum.test.ts": ""}, person=("Tia", "tia@example.org"))
    repo.commit(
        {"src/sum.ts": "one\nTWO\n", ".gitlab/CODEOWNERS": "[Sums] @sums\nsrc/\n"}, person=("Ben", "b@example.org")
    )
    repo.commit({"src/sum.ts": "one\nTWO\nthree\n"}, person=("renovate[bot]", "bot@example.org"))
    trace = "Error: 2\n    at two (/ws/src/sum.ts:2:9)\n    at /ws/test/sum.test.ts:1:1"
    with Repository(repo.folder) as repository:
        place = innermost(trace, repository.paths("HEAD"))
        result = owners(repository, "HEAD", "test/sum.test.ts", repository.head, place)
    assert [owner.name for owner in result] == ["@sums", "Ben <b@example.org>", "Tia <tia@example.org>"]
    assert result[1].reason.startswith("wrote line 2 of src/sum.ts, where it fails, in ")
