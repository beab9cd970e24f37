"""Layers and copies are one thing to whoever uses a workspace: the same files after any sequence of acts."""

import os
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from misstep.harness.errors import MisstepError
from misstep.harness.workspace import Sandbox, Snapshot, Workspace, open_workspace

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


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    for name in ("d/e", "f", "empty"):
        (folder / name).mkdir(parents=True)
    for name in ("a", "d/a", "d/e/a", "f/a"):
        (folder / name).write_text(f"{name}\nof the base\n")
    (folder / "link").symlink_to("a")
    return folder


@pytest.fixture(scope="module")
def layered(sandbox: Sandbox) -> Sandbox:
    if not sandbox.overlays:
        sentence = "this machine lays no layers: bubblewrap 0.11 and Linux 5.11 do"
        pytest.fail(sentence) if os.environ.get("CI") else pytest.skip(sentence)
    return sandbox


def state(workspace: Workspace) -> dict[str, object]:
    files = {path: workspace.read(path) for path in workspace.files()}
    inside = workspace.run(["sh", "-c", "find . -printf '%y %P %l\\n' | sort; find . -type f -perm -100 | sort"])
    assert inside.exit_code == 0
    return {"files": files, "inside": inside.output}


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
def test_layers_and_copies_give_the_same_files_after_any_acts(base: Path, layered: Sandbox, steps: list[tuple]) -> None:
    with ExitStack() as opened:
        both = [
            opened.enter_context(open_workspace(base, sandbox=layered, snapshots=kind)) for kind in ("auto", "copies")
        ]
        assert [one.layered for one in both] == [True, False]
        taken: list[list[Snapshot]] = [[one.take()] for one in both]
        states = [[state(one)] for one in both]
        for step in steps:
            given_back = [act(one, step, of) for one, of in zip(both, taken, strict=True)]
            assert given_back[0] == given_back[1], step
            if step[0] == "take":
                for one, of in zip(both, states, strict=True):
                    of.append(state(one))
        assert state(both[0]) == state(both[1])
        for number in range(len(taken[0])):
            changed = [one.changed(of[number]) for one, of in zip(both, taken, strict=True)]
            assert changed[0] == changed[1]
            assert both[0].diff(taken[0][number]) == both[1].diff(taken[1][number])
        for number in reversed(range(len(taken[0]))):
            for one, of, then in zip(both, taken, states, strict=True):
                one.restore(of[number])
                assert state(one) == then[number], "a snapshot gives back what was taken"
                assert one.changed(of[number]) == ()


def test_more_snapshots_than_a_mount_takes_layers(base: Path, layered: Sandbox) -> None:
    with open_workspace(base, sandbox=layered) as workspace:
        taken = []
        for number in range(45):
            workspace.write(f"n/{number % 7}", b"%d" % number)
            if number % 5 == 0:
                assert workspace.run(["sh", "-c", "rm -rf d; mkdir d; touch d/x; rm -f a; touch a"]).exit_code == 0
            taken.append((workspace.take(), state(workspace)))
        for snapshot, then in taken[::-9]:
            workspace.restore(snapshot)
            assert state(workspace) == then


@pytest.mark.parametrize("snapshots", ["auto", "copies"])
def test_the_base_is_never_written_to(tmp_path: Path, sandbox: Sandbox, snapshots: str) -> None:
    for number in range(3):
        (tmp_path / f"{number}").write_text("base\n")
    before = {path: (path.read_text(), path.stat().st_mtime_ns, path.stat().st_mode) for path in tmp_path.iterdir()}
    with open_workspace(tmp_path, sandbox=sandbox, snapshots=snapshots) as workspace:
        workspace.run(["sh", "-c", "echo x >> 0; rm 1; chmod 777 2; touch new"])
        workspace.write("2", b"host\n")
        assert workspace.files() == ["0", "2", "new"]
    assert before == {
        path: (path.read_text(), path.stat().st_mtime_ns, path.stat().st_mode) for path in tmp_path.iterdir()
    }


@pytest.mark.parametrize("snapshots", ["auto", "copies"])
def test_a_file_written_in_place_right_after_a_snapshot_is_told_from_it(base, sandbox, snapshots) -> None:
    with open_workspace(base, sandbox=sandbox, snapshots=snapshots) as workspace:
        for _ in range(5):
            workspace.write("a", b"aaaa")
            snapshot = workspace.take()
            workspace.run(["sh", "-c", "printf bbbb > a"])
            assert workspace.changed(snapshot) == ("a",)
            workspace.restore(snapshot)
            assert workspace.read("a") == b"aaaa"
