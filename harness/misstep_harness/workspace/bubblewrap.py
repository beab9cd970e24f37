"""The sandbox on bubblewrap: namespaces of its own, an allow-list of files, no network, an unprivileged user.

Of the machine's files a command sees the system's programs and libraries, what it was given, and its workspace.
As root the user id is dropped before the user namespace is made; folders that this user may not reach (an
interpreter under root's home) are bound to a place that it may, by an outer bubblewrap that sees the machine's files.
"""

import os
import select
import shutil
import signal
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from copy import copy
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Self

import msgspec

from misstep_harness.errors import SandboxFailed
from misstep_harness.workspace import supervision, system_calls
from misstep_harness.workspace.sandbox import INSIDE, MIB, NO_VARIABLES, Checkout, Finished, Limits, Mounts
from misstep_harness.workspace.showing import channels_beneath, distinct, is_special, named_by_user, same_as_decided

SYSTEM_NAMES = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""The folders of the system's programs besides `usr`, in the root folder."""

_CACHES = 64 * MIB
_CACHE_NAMES = (".cache", ".vite", ".vitest")
_MOST_ENTRIES = 2000
"""Packages that are shown one by one; the program takes some thousand arguments."""


class ReadOnly:
    """Shows files and folders read-only, and no socket or pipe in them.

    A read-only mount does not keep a program from talking to who listens at a socket or a pipe in it. One that is seen
    through a layer is not the one that is listened at; where the kernel makes no layers, an empty device lies over it.
    """

    def __init__(self, program: str, mounts: Mounts, place_of: Callable[..., str], *, layered: bool) -> None:
        self._program, self._place_of = program, place_of
        self._empty = ""
        if layered:
            empty = mounts.workspace.parent / "empty"
            empty.mkdir(mode=0o755, exist_ok=True)
            self._empty = place_of(empty, mounts.workspace.parent)

    def at(self, path: Path, place: str) -> Iterator[str]:
        """Return the options that show a path at a place; it must be what it was when that was decided."""
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), place)
            return
        if not same_as_decided(path):
            reason = f"the sandbox could not start {self._program!r}: {path} is not what it was when it was looked at"
            raise SandboxFailed(reason, "Run the command again.")
        source = self._place_of(path)
        if self._empty and path.is_dir():
            yield from ("--overlay-src", self._empty, "--overlay-src", source, "--ro-overlay", place)
            return
        yield from ("--ro-bind", source, place)
        for channel in channels_beneath(path) if path.is_dir() else ():
            yield from ("--ro-bind", "/dev/null", f"{place}/{channel}")


def checkout_options(checkout: Checkout | None, shows: ReadOnly) -> Iterator[str]:
    """Return the options that show what is installed in a project, and lead its own path to the workspace."""
    if checkout is None:
        return
    for path in checkout.shown:
        folder, place = checkout.folder / path, f"{INSIDE}/{path}"
        entries = sorted(folder.iterdir()) if folder.name == "node_modules" else []
        if not entries or len(entries) > _MOST_ENTRIES:
            yield from shows.at(folder, place)
            continue
        # Tools keep caches beside the packages: it takes writes, which end with the command; packages take none.
        yield from ("--size", str(_CACHES), "--perms", "0755", "--tmpfs", place)
        for entry in entries:
            # A link to a package of the same monorepo leads into the workspace.
            if entry.is_symlink() or not (entry.name.startswith(_CACHE_NAMES) or is_special(entry)):
                yield from shows.at(entry, f"{place}/{entry.name}")
    if checkout.folder.parts[1:2] and checkout.folder.parts[1] not in ("usr", *SYSTEM_NAMES):
        yield from ("--symlink", INSIDE, str(checkout.folder))


SANDBOX_USER = 61001
"""The user that commands run as where Misstep itself runs as root."""

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
    "HOME": "/tmp",  # noqa: S108 (of the sandbox, not of the machine)
    "TMPDIR": "/tmp",  # noqa: S108
    "LANG": "C.UTF-8",
    "USER": "sandbox",
    "PYTEST_ADDOPTS": "-p no:misstep",  # the plug-in of an installation that the sandbox does not show
    "PYTHONDONTWRITEBYTECODE": "1",  # a compiled file may be as new and as long as the edited source that it is not of
}
_NAMESPACES = (
    *(f"--unshare-{kind}" for kind in ("user", "ipc", "pid", "net", "uts", "cgroup-try")),
    *("--disable-userns", "--hostname", "sandbox", "--new-session", "--die-with-parent", "--clearenv"),
)
_ETC = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime")
_SHARED_MEMORY = 16 * MIB
_REVEALED = "/mnt"
_BARE = {"PATH": "/usr/bin:/usr/sbin:/bin:/sbin"}
_ENDED_MILLISECONDS = 5000
_GUARD = """trap 'sleep 0.2; kill -9 0' TERM
[ "$PPID" = "$1" ] || exit
shift
env --default-signal=INT,QUIT "$@" < /dev/null &
wait $!"""
_MOST_TEMPORARY = 256


class _Status(msgspec.Struct, rename="kebab"):
    child_pid: int | None = None
    exit_code: int | None = None


_decode = msgspec.json.Decoder(_Status).decode


class Bubblewrap:
    """Commands in a sandbox made by one `bwrap`."""

    name = "bubblewrap"
    roots = True
    show: tuple[Path, ...] = ()

    def __init__(self, program: Path, *, layered: bool) -> None:
        self.program, self._layered = program, layered
        self.owner = SANDBOX_USER if os.geteuid() == 0 else None

    def showing(self, folders: Sequence[Path]) -> Self:
        """Return the same sandbox with folders in it that the user named."""
        other = copy(self)
        other.show = named_by_user(folders)
        return other

    def run(
        self, command: Sequence[str], mounts: Mounts, *, limits: Limits, environment: Mapping[str, str] = NO_VARIABLES
    ) -> Finished:
        """Run a command as `Sandbox.run` says."""
        try:
            return self._run(command, mounts, limits=limits, environment=environment)
        except SandboxFailed as error:
            if not self._layered or "overlay mount" not in error.found:
                raise
            self._layered = False  # of a file system of which the kernel makes no layer
            return self._run(command, mounts, limits=limits, environment=environment)

    def _run(
        self, command: Sequence[str], mounts: Mounts, *, limits: Limits, environment: Mapping[str, str]
    ) -> Finished:
        with ExitStack() as files:
            with ExitStack() as handed_over:
                inner, outer = _Reports(files, handed_over), _Reports(files, handed_over)
                wanted = {**ENVIRONMENT, **(_AS_ROOT if mounts.inside else {}), **environment}
                argv, descriptors, root = self._command(command, mounts, limits, wanted, (inner, outer), handed_over)
                disk = supervision.DiskUse(mounts.workspace, limit=limits.disk_mb * MIB + mounts.allowance)
                process = self._start(argv, descriptors, root.reader if _parent_guard() else subprocess.DEVNULL)
            files.callback(root.close)
            root.hold()
            watched = supervision.supervise(process, limits, disk, lambda: _kill(process, root))
            root.wait()
            return supervision.finished(watched, inner.read().exit_code, command[0])

    def _start(self, argv: list[str], descriptors: tuple[int, ...], held: int) -> "subprocess.Popen[bytes]":
        # The environment is bare, as process 1 of the sandbox is bwrap itself, and a command may read what it has.
        try:
            return subprocess.Popen(  # noqa: S603
                argv,
                env=_BARE,
                pass_fds=descriptors,
                start_new_session=True,
                cwd="/",
                stdin=held,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            raise SandboxFailed(f"{argv[0]} cannot be started: {error.strerror}", "See `misstep doctor`.") from error

    def _command(
        self,
        command: Sequence[str],
        mounts: Mounts,
        limits: Limits,
        environment: Mapping[str, str],
        reports: "tuple[_Reports, _Reports]",
        files: ExitStack,
    ) -> "tuple[list[str], tuple[int, ...], _Root]":
        inner, outer = reports
        places = _Places(self.owner)
        program = places.of(self.program, [self.program, *takewhile(_open, self.program.parents)][-1])
        variables = (part for name, value in environment.items() for part in ("--setenv", name, value))
        options = ["--json-status-fd", str(inner.tell), *_NAMESPACES, *variables]
        descriptors: list[int] = []

        def in_file(content: bytes) -> str:
            opened = os.memfd_create("misstep")
            files.callback(os.close, opened)
            os.write(opened, content)
            os.lseek(opened, 0, os.SEEK_SET)
            descriptors.append(opened)
            return str(descriptors[-1])

        def account(path: str, text: str) -> list[str]:
            return ["--perms", "0444", "--ro-bind-data", in_file(text.encode()), path]

        accounts = _accounts(self.owner or os.geteuid())
        if mounts.inside:
            options += [*_root(mounts, places), *account("/etc/hosts", accounts["/etc/hosts"])]
            options += ["--chdir", mounts.inside, "--remount-ro", "/dev"]
        else:
            options += _system()
            for path, text in accounts.items():
                options += account(path, text)
            temporary = min(limits.disk_mb, limits.memory_mb // 4, _MOST_TEMPORARY) * MIB
            options += ["--size", str(temporary), "--perms", "1777", "--tmpfs", "/tmp"]  # noqa: S108
            shows = ReadOnly(command[0], mounts, places.of, layered=self._layered)
            project = mounts.checkout.folder if mounts.checkout is not None else None
            named = (each for each in self.show if project is None or not project.is_relative_to(each))
            for shown in distinct((*mounts.read_only, *named)):  # the place of the project leads to its tree
                options += shows.at(shown, str(shown))
            options += ["--bind", places.of(mounts.workspace, mounts.workspace.parent), INSIDE]
            options += checkout_options(mounts.checkout, shows)
            options += ["--chdir", INSIDE, "--remount-ro", "/dev", "--remount-ro", "/"]
        if calls := system_calls.program():
            options += ["--seccomp", in_file(calls)]
        arguments = in_file(b"".join(os.fsencode(option) + b"\0" for option in options))
        if mounts.inside:  # which may have no program for limits
            held = ["/bin/sh", "-c", _LIMITED_HERE, "sh", str(limits.processes)]
            argv = [*_limited(limits, here=False), program, "--args", arguments, "--", *held, *command]
        else:
            argv = [program, "--args", arguments, "--", *_limited(limits), *command]
        if self.owner is not None:
            dropped = [f"--reuid={self.owner}", f"--regid={self.owner}", "--clear-groups", "--no-new-privs"]
            argv = ["setpriv", *dropped, "--inh-caps=-all", "--bounding-set=-all", *argv]
        if not places.hidden:
            return [*_guard(), *argv], (inner.tell, *descriptors), _Root(inner)
        argv = [str(self.program), "--json-status-fd", str(outer.tell), *places.options(), "--", *argv]
        return [*_guard(), *argv], (inner.tell, outer.tell, *descriptors), _Root(outer)


def _guard() -> tuple[str, ...]:
    """Return what a sandbox starts under, so that it ends with this process at whatever moment that is killed.

    A `bwrap` whose parent has died before it asks to die with it lives on. A shell that holds its reports open hears of
    the end of this process and kills its whole group.
    """
    return (*_parent_guard(), "sh", "-c", _GUARD, "sh", str(os.getpid())) if _parent_guard() else ()


@cache
def _parent_guard() -> tuple[str, ...]:
    """Return what has a program told of its parent's end; nothing where the system's tools are too old for it."""
    guard = ("setpriv", "--pdeathsig", "TERM", "--")
    tried = (*guard, "env", "--default-signal=INT,QUIT", "true")
    with suppress(OSError):
        return guard if subprocess.run(tried, env=_BARE, capture_output=True, check=False).returncode == 0 else ()  # noqa: S603
    return ()


class _Places:
    """Where the sandbox's user reaches a folder: at its own path, or at a place to which root binds it."""

    def __init__(self, user: int | None) -> None:
        self._user = user
        self.hidden: dict[Path, str] = {}

    def of(self, path: Path, whole: Path | None = None) -> str:
        """The path at which the user reaches one; if hidden, `whole` is bound, and all that lies in it is reached."""
        if self._user is None or all(map(_open, path.parents)):
            return str(path)
        top = whole or path
        for bound, place in self.hidden.items():
            if path.is_relative_to(bound):
                return str(Path(place, path.relative_to(bound)))
        place = self.hidden.setdefault(top, f"{_REVEALED}/{len(self.hidden)}")
        return str(Path(place, path.relative_to(top)))

    def options(self) -> Iterator[str]:
        # Root without capabilities may not signal the user whose commands it holds. When Misstep is killed, they end
        # with the process namespace.
        yield from ("--die-with-parent", "--unshare-pid", "--dev-bind", "/", "/", "--tmpfs", _REVEALED)
        for path, place in self.hidden.items():
            yield from ("--bind", str(path), place)


def _open(folder: Path) -> bool:
    return bool(folder.stat().st_mode & stat.S_IXOTH)


class _Reports:
    """What one bubblewrap reports through a pipe: read here until it has ended, written to by it alone."""

    def __init__(self, here: ExitStack, until_started: ExitStack) -> None:
        self.reading, self.tell = os.pipe()
        here.callback(os.close, self.reading)
        until_started.callback(os.close, self.tell)
        os.set_blocking(self.reading, False)
        self.closed = False
        self._text = b""

    def read(self) -> _Status:
        """Return what has been reported until now."""
        with suppress(BlockingIOError):
            while piece := os.read(self.reading, 4096):
                self._text += piece
            self.closed = True
        status = _Status()
        for report in map(_decode, self._text.split(b"\n")[:-1]):
            status.child_pid = report.child_pid or status.child_pid
            status.exit_code = status.exit_code if report.exit_code is None else report.exit_code
        return status


class _Root:
    """The process at whose end everything in the sandbox has ended: process 1 of the outermost process namespace."""

    def __init__(self, reports: _Reports) -> None:
        self._reports = reports
        self.reader = reports.reading
        self._process = -1

    def close(self) -> None:
        if self._process >= 0:
            os.close(self._process)

    def hold(self) -> None:
        """Hold the process from its start, so that its number cannot become another's."""
        while self._reports.read().child_pid is None and not self._reports.closed:
            if not _ready(self._reports.reading):
                return
        if (started := self._reports.read().child_pid) is not None:
            with suppress(ProcessLookupError):
                self._process = os.pidfd_open(started)

    def kill(self) -> None:
        """Kill it, and with it all that it holds."""
        if self._process >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, signal.SIGKILL)

    def wait(self) -> None:
        """Wait until all that it holds has ended: bubblewrap itself ends as soon as the command has."""
        if self._process >= 0 and not _ready(self._process):
            raise SandboxFailed("a command in the sandbox cannot be ended", "Look for processes that wait for a disk.")


def _ready(opened: int) -> bool:
    poll = select.poll()
    poll.register(opened, select.POLLIN)
    return bool(poll.poll(_ENDED_MILLISECONDS))


def _kill(process: "subprocess.Popen[bytes]", root: _Root) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    root.kill()


_LIMITED_HERE = 'ulimit -p "$1" 2>/dev/null || ulimit -u "$1" || exit 126; shift; exec "$@"'
"""Outside, the start of the sandbox would be counted against the number of processes."""

_AS_ROOT = {"HOME": "/root", "USER": "root"}


def _root(mounts: Mounts, places: _Places) -> Iterator[str]:
    yield from ("--uid", "0", "--gid", "0", "--bind", places.of(mounts.workspace, mounts.workspace.parent), "/")
    yield from _kernel()


def _system() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for name in SYSTEM_NAMES:
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    for name in _ETC:
        yield from ("--ro-bind-try", name, name)
    yield from _kernel()


def _kernel() -> Iterator[str]:
    yield from ("--proc", "/proc", "--dev", "/dev")
    yield from ("--size", str(_SHARED_MEMORY), "--perms", "1777", "--tmpfs", "/dev/shm")  # noqa: S108


def _accounts(user: int) -> dict[str, str]:
    return {
        "/etc/passwd": f"sandbox:x:{user}:{user}::/tmp:/bin/sh\n",
        "/etc/group": f"sandbox:x:{user}:\n",
        "/etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }


def _limited(limits: Limits, *, here: bool = True) -> list[str]:
    """What sets the kernel's limits, `here` in the sandbox also that on processes."""
    memory, largest = limits.memory_mb * MIB, limits.file_mb * MIB
    return [
        shutil.which("prlimit") or "prlimit",
        *([f"--nproc={limits.processes}:{limits.processes}"] if here else []),
        f"--data={memory}:{memory}",
        f"--fsize={largest}:{largest}",
        "--nofile=512:512",
        "--core=0:0",
        "--msgqueue=65536:65536",
        "--memlock=0:0",
        "--",
    ]
