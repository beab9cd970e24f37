"""What a workspace promises: one file tree, commands in it, and nothing outside it read or written."""

import os
import subprocess
import threading
from pathlib import Path

import pytest

from benchmarks.escapes.attempt import processes_with
from misstep_harness.errors import InputError, SandboxFailed, UnsafePath, UsageError
from misstep_harness.workspace import Limits, Sandbox, find_sandbox, open_workspace, python_toolchain
from misstep_harness.workspace.workspace import _remove_left_over
from tests.harness.workspace.conftest import sandbox_named


@pytest.fixture
def base(tmp_path: Path) -> Path:
    folder = tmp_path / "base"
    (folder / "package").mkdir(parents=True)
    (folder / "package/module.py").write_text("def one():\n    return 1\n")
    (folder / "README").write_text("read\nme\n")
    (folder / ".git").mkdir()
    (folder / ".git/config").write_text("[core]\n")
    return folder


def test_a_command_runs_in_the_root_and_sees_what_was_written(base: Path, each_sandbox: Sandbox) -> None:
    with open_workspace(base, sandbox=each_sandbox) as workspace:
        assert workspace.run(["no-such-program"]).exit_code == 127
        workspace.write("package/new.txt", b"from outside\n")
        done = workspace.run(["sh", "-c", "cat package/new.txt; echo error >&2; echo inside > made; exit 3"])
        assert (done.exit_code, done.ended, done.output) == (3, "exited", "from outside\nerror\n")
        assert workspace.read("made") == b"inside\n"
        assert workspace.files() == ["README", "made", "package/module.py", "package/new.txt"]
    assert not workspace.folder.exists()


def test_what_ended_a_command_is_said(base: Path, each_sandbox: Sandbox) -> None:
    with open_workspace(base, sandbox=each_sandbox) as workspace:
        for command, limits, ended in (
            (["sh", "-c", "kill -9 $$"], Limits(), "signal"),
            (["sleep", "9"], Limits(seconds=0.2), "time"),
            (["yes"], Limits(output_bytes=1000), "output"),
        ):
            done = workspace.run(command, limits=limits)
            assert done.ended == ended
            assert len(done.output) <= limits.output_bytes
            assert (done.exit_code is None) == (ended != "signal")
        assert workspace.run(["true"]).exit_code == 0, "the next command is not touched"


def test_what_a_command_leaves_running_is_ended_with_it(base: Path, each_sandbox: Sandbox) -> None:
    with open_workspace(base, sandbox=each_sandbox) as workspace:
        seconds = f"6{os.getpid():07}"
        done = workspace.run(["sh", "-c", f"(setsid sleep {seconds} >/dev/null 2>&1 &) ; sleep 0.1; echo end"])
        assert done.output == "end\n"
        assert processes_with(f"sleep\0{seconds}") == []


def test_a_sandbox_that_cannot_be_built_is_no_end_of_a_command(base: Path) -> None:
    sandbox = sandbox_named("bubblewrap")
    with (
        open_workspace(base, sandbox=sandbox, read_only=[base / "missing"]) as workspace,
        pytest.raises(SandboxFailed, match="could not start 'true'"),
    ):
        workspace.run(["true"])


def test_variables_are_those_that_were_given_and_no_others(base, each_sandbox, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    with open_workspace(base, sandbox=each_sandbox, environment={"ONE": "1", "TWO": "2"}) as workspace:
        lines = workspace.run(["env"], environment={"TWO": "two"}).output.splitlines()
    assert {"ONE=1", "TWO=two", "LANG=C.UTF-8"} <= set(lines)
    assert not any(line.startswith("OPENAI") for line in lines)


def test_the_interpreter_of_the_toolchain_runs_pytest_in_the_sandbox(base: Path) -> None:
    sandbox, toolchain = sandbox_named("bubblewrap"), python_toolchain()
    with open_workspace(base, sandbox=sandbox, read_only=toolchain.read_only) as workspace:
        workspace.write("test_one.py", b"from package.module import one\n\ndef test_one():\n    assert one() == 1\n")
        command = [toolchain.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_one.py"]
        done = workspace.run(command)
        assert "1 passed" in done.output
        workspace.write("package/module.py", b"def one():\n    return 2\n")
        assert "assert 2 == 1" in workspace.run(command).output


def test_a_path_out_of_the_workspace_is_refused(base: Path, sandbox: Sandbox) -> None:
    with open_workspace(base, sandbox=sandbox) as workspace:
        for path in ("../x", "/etc/passwd", "a/../../x", "a\0b", "", "."):
            for act in (workspace.read, workspace.remove, lambda path: workspace.write(path, b"")):
                with pytest.raises(UnsafePath):
                    act(path)


def test_files_folders_and_what_is_missing_are_told_apart(base: Path, sandbox: Sandbox) -> None:
    with open_workspace(base, sandbox=sandbox) as workspace:
        assert workspace.exists("package")
        assert workspace.exists("README")
        assert not workspace.exists("missing")
        for act in (workspace.read, workspace.remove):
            with pytest.raises(FileNotFoundError):
                act("missing")
        with pytest.raises(UnsafePath, match="folder"):
            workspace.read("package")
        with pytest.raises(UnsafePath, match="folder"):
            workspace.write("package", b"")
        with pytest.raises(UnsafePath, match="not a folder"):
            workspace.write("README/below", b"")
        workspace.remove("README")
        assert not workspace.exists("README")


def test_a_diff_is_one_that_git_applies(base: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    (base / "mode.sh").write_text("true\n")
    (base / "empty").write_text("")
    (base / "odd näme\t.txt").write_text("one\n")
    with open_workspace(base, sandbox=sandbox) as workspace:
        snapshot = workspace.take()
        assert (workspace.diff(snapshot), workspace.changed(snapshot)) == ("", ())
        workspace.write("package/module.py", b"def one():\n    return 11\n\n\ndef two():\n    return 2")
        workspace.write("new/file with space.txt", b"a\x0cb\r\nc\n")
        workspace.write("odd näme\t.txt", b"two\n")
        workspace.remove("empty")
        workspace.run(["sh", "-c", "chmod +x mode.sh; ln -s README link; echo x >> .git/config; rm README; touch none"])
        names = ("README", "empty", "link", "mode.sh", "new/file with space.txt", "none", "odd näme\t.txt")
        assert workspace.changed(snapshot) == (*names, "package/module.py")
        text = workspace.diff(snapshot)
        after = {path: workspace.read(path) for path in workspace.files()}
    (tmp_path / "patch").write_text(text, newline="")
    done = subprocess.run(
        ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", str(tmp_path / "patch")],
        cwd=base,
        env={**os.environ, "GIT_DIR": str(tmp_path / "none")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    for path, content in after.items():
        assert (base / path).read_bytes() == content
    assert (base / "link").is_symlink()
    assert os.access(base / "mode.sh", os.X_OK)
    assert not (base / "README").exists()


def test_a_change_of_binary_data_or_in_a_text_of_over_a_mebibyte_is_a_diff_of_its_line(base, sandbox) -> None:
    with open_workspace(base, sandbox=sandbox) as workspace:
        workspace.write("long.txt", b"line\n" * 250_000)
        snapshot = workspace.take()
        workspace.write("long.txt", b"line\n" * 100_000 + b"changed\n" + b"line\n" * 149_999)
        workspace.write("data", b"\0\1")
        assert "\n-line\n+changed\n line\n" in workspace.diff(snapshot)
        assert "Binary files /dev/null and b/data differ" in workspace.diff(snapshot)


def test_a_command_of_a_thread_ends_when_it_ends_and_not_before(base: Path, sandbox: Sandbox) -> None:
    results = []
    with open_workspace(base, sandbox=sandbox) as workspace:
        thread = threading.Thread(target=lambda: results.append(workspace.run(["sh", "-c", "echo begun; echo done"])))
        thread.start()
        thread.join()
    assert results[0].output == "begun\ndone\n"


def test_a_file_that_nobody_may_read_is_read_all_the_same(base: Path, sandbox: Sandbox) -> None:
    with open_workspace(base, sandbox=sandbox) as workspace:
        workspace.run(["sh", "-c", "mkdir closed; echo x > closed/file; chmod 000 closed/file closed README"])
        assert workspace.read("closed/file") == b"x\n"
        assert "closed/file" in workspace.files()
        assert workspace.read("README") == b"read\nme\n"
    assert not workspace.folder.exists()


def test_the_folder_of_a_killed_process_is_removed_and_that_of_a_live_one_is_not(base: Path, sandbox: Sandbox) -> None:
    with open_workspace(base, sandbox=sandbox) as workspace:
        dead = workspace.folder.parent / "misstep-of-the-dead"
        (dead / "tree").mkdir(parents=True)
        (dead / "lock").touch()
        _remove_left_over()
        assert workspace.folder.exists()
        assert not dead.exists()


def test_a_base_that_is_no_folder_and_a_sandbox_that_nobody_knows_are_refused(base: Path, sandbox: Sandbox) -> None:
    with pytest.raises(InputError):
        open_workspace(base / "README", sandbox=sandbox)
    with pytest.raises(UsageError, match="bubblewrap"):
        find_sandbox("chroot")
