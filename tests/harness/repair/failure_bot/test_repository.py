"""A repository is read without obeying anything in it, and its trees are those that were committed."""

import subprocess
from pathlib import Path

import pytest

from misstep.harness.errors import InputError, UnsafePath
from misstep.harness.repair.failure_bot.repository import Repository
from tests.harness.repair.failure_bot.histories import MadeRepository


@pytest.fixture
def made(tmp_path: Path) -> MadeRepository:
    return MadeRepository(tmp_path / "made")


def test_a_tree_is_exported_byte_for_byte_whatever_attributes_say(made: MadeRepository, tmp_path: Path) -> None:
    attributes = "* export-ignore filter=evil\n*.txt ident export-subst\n"
    (made.folder / "link").symlink_to("b/c.py")
    (made.folder / "run.sh").write_text("#!/bin/sh\n")
    (made.folder / "run.sh").chmod(0o755)
    made.commit({".gitattributes": attributes, "a.txt": "$Id$ $Format:%H$\n", "b/c.py": "x = 1\n"})
    with Repository(made.folder) as repository:
        tree = repository.export("HEAD", tmp_path / "tree")
    assert (tree / "a.txt").read_bytes() == b"$Id$ $Format:%H$\n"
    assert (tree / "b/c.py").read_text() == "x = 1\n"
    assert (tree / "link").readlink() == Path("b/c.py")
    assert (tree / "run.sh").stat().st_mode & 0o111
    assert not (tree / "a.txt").stat().st_mode & 0o111
    assert not (tree / ".git").exists()


def test_hooks_and_programs_of_the_settings_never_run(made: MadeRepository, tmp_path: Path) -> None:
    made.commit({"a.txt": "one\n", ".gitattributes": "* filter=x diff=x\n"})
    made.commit({"a.txt": "two\n"})
    program = tmp_path / "evil.sh"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    program.chmod(0o755)
    names = ("fsmonitor", "pager", "sshCommand")
    drivers = ("filter.x.smudge", "filter.x.clean", "diff.x.textconv", "diff.x.command", "diff.external")
    for key in (*(f"core.{name}" for name in names), *drivers):
        made.git("config", key, str(program))
    (made.folder / ".git/hooks").mkdir(exist_ok=True)
    (made.folder / ".git/hooks/post-checkout").symlink_to(program)
    (tmp_path / "ran").unlink(missing_ok=True)
    with Repository(made.folder) as repository:
        repository.export("HEAD", tmp_path / "tree")
        assert "+two" in repository.diff(repository.head)
        assert [one.path for one in repository.changed_files(repository.head)] == ["a.txt"]
        assert repository.text("HEAD", "a.txt") == "two\n"
    assert not (tmp_path / "ran").exists()


def test_nothing_in_the_checkout_is_changed_and_its_files_do_not_count(made: MadeRepository, tmp_path: Path) -> None:
    made.commit({"a.txt": "committed\n"})
    (made.folder / "a.txt").write_text("not committed\n")
    before = {file: file.stat().st_mtime_ns for file in made.folder.rglob("*")}
    with Repository(made.folder) as repository:
        assert (repository.export("HEAD", tmp_path / "tree") / "a.txt").read_text() == "committed\n"
    assert {file: file.stat().st_mtime_ns for file in made.folder.rglob("*")} == before


def stored(made: MadeRepository, kind: str, content: bytes) -> str:
    """The id of an object as no `git add` makes it."""
    command = ["git", "hash-object", "-t", kind, "-w", "--stdin", "--literally"]
    done = subprocess.run(command, cwd=made.folder, input=content, capture_output=True, check=True)
    return done.stdout.decode().strip()


def entry(mode: str, name: str, thing: str) -> bytes:
    return f"{mode} {name}\0".encode() + bytes.fromhex(thing)


@pytest.mark.parametrize("kind", ["upwards", "through a link", "into .git"])
def test_a_tree_that_leads_out_of_its_folder_is_refused(made: MadeRepository, tmp_path: Path, kind: str) -> None:
    made.commit({"a.txt": "one\n"})
    inner = stored(made, "tree", entry("100644", "x", made.git("rev-parse", "HEAD:a.txt")))
    link = stored(made, "blob", str(tmp_path).encode())
    trees = {
        "upwards": entry("40000", "..", inner),
        "through a link": entry("120000", "out", link) + entry("40000", "out", inner),
        "into .git": entry("40000", ".GIT", inner),
    }
    made.git("update-ref", "refs/heads/main", made.git("commit-tree", stored(made, "tree", trees[kind]), "-m", "odd"))
    with Repository(made.folder) as repository, pytest.raises(UnsafePath):
        repository.export("HEAD", tmp_path / "tree")
    assert not (tmp_path / "x").exists()


def test_a_merge_is_one_change_of_the_history(made: MadeRepository) -> None:
    first = made.commit({"a.txt": "one\n"})
    made.git("checkout", "-q", "-b", "side")
    for number in range(3):
        made.commit({"b.txt": f"{number}\n"})
    made.git("checkout", "-q", "main")
    second = made.commit({"a.txt": "two\n"})
    made.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    with Repository(made.folder) as repository:
        history = repository.first_parents("HEAD", 100)
        assert [commit.id for commit in history] == [first, second, made.git("rev-parse", "HEAD")]
        assert len(history[-1].parents) == 2
        assert "+2" in repository.diff(history[-1])
        assert [one.path for one in repository.changed_files(history[-1])] == ["b.txt"]


def test_a_history_may_begin_at_a_commit(made: MadeRepository) -> None:
    ids = [made.commit({"a.txt": f"{number}\n"}) for number in range(5)]
    with Repository(made.folder) as repository:
        assert [one.id for one in repository.first_parents("HEAD", 100, after=ids[2])] == ids[2:]
        assert [one.id for one in repository.first_parents("HEAD", 2)] == ids[3:]
        assert [one.id for one in repository.first_parents("HEAD", 2, after=ids[0])] == ids[3:]


def test_what_a_text_diff_cannot_say_is_told(made: MadeRepository) -> None:
    made.commit({"a.txt": "one\n", "b.bin": "\0\1"})
    (made.folder / "b.bin").write_bytes(b"\0\2")
    (made.folder / "l").symlink_to("a.txt")
    made.commit({"a.txt": "two\n", "new.txt": "new\n"})
    with Repository(made.folder) as repository:
        changed = {one.path: one.is_text for one in repository.changed_files(repository.head)}
        assert changed == {"a.txt": True, "b.bin": False, "l": False, "new.txt": True}
        root = repository.first_parents("HEAD", 9)[0]
        assert "+one" in repository.diff(root)
        assert {one.path: one.is_text for one in repository.changed_files(root)} == {"a.txt": True, "b.bin": False}


def test_a_linked_worktree_and_a_bare_repository_are_read_as_well(made: MadeRepository, tmp_path: Path) -> None:
    made.commit({"a.txt": "one\n"})
    made.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    made.commit({"a.txt": "two\n"})
    made.git("clone", "-q", "--bare", "--no-hardlinks", str(made.folder), str(tmp_path / "bare.git"))
    with Repository(tmp_path / "linked") as linked, Repository(tmp_path / "bare.git") as bare:
        assert linked.text("HEAD", "a.txt") == "one\n"
        assert bare.text("HEAD", "a.txt") == "two\n"


def test_the_end_of_a_shallow_clone_is_not_the_first_commit_of_all(made: MadeRepository, tmp_path: Path) -> None:
    for number in range(3):
        made.commit({"a.txt": f"{number}\n"})
    made.git("clone", "-q", "--depth=2", f"file://{made.folder}", str(tmp_path / "shallow"))
    with Repository(tmp_path / "shallow") as repository:
        oldest, newest = repository.first_parents("HEAD", 9)
        assert (oldest.is_cut, newest.is_cut) == (True, False)


def test_a_folder_without_a_repository_and_a_commit_that_it_lacks_are_refused(
    made: MadeRepository, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="not a git repository"):
        Repository(tmp_path)
    made.commit({"a.txt": "one\n"})
    with Repository(made.folder) as repository, pytest.raises(InputError, match="no commit '--help'"):
        repository.commit("--help")
