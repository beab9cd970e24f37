"""A snapshot gives back the files as they were, after any sequence of acts."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from misstep_harness.errors import MisstepError
from misstep_harness.workspace import Sandbox, Snapshot, Workspace, open_workspace

NAMES = ["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "f/a"]
paths = st.sampled_from(NAMES)
contents = st.sampled_from([b"", b"one\n", b"two\n", b"one\ntwo", b"\0binary"])
commands = st.one_of(
    st.tuples(st.just("[ -p {0} ] || printf %s inside > {0}"), paths, paths),
    st.tuples(st.just("[ -p {0} ] || printf more >> {0}"), paths, paths),
    st.tuples(st.just("rm -rf {0}"), paths, paths),
    st.tuples(st.just("mv -T {0} {1}"), paths, paths),
    st.tuples(st.just("rm -rf {0}; mkdir -p {0}"), paths, paths),
    st.tuples(st.just("mkdir -p {0}; printf new > {0}/new"), paths, paths),
    st.tuples(st.just("ln -sfn {1} {0}"), paths, paths),
    st.tuples(st.just("ln {0} {1}"), paths, paths),
    st.tuples(st.just("chmod 755 {0}"), paths, paths),
    st.tuples(st.just("cp -a {0} {1}"), paths, paths),
    st.tuples(st.just("mkfifo {0}"), paths, paths),
)
acts = st.one_of(
    st.tuples(st.just("write"), paths, contents),
    st.tuples(st.just("remove"), paths),
    st.tuples(st.just("run"), st.lists(commands, min_size=1, max_size=4)),
    st.tuples(st.just("take")),
    st.tuples(st.just("restore"), st.integers(0, 9)),
)


Entry = tuple[str, bool, bytes | str]
_NONE: Entry = ("", False, "")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    for name in ("d/e", "f", "empty"):
        (folder / name).mkdir(parents=True)
    for name in ("a", "d/a", "d/e/a", "f/a"):
        (folder / name).write_text(f"{name}\nof the base\n")
    (folder / "link").symlink_to("a")
    return folder


def state(workspace: Workspace) -> dict[str, Entry]:
    """What a command sees at each path: the kind, whether its owner may run it, and the target or content."""
    inside = workspace.run(["find", ".", "-mindepth", "1", "-printf", "%y\\t%m\\t%P\\t%l\\n"])
    entries = (line.split("\t") for line in inside.output.splitlines())
    return {
        path: (kind, kind == "f" and bool(int(mode, 8) & 0o100), workspace.read(path) if kind == "f" else target)
        for kind, mode, path, target in entries
    }


def differing(then: dict[str, Entry], now: dict[str, Entry]) -> tuple[str, ...]:
    """The paths of files and links that one state alone has, or has otherwise."""
    paths = sorted(path for path in then | now if then.get(path) != now.get(path))
    return tuple(path for path in paths if {then.get(path, _NONE)[0], now.get(path, _NONE)[0]} & {"f", "l"})


def act(workspace: Workspace, step: tuple, taken: list[Snapshot]) -> object:
    """Do one act; what it gives, or which error."""
    kind, *rest = step
    try:
        if kind == "write":
            return workspace.write(*rest)
        if kind == "remove":
            return workspace.remove(*rest)
        if kind == "run":
            script = "; ".join(f"{{ {line.format(one, other)}; }} 2>&-" for line, one, other in rest[0])
            return workspace.run(["sh", "-c", script]).ended
        if kind == "take":
            taken.append(workspace.take())
        elif taken:
            workspace.restore(taken[rest[0] % len(taken)])
    except (MisstepError, FileNotFoundError) as error:
        return type(error)
    return None


@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(acts, max_size=9))
@example([("run", [("rm -rf {0}", "d", "a")]), ("write", "d/a", b""), ("remove", "d/a")])
@example([("remove", "a"), ("run", [("ln {0} {1}", "d/a", "a")]), ("take",), ("run", [("printf in > {0}", "a", "a")])])
def test_a_snapshot_gives_back_what_was_taken_and_tells_what_has_changed(base, sandbox, steps: list[tuple]) -> None:
    with open_workspace(base, sandbox=sandbox) as workspace:
        taken, states = [workspace.take()], [state(workspace)]
        for step in steps:
            act(workspace, step, taken)
            if step[0] == "take":
                states.append(state(workspace))
        now = state(workspace)
        for snapshot, then in zip(taken, states, strict=True):
            assert workspace.changed(snapshot) == differing(then, now)
        for snapshot, then in reversed(list(zip(taken, states, strict=True))):
            workspace.restore(snapshot)
            assert state(workspace) == then
            assert workspace.changed(snapshot) == ()


def test_folders_are_as_open_as_they_were_and_what_no_path_reaches_is_gone(base: Path, sandbox: Sandbox) -> None:
    with open_workspace(base, sandbox=sandbox) as workspace:
        workspace.run(["sh", "-c", "chmod 2750 d; chmod 6755 a"])
        snapshot, modes = workspace.take(), "find . -printf '%m %P\\n' | sort"
        before = workspace.run(["sh", "-c", modes]).output
        workspace.run(["sh", "-c", "rm d/a a; mkdir -p $(printf 'x/%.0s' $(seq 300)); chmod 500 d; chmod 0 f ."])
        workspace.restore(snapshot)
        assert workspace.run(["sh", "-c", modes]).output == before


def test_the_base_is_never_written_to(tmp_path: Path, sandbox: Sandbox) -> None:
    for number in range(3):
        (tmp_path / f"{number}").write_text("base\n")
    before = {path: (path.read_text(), path.stat().st_mtime_ns, path.stat().st_mode) for path in tmp_path.iterdir()}
    with open_workspace(tmp_path, sandbox=sandbox) as workspace:
        workspace.run(["sh", "-c", "echo x >> 0; rm 1; chmod 777 2; touch new"])
        workspace.write("2", b"host\n")
        assert workspace.files() == ["0", "2", "new"]
    assert before == {
        path: (path.read_text(), path.stat().st_mtime_ns, path.stat().st_mode) for path in tmp_path.iterdir()
    }


def test_a_file_written_in_place_right_after_a_snapshot_is_told_from_it(base, sandbox) -> None:
    with open_workspace(base, sandbox=sandbox) as workspace:
        for _ in range(5):
            workspace.write("a", b"aaaa")
            snapshot = workspace.take()
            workspace.run(["sh", "-c", "printf bbbb > a"])
            assert workspace.changed(snapshot) == ("a",)
            workspace.restore(snapshot)
            assert workspace.read("a") == b"aaaa"
