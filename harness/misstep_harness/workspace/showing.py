"""Decide what of the machine the sandbox shows besides the folders of the system; nothing else decides it.

A source is resolved. It is shown if it is a part of an interpreter's installation that the interpreter itself names, a
part of an environment, or in a folder that the user names by `--show`. A file of a checkout, a case or a target can
name a source; it cannot allow one. An interpreter is asked only where programs of the user lie, and never one of a
checkout, which is a stranger's program.
"""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from msgspec import Struct

from misstep_harness import beneath
from misstep_harness.errors import InputError, MisstepError

SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")))
"""The folders that each sandbox shows anyway: their files are root's."""

_KERNEL = tuple(map(Path, ("/proc", "/sys", "/dev", "/run")))
_PARTS = ("bin", "lib", "lib64", "libexec", "pyvenv.cfg")
_SETTINGS = "pyvenv.cfg"
_MOST_LINKS = 40
_LARGEST_SETTINGS = 1 << 16
_QUESTIONS = {
    re.compile(r"(?:python|pypy|graalpy)[\d.]*t?"): (
        *("-I", "-S", "-c"),
        "import json, sys; print(json.dumps([sys.base_prefix, sys.implementation.name]))",
    ),
    re.compile(r"node(?:js)?"): (
        "-p",
        "JSON.stringify([require('path').dirname(require('path').dirname(process.execPath)), process.release.name])",
    ),
}
"""What an interpreter of a name is asked: the folder of its installation, and what it is."""

_MANAGED = (
    *(("PYENV_ROOT", ".pyenv", "versions"), ("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python", "")),
    *(
        ("XDG_DATA_HOME", ".local/share", name)
        for name in ("uv/python", "mise/installs", "pdm/python", "hatch/pythons")
    ),
    *(("ASDF_DATA_DIR", ".asdf", "installs"), ("MISE_DATA_DIR", ".local/share/mise", "installs")),
    *(("RYE_HOME", ".rye", "py"), ("MAMBA_ROOT_PREFIX", "micromamba", ""), ("NVM_DIR", ".nvm", "versions")),
    *(("", name, "") for name in ("miniconda3", "anaconda3", "miniforge3", "mambaforge", ".conda/envs")),
    *(("", name, "") for name in ("/opt", "/home/linuxbrew/.linuxbrew", "/nix/store")),
)
"""Where programs put the interpreters that they install: a variable of theirs, its default in the home, a folder."""


class Showing(Struct, frozen=True):
    """The rule for one project.

    - `checkout`: Its folder, resolved: its files are a stranger's.
    - `show`: The folders that the user named, resolved.
    """

    checkout: Path | None = None
    show: tuple[Path, ...] = ()

    def is_own(self, path: Path) -> bool:
        """Return whether a resolved path lies in the checkout."""
        return self.checkout is not None and path.is_relative_to(self.checkout)

    def allows(self, path: Path) -> bool:
        """Return whether a resolved path is of the system, of the checkout, or in a folder that the user named."""
        return self.is_own(path) or any(path.is_relative_to(each) for each in (*SYSTEM, *self.show))

    def names(self, path: Path) -> bool:
        """Return whether a path is there, in a folder that the user named."""
        real = Path(os.path.realpath(path))
        return real.exists() and any(real.is_relative_to(each) for each in self.show)

    def refuse_elsewhere(self, path: Path, named_by: str) -> Path:
        """Return a path resolved; refuse one that a stranger's file names and that no rule allows."""
        _, real = links_to(path)
        if not self.allows(real):
            raise self._refused(path, real, named_by)
        return real

    def program(self, program: Path) -> tuple[Path, ...]:
        """Return what a program of the user's needs: its environment, its installation, or its file alone."""
        links, real = links_to(program)
        shown = list(links)
        for folder in dict.fromkeys((program.parent.parent, real.parent.parent)):
            if is_environment(folder) and not self.allows(folder.resolve()):
                shown += self._environment(folder, trusted=True)
        if not self.allows(real):
            shown += installation(real) or ([] if any(real.is_relative_to(each) for each in shown) else [real])
        return self._checked(shown)

    def environment_inside(self, folder: Path) -> tuple[Path, ...]:
        """Return what an environment in the checkout needs from outside: the installation of its interpreter."""
        _, real = links_to(folder / "bin/python")
        if self.is_own(real) and not real.is_relative_to(folder):
            raise self._refused(folder / "bin/python", real, "The checkout")
        return self._checked(self._interpreter_of(folder, trusted=False))

    def _environment(self, folder: Path, *, trusted: bool) -> Iterator[Path]:
        top = folder.resolve()
        base = tuple(self._interpreter_of(folder, trusted=trusted)) if (folder / "bin/python").exists() else ()
        for name in _PARTS:
            links, part = links_to(folder / name)
            if part.exists() and not any(part.is_relative_to(each) for each in (top, *base)) and not self.allows(part):
                raise self._refused(folder / name, part, "The environment")
            if part.exists():
                yield from (*links, part)
        yield from base

    def _interpreter_of(self, folder: Path, *, trusted: bool) -> Iterator[Path]:
        """Yield the links to an environment's interpreter, and the installation that it belongs to."""
        links, real = links_to(folder / "bin/python")
        yield from links
        copied = real.is_relative_to(folder.resolve())
        for program in _named_in_settings(folder) if copied else (real,):
            links, real = links_to(program)
            if self.allows(real):
                return
            parts = installation(real) if not self.is_own(real) and (trusted or is_known(real)) else ()
            if not parts:
                raise self._refused(program, real, "The environment")
            yield from (*links, *parts)

    def _checked(self, paths: Iterable[Path]) -> tuple[Path, ...]:
        """Return what is shown, without what is in sight anyway; a place that must never be shown is refused."""
        outside = [path for path in paths if not any(path.is_relative_to(each) for each in (*SYSTEM, *_own(self)))]
        for path in outside:
            if not path.is_symlink() and (reason := never_shown(path, self.checkout)):
                raise InputError(f"{path} {reason}, which the sandbox never shows", "Name another.")
        return distinct(outside)

    def _refused(self, path: Path, real: Path, who: str) -> InputError:
        leads = f"{path} leads to {real}" if path != real else f"{path} is named"
        return InputError(
            f"{leads}, which the sandbox does not show: it is no installation of an interpreter that is known. "
            f"{who} does not decide what is shown",
            f"If you trust it, name its folder by --show, as --show {real.parent}, or name another by --python.",
        )


def _own(showing: Showing) -> tuple[Path, ...]:
    return () if showing.checkout is None else (showing.checkout,)


def named_by_user(folders: Sequence[Path], checkout: Path | None = None) -> tuple[Path, ...]:
    """Return the folders of `--show`, and the links to them; a home and what holds one or the checkout are refused."""
    resolved: list[Path] = []
    for folder in folders:
        links, real = links_to(folder)
        if not real.is_dir():
            raise InputError("is not a folder", "Give --show a folder.", file=folder)
        if reason := never_shown(real, checkout):
            raise InputError(f"--show {folder} {reason}", "Name the folders in it that the code needs.")
        resolved += [*links, real]
    return tuple(dict.fromkeys(resolved))


def never_shown(path: Path, checkout: Path | None = None) -> str:
    """Return why a resolved path is never shown; empty if nothing forbids it."""
    if any(path.is_relative_to(each) for each in _KERNEL):
        return "is of the kernel or of running programs"
    homes = {home().resolve(), Path("/root"), Path("/home")}
    with suppress(KeyError):  # a user without an account
        import pwd  # not on every system, and a command that shows nothing needs none

        homes.add(Path(pwd.getpwuid(os.geteuid()).pw_dir).resolve())
    if path.parent == Path("/home") or any(each.is_relative_to(path) for each in homes):
        return "is a home, or holds homes"
    return "holds the checkout" if checkout is not None and checkout.is_relative_to(path) else ""


def home() -> Path:
    """Return the user's home; the root folder for a user who has neither an account nor the variable `HOME`."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def links_to(path: Path) -> tuple[tuple[Path, ...], Path]:
    """Return the links on the way to a path, each in a folder without links, and the path without any."""
    at, todo, links, followed = Path("/"), list((Path.cwd() / path).parts[1:]), dict[Path, None](), 0
    while todo:
        name = todo.pop(0)
        step = at.parent if name == ".." else at / name
        if not step.is_symlink():
            at = step
            continue
        followed += 1
        if followed > _MOST_LINKS:
            raise InputError("leads through too many links", "Name the place that it stands for.", file=path)
        links[step] = None
        target = step.readlink()
        todo[:0] = target.parts[1:] if target.is_absolute() else target.parts
        at = Path("/") if target.is_absolute() else at
    return tuple(links), at


def is_environment(folder: Path) -> bool:
    """Return whether a folder is a virtual environment or one of conda."""
    # A folder that may not be looked into is none.
    return os.path.isfile(folder / _SETTINGS) or os.path.isdir(folder / "conda-meta")  # noqa: PTH112, PTH113


def is_known(program: Path) -> bool:
    """Return whether an interpreter lies where the user's programs put theirs, and only the user or root writes it."""
    try:
        status = program.stat()
    except OSError:
        return False
    if status.st_uid not in (0, os.geteuid()) or status.st_mode & stat.S_IWOTH or not stat.S_ISREG(status.st_mode):
        return False
    on_path = (shutil.which(name, path=_absolute_path()) for name in {"python3", "python", program.name})
    found = {Path(each).resolve() for each in (sys.executable, *filter(None, on_path))}
    return program in found or any(program.is_relative_to(folder) for folder in (Path(sys.base_prefix), *_managed()))


def _managed() -> Iterator[Path]:
    for variable, default, inner in _MANAGED:
        named = Path(os.environ.get(variable, "") if variable else "")
        folder = (named if named.is_absolute() else home() / default) / inner
        if not never_shown(folder.resolve()):
            yield folder.resolve()
    if conda := os.environ.get("CONDA_EXE"):
        yield Path(conda).resolve().parent.parent


def _absolute_path(checkout: Path | None = None) -> str:
    """Return the search path without folders that depend on where one is, or that lie in a checkout."""
    folders = [Path(each) for each in os.environ.get("PATH", os.defpath).split(os.pathsep) if each.startswith("/")]
    real = {each: Path(os.path.realpath(each)) for each in folders}
    return os.pathsep.join(str(each) for each in folders if checkout is None or not real[each].is_relative_to(checkout))


def on_path(program: str, checkout: Path | None = None) -> Path | None:
    """Return a program of the user's search path; one that is named by a path, or lies in the checkout, is none."""
    found = None if os.sep in program else shutil.which(program, path=_absolute_path(checkout))
    return Path(found) if found else None


@cache
def installation(program: Path) -> tuple[Path, ...]:
    """Return the parts of the installation that an interpreter names as its own; nothing if it names none.

    It is started in the root folder with no variables, so that no file of the place where one is has a say.
    """
    question = next((each for name, each in _QUESTIONS.items() if name.fullmatch(program.name)), None)
    if question is None:
        return ()
    try:
        done = subprocess.run(  # noqa: S603
            [program, *question],
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        prefix, name = json.loads(done.stdout)
    except (OSError, ValueError, TypeError, subprocess.SubprocessError):
        return ()
    top = Path(str(prefix)).resolve()
    if not isinstance(name, str) or not program.is_relative_to(top) or never_shown(top):
        return ()
    return tuple(dict.fromkeys(_resolved_parts(top)))


def _resolved_parts(top: Path) -> Iterator[Path]:
    for name in _PARTS:
        links, part = links_to(top / name)
        if part.exists() and part.is_relative_to(top) and part != top:
            yield from (*links, part)


def _named_in_settings(folder: Path) -> Iterator[Path]:
    """Yield the interpreter that the settings of an environment name; it is shown only if a rule allows it."""
    try:
        text = beneath.read_file(folder.resolve(), _SETTINGS, _LARGEST_SETTINGS).decode(errors="replace")
    except (OSError, MisstepError):
        return
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "home" and value.strip().startswith("/"):
            programs = (Path(value.strip(), name) for name in ("python3", "python"))
            yield from [program for program in programs if program.exists()][:1]
            return


def own_installation() -> tuple[Path, ...]:
    """Return what the running interpreter needs: its environment and its installation, and the links to them."""
    shown = list(links_to(Path(sys.executable))[0])
    for prefix in (Path(sys.prefix), Path(sys.base_prefix)):
        for name in _PARTS:
            links, part = links_to(prefix / name)
            if prefix != Path("/") and part.exists():
                shown += [*links, part]
    return distinct(path for path in shown if not any(path.is_relative_to(each) for each in SYSTEM))


def distinct(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return paths once each, without those that lie in another."""
    unique = dict.fromkeys(paths)
    return tuple(path for path in unique if not any(other != path and path.is_relative_to(other) for other in unique))


def same_as_decided(path: Path) -> bool:
    """Return whether a path is a folder or file and still without links: what was decided holds for nothing else."""
    return os.path.realpath(path) == str(path) and path.exists() and not is_special(path)


def is_special(path: Path) -> bool:
    """Return whether a path is neither a folder nor a regular file: a socket, a pipe or a device."""
    mode = path.lstat().st_mode
    return not (stat.S_ISDIR(mode) or stat.S_ISREG(mode))


@cache
def channels_beneath(folder: Path) -> tuple[str, ...]:
    """Return the paths of the sockets and pipes beneath a folder; links are not followed."""
    found: list[str] = []
    for top, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                path = os.path.join(top, name)  # noqa: PTH118 -- of a hundred thousand files
                mode = os.lstat(path).st_mode
                if stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode):
                    found.append(os.path.relpath(path, folder))
    return tuple(found)
