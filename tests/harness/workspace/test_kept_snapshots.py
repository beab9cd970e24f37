"""A kept snapshot brings back a workspace of which nothing is left, or says that it cannot and changes nothing."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from msgspec import Struct

from misstep_harness.errors import SnapshotDamaged
from misstep_harness.workspace import Sandbox, Workspace, find_sandbox, open_workspace
from misstep_harness.workspace.kept_snapshots import KeptSnapshots, content_digest

BREAKS = [
    "rm -rf a d empty link closed pipe",
    "rm a; mkdir a; echo x > a/x",
    "rm -r d; echo file > d",
    "rm -r d; ln -s . d",
    "rm link; echo file > link",
    "chmod 000 a d/e d",
    "chmod 000 .",
    "chmod 4755 a",
    "rmdir empty; chmod 1777 d",
    "mkdir -p new/folder; mkfifo new/pipe",
    "mv d moved; mv a d",
    "chmod 644 closed && echo open > closed",
    ": > d/e/f",
]


SPECIAL_MODES = "chmod 000 closed; chmod 2750 d; chmod 6755 a; chmod 1777 empty; mkfifo pipe"


def filled(folder: Path) -> Path:
    (folder / "d/e").mkdir(parents=True)
    (folder / "empty").mkdir()
    for name in ("a", "d/e/f", "closed"):
        (folder / name).write_text(f"{name} of the base\n")
    (folder / os.fsdecode(b"d/n\xf6t utf-8 %41")).write_bytes(b"\0\xff")
    (folder / "link").symlink_to("nowhere")
    return folder


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return filled(tmp_path / "base")


@pytest.fixture
def workspace(base: Path, sandbox: Sandbox) -> Iterator[Workspace]:
    with open_workspace(base, sandbox=sandbox) as opened:
        run(opened, SPECIAL_MODES)
        yield opened


def run(workspace: Workspace, script: str) -> str:
    done = workspace.run(["sh", "-c", script])
    assert done.exit_code is not None
    return done.output


def seen(workspace: Workspace) -> str:
    """What a command sees: kinds, full modes, targets and contents."""
    return run(workspace, "find . -printf '%y %m %P %l\\n' | sort; find . -type f -exec cat {} + 2>/dev/null | sort")


class Kept(Struct, frozen=True):
    """A workspace whose state is kept: every break of it is restored, so that the tests may share it."""

    workspace: Workspace
    snapshots: KeptSnapshots
    digest: str
    seen: str


@pytest.fixture(scope="module")
def shared(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    folder = tmp_path_factory.mktemp("shared")
    with open_workspace(filled(folder / "base"), sandbox=sandbox) as opened:
        run(opened, SPECIAL_MODES)
        snapshots = KeptSnapshots(folder / "kept")
        yield Kept(opened, snapshots, snapshots.keep("baseline", opened), seen(opened))


@pytest.mark.parametrize("broken", BREAKS)
def test_a_broken_workspace_is_what_it_was_after_its_restoration(shared: Kept, broken: str) -> None:
    run(shared.workspace, broken)
    assert content_digest(shared.workspace) != shared.digest, "the break must count"
    shared.snapshots.restore("baseline", shared.workspace)
    assert content_digest(shared.workspace) == shared.digest == shared.snapshots.digest("baseline")
    assert seen(shared.workspace) == shared.seen


@pytest.mark.parametrize(
    "nested",
    [
        "mkdir -p $(printf 'x/%.0s' $(seq 300))",
        "n=$(printf 'y%.0s' $(seq 250)); for i in $(seq 40); do mkdir $n; cd -P $n; done; echo deep > file",
    ],
)
def test_what_no_path_reaches_stops_neither_keeping_nor_restoring(shared: Kept, nested: str, tmp_path: Path) -> None:
    shared.workspace.run(["sh", "-c", nested])
    assert content_digest(shared.workspace) != shared.digest
    nested_ones = KeptSnapshots(tmp_path / "kept")
    digest = nested_ones.keep("progress", shared.workspace)
    nested_ones.restore("progress", shared.workspace)
    assert content_digest(shared.workspace) == digest
    shared.snapshots.restore("baseline", shared.workspace)
    assert seen(shared.workspace) == shared.seen


def test_a_snapshot_outlives_the_workspace_and_is_restored_into_another(base, sandbox, tmp_path) -> None:
    with open_workspace(base, sandbox=sandbox) as first:
        run(first, "chmod 4711 a; rm link; mkdir -p x/y")
        digest = KeptSnapshots(tmp_path / "kept").keep("progress", first)
    with open_workspace(base, sandbox=sandbox) as second:
        KeptSnapshots(tmp_path / "kept").restore("progress", second)
        assert content_digest(second) == digest
        taken = second.take()
        run(second, "echo more >> a")
        second.restore(taken)
        assert second.read("a") == b"a of the base\n"


def test_every_way_to_run_commands_restores_alike(base: Path, each_sandbox: Sandbox, tmp_path: Path) -> None:
    with open_workspace(base, sandbox=each_sandbox) as workspace:
        snapshots = KeptSnapshots(tmp_path / "kept")
        digest = snapshots.keep("baseline", workspace)
        run(workspace, "chmod 700 a; rm -rf d; mkdir new")
        snapshots.restore("baseline", workspace)
        assert content_digest(workspace) == digest
        assert run(workspace, "cat d/e/f") == "d/e/f of the base\n"


def test_reading_the_digest_changes_nothing_and_times_do_not_count(workspace: Workspace) -> None:
    before, digest = seen(workspace), content_digest(workspace)
    assert seen(workspace) == before
    run(workspace, "touch -d 2001-01-01 a d")
    assert content_digest(workspace) == digest


def test_a_snapshot_of_a_name_that_is_a_path_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a name of a snapshot"):
        KeptSnapshots(tmp_path / "kept").keep("../baseline", workspace)


@pytest.mark.parametrize("damage", ["changed", "removed", "no_list", "changed_list", "cut_list"])
def test_a_damaged_snapshot_is_found_and_nothing_is_restored_from_it(workspace, tmp_path, damage) -> None:
    snapshots = KeptSnapshots(tmp_path / "kept")
    snapshots.keep("baseline", workspace)
    run(workspace, "echo mine > mine")
    before = content_digest(workspace)
    manifest = tmp_path / "kept/baseline.json"
    content = max((tmp_path / "kept/objects").glob("*/*"))
    {
        "changed": lambda: content.write_bytes(b"x" + content.read_bytes()[1:]),
        "removed": content.unlink,
        "no_list": manifest.unlink,
        "changed_list": lambda: manifest.write_text(manifest.read_text().replace('"mode":', '"mode":1', 1)),
        "cut_list": lambda: manifest.write_bytes(manifest.read_bytes()[:-20]),
    }[damage]()
    assert snapshots.digest("baseline") is None
    with pytest.raises(SnapshotDamaged):
        snapshots.restore("baseline", workspace)
    assert content_digest(workspace) == before


def test_a_damaged_content_is_kept_anew_by_the_next_snapshot(workspace: Workspace, tmp_path: Path) -> None:
    snapshots = KeptSnapshots(tmp_path / "kept")
    snapshots.keep("baseline", workspace)
    for content in (tmp_path / "kept/objects").glob("*/*"):
        content.write_bytes(b"damaged")
    digest = snapshots.keep("progress", workspace)
    assert snapshots.digest("progress") == digest == snapshots.digest("baseline")


def test_contents_stand_once_and_go_with_the_last_snapshot_that_has_them(workspace: Workspace, tmp_path: Path) -> None:
    snapshots = KeptSnapshots(tmp_path / "kept")
    baseline = snapshots.keep("baseline", workspace)
    snapshots.keep("progress", workspace)
    count = len(list((tmp_path / "kept/objects").glob("*/*")))
    for number in range(3):
        run(workspace, f"echo {number} > new")
        snapshots.keep("progress", workspace)
    assert len(list((tmp_path / "kept/objects").glob("*/*"))) == count + 1
    assert snapshots.digest("baseline") == baseline


def test_a_keeping_that_is_cut_short_leaves_the_snapshot_before(workspace, tmp_path, monkeypatch) -> None:
    snapshots = KeptSnapshots(tmp_path / "kept")
    digest = snapshots.keep("progress", workspace)
    run(workspace, "echo new > new; echo newer > newer")
    monkeypatch.setattr(snapshots, "_store", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        snapshots.keep("progress", workspace)
    assert KeptSnapshots(tmp_path / "kept").digest("progress") == digest


@pytest.fixture
def nobody() -> Iterator[Path]:
    """A folder of a user who may not read what is closed; root becomes that user for the test."""
    with TemporaryDirectory() as folder:
        if os.geteuid() != 0:
            yield Path(folder)
            return
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
        try:
            yield Path(folder)
        finally:
            os.seteuid(0)


def test_who_is_not_root_keeps_and_restores_what_is_closed(nobody: Path) -> None:
    with open_workspace(filled(nobody / "base"), sandbox=find_sandbox("unsandboxed")) as workspace:
        snapshots = KeptSnapshots(nobody / "kept")
        for path in ("closed", "d/e/f", "d/e", "d"):
            root_of(workspace).joinpath(path).chmod(0)
        digest = snapshots.keep("baseline", workspace)
        assert modes(workspace, "closed", "d") == ["000", "000"], "reading left nothing open"
        root = root_of(workspace)
        root.joinpath("closed").chmod(0o644)
        root.chmod(0)
        assert content_digest(workspace) != digest
        assert root.stat().st_mode & 0o777 == 0, "reading left the root closed"
        snapshots.restore("baseline", workspace)
        assert modes(workspace, "closed", "d") == ["000", "000"]
        assert content_digest(workspace) == digest


def test_who_is_not_root_restores_what_was_closed_since(nobody: Path) -> None:
    with open_workspace(filled(nobody / "base"), sandbox=find_sandbox("unsandboxed")) as workspace:
        taken, before = workspace.take(), modes(workspace, "d", "d/e", "d/e/f")
        workspace.write("d/e/f", b"changed\n")
        for path, mode in (("d/e", 0o500), ("d", 0)):
            root_of(workspace).joinpath(path).chmod(mode)
        workspace.restore(taken)
        assert workspace.read("d/e/f") == b"d/e/f of the base\n"
        assert modes(workspace, "d", "d/e", "d/e/f") == before


def root_of(workspace: Workspace) -> Path:
    return workspace.folder / "tree/files"


def modes(workspace: Workspace, *paths: str) -> list[str]:
    return [f"{root_of(workspace).joinpath(path).stat().st_mode & 0o7777:03o}" for path in paths]
