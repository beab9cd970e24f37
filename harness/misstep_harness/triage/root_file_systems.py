"""Root file systems that were exported, as a folder or as a tar (`docker export`), made ready for a sandbox.

A tar is not trusted. Its members stay beneath the folder that they are unpacked into, whatever its links say: no link
is followed on the machine, and in the sandbox a link leads to the image's own files. Devices, pipes and setuid bits are
left out. Nothing is larger than the limits below.
"""

import errno
import hashlib
import os
import shutil
import tarfile
import weakref
from contextlib import suppress
from pathlib import Path

from misstep_harness import beneath
from misstep_harness.errors import InputError, UnsafePath
from misstep_harness.workspace.trees import copy_tree
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
