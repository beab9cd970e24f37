"""A command line is taken apart into what it would run, and what that changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.classifiers.effects import MOVED, Effect, effects, is_test_run, made_folders
from misstep_harness.classifiers.history import History
from misstep_harness.classifiers.shell import Command, commands
from tests.harness.classifiers.building import bash, call, run

PIECES = ("\0", "\0" "1", "<<E", "<<-'E F'", "\n", "E\n", "E F\n", "'", '"', "\\", "$(", ")", "(", "bash -c ", "sh", " ", ">", "2>&1",
          "|", "&&", "cd ", "..", "sudo ", "timeout ", "A=1 ", "rm ", "git ", "apply", "sed -i ", "#", "\ud800", "{", "pip install ")  # fmt: skip


def programs(line: str) -> list[tuple[str, ...]]:
    return [command.words for command in commands(line)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ls -la", [("ls", "-la")]),
        ("cd src && make test; echo done", [("cd", "src"), ("make", "test"), ("echo", "done")]),
        ("FOO=1 timeout 30 sudo -u me env X=2 pytest -q", [("pytest", "-q")]),
        ("bash -lc 'cd a && rm \"b c\"'", [("cd", "a"), ("rm", "b c")]),
        ("echo 'a && b' \"c; d\" e\\ f", [("echo", "a && b", "c; d", "e f")]),
        ("cat a | grep x || true", [("cat", "a"), ("grep", "x"), ("true",)]),
        ("for f in *.py; do black $f; done", [("f", "in", "*.py"), ("black", "$f")]),
        ("ls # && rm -rf /", [("ls",)]),
        ("echo $(git rev-parse HEAD)", [("echo", "$(git rev-parse HEAD)")]),
        ("find . -name '*.py' | xargs -n 1 wc -l", [("find", ".", "-name", "*.py"), ("wc", "-l")]),
        ("make \\\n  all", [("make", "all")]),
        ("", []),
    ],
)
def test_a_line_is_taken_apart(line: str, words: list[tuple[str, ...]]) -> None:
    assert programs(line) == words


def test_a_here_document_is_what_a_command_reads_and_not_commands() -> None:
    (first, second) = commands("cat > a.sh <<'EOF'\nrm -rf b\nEOF\nls")
    assert first == Command(("cat",), writes=("a.sh",), fed="rm -rf b\n")
    assert second.words == ("ls",)


def test_a_here_document_fed_to_a_shell_is_commands() -> None:
    assert programs("bash <<EOF\nrm b\nEOF") == [("rm", "b")]


def test_what_a_pipe_feeds_is_marked() -> None:
    assert [command.piped for command in commands("a | b && c")] == [False, True, False]


@pytest.mark.parametrize(
    ("line", "done"),
    [
        ("echo x > a.txt 2>&1", [("write", "a.txt")]),
        ("make 2> /dev/null > out.log", [("write", "out.log")]),
        ("cd src && echo x >> ../b.txt", [("write", "b.txt")]),
        ("sed -n 's/a/b/p' a.py", []),
        ("sed -i 's/a/b/' a.py b.py", [("edit", "a.py"), ("edit", "b.py")]),
        ("sed --in-place=.bak -e s/a/b/ a.py", [("edit", "a.py")]),
        ("perl -ne 'print' a.py", []),
        ("rm -rf build/ dist", [("delete", "build/"), ("delete", "dist")]),
        ("mv a.py b.py", [("delete", "a.py"), ("write", "b.py")]),
        ("git mv a.py b.py && git rm c.py", [("delete", "a.py"), ("write", "b.py"), ("delete", "c.py")]),
        ("git -C sub checkout -- a.py", [("edit", "sub/a.py")]),
        ("git checkout -b topic", [("git", "checkout -b topic")]),
        ("git commit -m 'rm a.py'", [("commit", "-m rm a.py")]),
        ("git push", [("push", "")]),
        ("git stash list; git branch -a; git tag", []),
        ("pip install -q attrs 'rich>=13'", [("install", "attrs"), ("install", "rich>=13")]),
        ("uv pip install attrs; uv add rich", [("install", "attrs"), ("install", "rich")]),
        ("pip install -e . && npm ci", [("install", ""), ("install", "")]),
        ("python3 -m pip install attrs", [("install", "attrs")]),
        ("pip list; npm run install-hooks", []),
        ("tee a.txt b.txt", [("write", "a.txt"), ("write", "b.txt")]),
        ("black --check a.py; prettier a.ts", []),
        ("uv run ruff format a.py", [("edit", "a.py")]),
        ("dd if=/dev/zero of=a.img", [("write", "a.img")]),
        ("python -c \"open('a.txt', 'w').write('x')\"", [("write", "a.txt")]),
        ("python -c \"print(open('a.txt').read())\"", []),
        ("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.py\n+x\n*** Delete File: b.py\n*** End Patch\nEOF",
         [("create", "a.py"), ("delete", "b.py")]),
        ("git apply <<'EOF'\n--- a/a.py\n+++ b/a.py\n@@\nEOF", [("edit", "a.py")]),
        ("patch -p1 <<'EOF'\n--- a/a.py\n+++ b/a.py\n@@\nEOF", [("edit", "a.py")]),
        ("cat a.py | head -5 > /dev/null", []),
        ("cat list | xargs sed -i 's/a/b/'; cat list | xargs -0 rm -f", [("edit", "{}"), ("delete", "{}")]),
        ("find . -name '*.py' -exec sed -i 's/a/b/' {} + -o -name '*.pyc' -exec rm {} \\;", [("edit", "{}"), ("delete", "{}")]),
        ("find . -name '*.pyc' -delete; find . -exec sh -c 'rm $1' _ {} \\;", [("delete", "{}"), ("delete", "$1")]),
        ("find . -name '*.py' -exec grep -l foo {} \\;", []),
        ("sed -i '' 's/a/b/' a.py", [("edit", "a.py")]),
        ("touch -r b.py a.py; install -m 755 a.sh bin/a", [("create", "a.py"), ("write", "bin/a")]),
        ("cp -t src a.py b.py; rm -f -- -x", [("write", "src/a.py"), ("write", "src/b.py"), ("delete", "-x")]),
        ("ruff format --diff a.py; yapf a.py; yapf -d b.py; autopep8 c.py; gofmt -l d.go; ruff check --fix --diff a.py", []),
        ("yapf -i a.py; ruff --config b.toml check --fix c.py", [("edit", "a.py"), ("edit", "c.py")]),
        ("git rm --cached a.py; git restore --staged b.py", []),
        ("git branch --contains abc; git tag --points-at abc; git stash show; git clean -nd; git apply --check a.patch", []),
        ("git commit --help; git push -n", []),
        ("git tag -a v1 -m x; git clean -fd", [("git", "tag -a v1 -m x"), ("git", "clean -fd")]),
        ("pip install --dry-run attrs; pip install '.[dev]' -c c.txt", [("install", "")]),
        ("conda install -n env -c forge numpy; npm --prefix web i left; poetry add rich --group dev",
         [("install", "numpy"), ("install", "left"), ("install", "rich")]),
        ("pip install --index-url https://a.b/c -r r.txt attrs", [("install", "attrs")]),
        ("python3.12 - <<E\nopen('a.txt', 'w')\nE", [("write", "a.txt")]),
        ("curl -so a.zip http://b.c; wget -O d.zip http://b.c; wget -qO- http://b.c",
         [("write", "a.zip"), ("write", "d.zip")]),
        ("dir 2>NUL; Get-Content a.py 2>$null", []),
        ("echo x > src\\a.py", [("write", "src\\a.py")]),
    ],
)  # fmt: skip
def test_what_a_line_changes(line: str, done: list[tuple[str, str]]) -> None:
    (act,) = History(run(bash(line, "", 0))).acts
    assert [(effect.verb, effect.target) for effect in effects(act)] == done


@pytest.mark.parametrize(
    ("name", "arguments", "done"),
    [
        ("Edit", {"file_path": "/r/a.py", "old_string": "x", "new_string": "y"}, [Effect("edit", "/r/a.py", "y")]),
        ("MultiEdit", {"file_path": "a.py", "edits": []}, [Effect("edit", "a.py")]),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, []),
        ("str_replace_editor", {"command": "create", "path": "a.py", "file_text": "x"}, [Effect("write", "a.py", "x")]),
        ("functions.create_file", {"filePath": "a.py", "content": "x"}, [Effect("write", "a.py", "x")]),
        ("mcp__fs__write_file", {"path": "a.py", "content": "x"}, [Effect("write", "a.py", "x")]),
        ("delete_file", {"target_file": "a.py"}, [Effect("delete", "a.py")]),
        ("move_file", {"source": "a.py", "destination": "b.py"}, [Effect("delete", "a.py", MOVED), Effect("write", "b.py")]),
        ("git_commit", {"message": "x"}, [Effect("commit", "")]),
        ("get_user", {"path": "a.py"}, []),
        ("update_settings", {"path": "a.cfg", "value": "x"}, [Effect("write", "a.cfg")]),
        ("TodoWrite", {"todos": "x"}, []),
        ("create_directory", {"path": "a"}, []),
        ("push_notification", {"message": "x"}, []),
        ("create_commit_comment", {"body": "x"}, []),
        ("push_files", {"files": "x"}, [Effect("push", "")]),
        ("search_and_replace", {"path": "a.py", "search": "x", "replace": "y"}, [Effect("edit", "a.py", "y")]),
        ("EditNotebook", {"target_notebook": "a.ipynb"}, [Effect("edit", "a.ipynb")]),
    ],
)  # fmt: skip
def test_what_a_tool_changes(name: str, arguments: dict[str, object], done: list[Effect]) -> None:
    (act,) = History(run(call(name, "ok", **arguments))).acts
    assert effects(act) == done


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("if [[ -f a && $b > c ]]; then ls; fi", [("[[", "-f", "a", "&&", "$b", ">", "c", "]]"), ("ls",)]),
        ("(( a > b )) && ls", [("ls",)]),
        ("for ((i = 9; i > (1 + 2); i--)); do ls; done", [("ls",)]),
        ("((ls; pwd); rm a)", [("ls",), ("pwd",), ("rm", "a")]),
    ],
)
def test_a_comparison_redirects_nothing(line: str, words: list[tuple[str, ...]]) -> None:
    assert [(one.words, one.writes) for one in commands(line)] == [(one, ()) for one in words]


@pytest.mark.parametrize(
    ("line", "folder"),
    [
        ("(cd a && ls); touch b", ""),
        ("(cd a; (cd c; ls); touch b)", "a"),
        ("pushd a; ls; popd; touch b", ""),
        ("cd a; cd c; cd - && touch b", "a"),
        ("case x in a) cd d;; esac; touch b", "d"),
    ],
)
def test_the_folder_is_the_one_that_the_line_is_in_by_then(line: str, folder: str) -> None:
    (touched,) = (command for command in commands(line) if command.program == "touch")
    assert touched.folder == folder


@pytest.mark.parametrize(
    ("line", "folders"),
    [
        ("mkdir -p a b; git -C c clone -q --depth 1 http://d.e/lib.git", ["a", "b", "lib"]),
        ("git clone git@d.e:f/lib g; git worktree add -b topic ../h HEAD", ["g", "../h"]),
        ("python -m venv --prompt me .venv", [".venv"]),
    ],
)
def test_a_folder_that_a_line_makes(line: str, folders: list[str]) -> None:
    (act,) = History(run(bash(line, "", 0))).acts
    assert made_folders(act) == folders


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("bash -x run_tests.sh", True),
        ("coverage run -m pytest", True),
        ("pnpm -r test", True),
        ("hatch test", True),
        ("node --test", True),
        ("poetry run pytest", True),
        ("poetry add pytest", False),
        ("python -m pytest --version", False),
        ("cat test_a.py", False),
    ],
)
def test_a_run_of_tests(line: str, runs: bool) -> None:
    assert [is_test_run(command) for command in commands(line)] == [runs]


def test_a_failed_call_changes_nothing() -> None:
    refused = call("Edit", "The user doesn't want to proceed with this tool use.", None, True, file_path="a.py")
    for step in (bash("rm a.py", "rm: cannot remove 'a.py'", 1), refused):
        (act,) = History(run(step)).acts
        assert effects(act) == []


@given(st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
def test_every_text_can_be_taken_apart(line: str) -> None:
    for command in commands(line):
        assert command.words or command.writes
        assert "\0" not in "".join(command.words)
    (act,) = History(run(bash(line, "", 0))).acts
    assert isinstance(effects(act), list)


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_null_characters_change_nothing(line: str) -> None:
    assert commands("\0".join(line)) == commands("".join(line.split("\0")))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("bash -c 'cat > a.txt <<E\nhi\nE'", Command(("cat",), writes=("a.txt",), fed="hi\n")),
        ("python -c 'x = 1 << n\nprint(x)'", Command(("python", "-c", "x = 1 << n\nprint(x)"))),
        ("cat <<A <<'B C' | tee a.txt\n1\nA\n2\nB C", Command(("cat",), fed="2\n")),
        ("echo '<<E'", Command(("echo", "<<E"))),
        ("cat <<E > a.txt\n1", Command(("cat",), writes=("a.txt",), fed="1\n")),
    ],
)  # fmt: skip
def test_a_here_document_opens_outside_quotes_alone(line: str, expected: Command) -> None:
    assert commands(line)[0] == expected
