"""The programs outside the system's folders that a test command needs: an interpreter, its libraries, its packages.

Those of a project are found where its tools put them.
"""

import base64
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from misstep.harness.errors import InputError, MissingPrerequisite, UsageError
from misstep.harness.workspace.bubblewrap import ENVIRONMENT
from misstep.harness.workspace.sandbox import INSIDE, NO_VARIABLES, Checkout

_PARTS = ("bin", "lib", "lib64", "libexec", "pyvenv.cfg")
_SHOWN_ANYWAY = (Path("/usr"), Path("/bin"), Path("/lib"), Path("/sbin"))


class Toolchain(Struct, frozen=True):
    """An interpreter that runs in the sandbox, and the folders that it needs there."""

    python: str
    read_only: tuple[Path, ...]
    checkout: Checkout | None = None
    variables: Mapping[str, str] = NO_VARIABLES

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables by which `python` is this interpreter."""
        programs = self.variables.get("PATH", str(Path(self.python).parent))
        return {**self.variables, "PATH": f"{programs}:{ENVIRONMENT['PATH']}"}


def python_toolchain() -> Toolchain:
    """Return the running interpreter's own environment, which must have pytest."""
    prefixes = [Path(sys.prefix), Path(sys.base_prefix)]
    package = importlib.util.find_spec("pytest")
    if package is None or not any(Path(str(package.origin)).is_relative_to(prefix) for prefix in prefixes):
        raise MissingPrerequisite("the running Python's environment has no pytest", "Run `pip install pytest` in it.")
    return Toolchain(sys.executable, _distinct([*_of_prefixes(prefixes), *program_folders([sys.executable])]))


def program_folders(command: Sequence[str], path: str | None = None) -> tuple[Path, ...]:
    """Return the folders that a command's program needs in the sandbox: those of its prefix that hold programs."""
    on_path = shutil.which(command[0], path=path) if command else None
    if on_path is None:
        return ()
    prefixes: list[Path] = []
    for program in _along_links(Path(on_path)):
        prefixes.append(program.parent.parent)
        settings = program.parent.parent / "pyvenv.cfg"
        if settings.is_file():
            homes = [line.partition("=")[2].strip() for line in settings.read_text().splitlines() if "home" in line]
            prefixes += [Path(home).parent for home in homes]
    return _distinct(_of_prefixes(prefixes))


def _along_links(program: Path) -> Iterator[Path]:
    for _ in range(10):
        yield program
        if not program.is_symlink():
            return
        program = Path(os.path.normpath(program.parent / program.readlink()))


def _of_prefixes(prefixes: list[Path]) -> Iterator[Path]:
    for prefix in prefixes:
        if prefix != Path("/") and not any(prefix.is_relative_to(shown) for shown in _SHOWN_ANYWAY):
            yield from (part for part in (prefix / name for name in _PARTS) if part.exists())


def _distinct(paths: Iterator[Path] | list[Path]) -> tuple[Path, ...]:
    unique = dict.fromkeys(paths)
    return tuple(path for path in unique if not any(other != path and path.is_relative_to(other) for other in unique))


_ENVIRONMENTS = (".venv", "venv", "env")
_DEEPEST = 3
"""Levels at which a package of a monorepo has its `node_modules`."""

_VALUED = (
    r"--(?:extra|group|only-group|no-group|no-extra|with|with-editable|with-requirements|package|python|project"
    r"|directory|env-file|index|default-index|environment)|-[pCw]"
)
_RUNNER = re.compile(
    r"(?<![\w./-])(uv|poetry|pdm|pipenv|hatch)\s+run\s+"
    rf"((?:(?:{_VALUED})\s+\S+\s+|--?[\w-]+(?:=\S+)?\s+|--\s+)*)"
)
_DIRECTORY = re.compile(r"(?:--directory|-C)[= ]\s*(\S+)")
_TOX = re.compile(r"(?:^|[;&|(]|-m)\s*(?:\w+=\S*\s+)*(tox|nox)(?=\s|$)")
_GOES_TO = re.compile(r"^\s*cd\s+([\w./-]+)\s*&&")
_ELSEWHERE = ("VIRTUAL_ENV", "CONDA_PREFIX")


def own_command(command: str) -> str:
    """Return a test command without the program that would first build its environment, as `uv run`."""
    if tox := _TOX.search(command):
        raise UsageError(
            f"{tox[1]} builds environments, which needs a network",
            f"Give the line that it runs, as --test-command 'python -m pytest', and its environment, as --python "
            f".{tox[1]}/py.",
        )
    return _RUNNER.sub(lambda run: f"cd {to[1]} && " if (to := _DIRECTORY.search(run[2])) else "", command)


def project_toolchain(checkout: Path, command: str = "", python: Path | None = None) -> Toolchain:
    """Return the interpreter and packages of a checkout; Misstep's own interpreter where it has none."""
    top = checkout.resolve()
    program = _program(python) if python is not None else _environment(top, command)
    base = python_toolchain() if program is None else Toolchain(str(program), program_folders([str(program)]))
    shown = tuple(path.relative_to(top).as_posix() for path in _shown(top, program))
    read_only = tuple(path for path in base.read_only if not path.is_relative_to(top))
    programs = [f"{INSIDE}/{path}/.bin" for path in shown if path.endswith("node_modules")]
    if node := shutil.which("node") if programs or (top / "package.json").is_file() else None:
        read_only = _distinct([*read_only, *program_folders([node])])  # it may be that of nvm, in the home folder
        programs.append(str(Path(node).parent))
    variables = {"PATH": ":".join([str(Path(base.python).parent), *programs])}
    sources = [folder / "src" for folder in _folders(top, command)]
    if packages := [each for each in sources if any(each.glob("*/__init__.py")) or any(each.glob("*/*/__init__.py"))]:
        # ahead of a copy of the project that is installed, which is older
        variables["PYTHONPATH"] = ":".join(f"{INSIDE}/{each.relative_to(top).as_posix()}" for each in packages)
    return Toolchain(base.python, read_only, Checkout(top, shown), variables)


def _program(python: Path) -> Path:
    if python.is_dir():
        inner = next((python / name for name in ("bin/python", "bin/python3") if (python / name).exists()), None)
        if inner is None:
            raise InputError("is a folder without bin/python", "Name a virtual environment.", file=python)
        return inner.absolute()
    program = shutil.which(str(python))
    if program is None:
        raise InputError("no such interpreter", "Name a virtual environment, or its bin/python.", file=python)
    return Path(program).absolute()


def install_line(toolchain: Toolchain) -> str:
    """Return the shell line, without the packages, that installs into the environment of a toolchain's project."""
    top = toolchain.checkout.folder if toolchain.checkout else None
    goes = f"cd {shlex.quote(str(top))} && " if top else ""
    python = Path(toolchain.python)
    if top is not None and toolchain.python == python_toolchain().python:  # it has no environment of its own
        return f"{goes}python3 -m venv .venv && .venv/bin/pip install"
    program = python.relative_to(top) if top is not None and python.is_relative_to(top) else python
    has_pip = any((python.parent / name).exists() for name in ("pip", "pip3"))
    return f"{goes}{program} -m pip install" if has_pip else f"{goes}uv pip install --python {program}"


def _folders(top: Path, command: str) -> list[Path]:
    """Return the folder to which a command goes first, and those above it up to the top of its checkout."""
    goes = _GOES_TO.search(own_command(command))
    folder = Path(os.path.normpath(top / goes[1])) if goes else top
    return [each for each in (folder, *folder.parents) if each.is_relative_to(top)] or [top]


def _environment(top: Path, command: str) -> Path | None:
    runner = _RUNNER.search(command)
    folders = _folders(top, command)
    places = [folder / name for folder in folders for name in _ENVIRONMENTS]
    if own := os.environ.get("UV_PROJECT_ENVIRONMENT"):
        places.insert(0, top / own)
    places += [place for folder in folders for place in _kept_elsewhere(runner[1] if runner else "", folder)]
    places += [Path(active) for name in _ELSEWHERE if (active := os.environ.get(name))]
    for place in places:
        is_one = (place / "pyvenv.cfg").is_file() or (place / "conda-meta").is_dir()
        if is_one and (place / "bin/python").exists():
            return place / "bin/python"
    if runner:
        raise UsageError(
            f"{runner[1]} has no environment in {top}",
            f"Install it there by {runner[1]}, or name its environment by --python.",
        )
    return None


def _kept_elsewhere(runner: str, folder: Path) -> Iterator[Path]:
    """Yield the environments that poetry and pipenv keep for a project outside of it."""
    home = Path.home()
    if runner == "poetry":  # its name ends with a digest of the project's folder
        digest = base64.urlsafe_b64encode(hashlib.sha256(os.fsencode(os.path.realpath(folder))).digest()).decode()[:8]
        cache = Path(
            os.environ.get("POETRY_CACHE_DIR") or Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache", "pypoetry")
        )
        yield from sorted((cache / "virtualenvs").glob(f"*-{digest}-py*"), reverse=True)
    if runner == "pipenv":
        environments = Path(os.environ.get("WORKON_HOME") or home / ".local/share/virtualenvs")
        yield from (file.parent for file in environments.glob("*/.project") if file.read_text().strip() == str(folder))


def _shown(top: Path, program: Path | None) -> Iterator[Path]:
    if program is not None and program.is_relative_to(top):
        yield program.parent.parent
    yield from _node_modules(top, _DEEPEST)


def _node_modules(folder: Path, levels: int) -> Iterator[Path]:
    for inner in sorted(folder.iterdir()):
        if inner.name == "node_modules" and inner.is_dir() and not inner.is_symlink():
            yield inner
        elif levels > 1 and inner.is_dir() and not inner.is_symlink() and not inner.name.startswith("."):
            yield from _node_modules(inner, levels - 1)
