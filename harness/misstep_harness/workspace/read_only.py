"""The options of bubblewrap that show folders and files of the machine read-only, without what anybody listens at."""

from collections.abc import Callable, Iterator
from pathlib import Path

from misstep_harness.errors import SandboxFailed
from misstep_harness.workspace.sandbox import INSIDE, MIB, Checkout, Mounts
from misstep_harness.workspace.showing import channels_beneath, is_special, same_as_decided

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
