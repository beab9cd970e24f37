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

from misstep_harness.errors import InputError, MissingPrerequisite, UsageError
from misstep_harness.workspace.bubblewrap import ENVIRONMENT
from misstep_harness.workspace.sandbox import INSIDE, NO_VARIABLES, Checkout
from misstep_harness.workspace.showing import (
    Showing,
    distinct,
    home,
    is_environment,
    links_to,
    named_by_user,
    on_path,
    own_installation,
)


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

    @property
    def shown(self) -> tuple[str, ...]:
        """Return each place of the machine that the sandbox shows for it, besides the system's folders."""
        inside = [] if self.checkout is None else [self.checkout.folder / path for path in self.checkout.shown]
        return tuple(map(str, (*self.read_only, *inside)))


def python_toolchain() -> Toolchain:
    """Return the running interpreter's own environment, which must have pytest."""
    prefixes = [Path(sys.prefix), Path(sys.base_prefix)]
    package = importlib.util.find_spec("pytest")
    if package is None or not any(Path(str(package.origin)).is_relative_to(prefix) for prefix in prefixes):
        raise MissingPrerequisite("the running Python's environment has no pytest", "Run `pip install pytest` in it.")
    return Toolchain(sys.executable, own_installation())


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


def project_toolchain(
    checkout: Path, command: str = "", python: Path | None = None, show: Sequence[Path] = ()
) -> Toolchain:
    """Return the interpreter and packages of a checkout; Misstep's own interpreter where it has none.

    `show` are the folders that the user named; what else is shown, `showing` decides.
    """
    top = checkout.resolve()
    showing = Showing(top, named_by_user(show, top))
    program = _program(python, showing) if python is not None else _environment(showing, command)
    inner = program.parent.parent if program is not None and program.is_relative_to(top) else None
    if inner is not None and (inner == top or not inner.is_relative_to(top)):
        message, advice = "lies in the checkout, and in no environment there", "Name an environment, as .venv."
        raise InputError(message, advice, file=program)
    if program is None:
        base = Toolchain(sys.executable, python_toolchain().read_only)
    else:
        base = Toolchain(str(program), showing.program(program) if inner is None else showing.environment_inside(inner))
    shown = tuple(path.relative_to(top).as_posix() for path in (*([inner] if inner else []), *_node_modules(top)))
    read_only = [*showing.show, *(path for path in base.read_only if not path.is_relative_to(top))]
    programs = [f"{INSIDE}/{path}/.bin" for path in shown if path.endswith("node_modules")]
    if node := on_path("node", top) if programs or (top / "package.json").is_file() else None:
        read_only += showing.program(node)  # it may be that of nvm, in the home folder
        programs.append(str(node.parent))
    variables = {"PATH": ":".join([str(Path(base.python).parent), *programs])}
    sources = [folder / "src" for folder in _folders(top, command)]
    if packages := [each for each in sources if any(each.glob("*/__init__.py")) or any(each.glob("*/*/__init__.py"))]:
        # ahead of a copy of the project that is installed, which is older
        variables["PYTHONPATH"] = ":".join(f"{INSIDE}/{each.relative_to(top).as_posix()}" for each in packages)
    return Toolchain(base.python, distinct(read_only), Checkout(top, shown), variables)


def _program(python: Path, showing: Showing) -> Path:
    if python.is_dir():
        inner = next((python / name for name in ("bin/python", "bin/python3") if (python / name).exists()), None)
        if inner is None:
            raise InputError("is a folder without bin/python", "Name a virtual environment.", file=python)
        return _placed(inner, showing)
    program = shutil.which(str(python))
    if program is None:
        raise InputError("no such interpreter", "Name a virtual environment, or its bin/python.", file=python)
    return _placed(Path(program), showing)


def _placed(program: Path, showing: Showing) -> Path:
    """Return a program beneath the folder where its environment really lies: one of the checkout's is a stranger's."""
    folder, inner = program.parent.parent, program.parent.name
    if inner == "..":
        folder, inner = program.parent, "."
    links, real = links_to(folder)
    if any(map(showing.is_own, links)):  # where a link of the checkout leads, the checkout does not decide
        showing.refuse_elsewhere(folder, "The checkout")
    return real / inner / program.name


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


def _environment(showing: Showing, command: str) -> Path | None:
    top = showing.checkout or Path.cwd()
    runner = _RUNNER.search(command)
    folders = _folders(top, command)
    places = [folder / name for folder in folders for name in _ENVIRONMENTS]
    if own := os.environ.get("UV_PROJECT_ENVIRONMENT"):
        places.insert(0, top / own)
    places += [place for folder in folders for place in _kept_elsewhere(runner[1] if runner else "", folder)]
    places += [Path(active) for name in _ELSEWHERE if (active := os.environ.get(name))]
    for place in places:
        if is_environment(place) and os.path.exists(place / "bin/python"):  # noqa: PTH110 (or it may not be looked at)
            return _placed(place / "bin/python", showing)
    if runner:
        raise UsageError(
            f"{runner[1]} has no environment in {top}",
            f"Install it there by {runner[1]}, or name its environment by --python.",
        )
    return None


def _kept_elsewhere(runner: str, folder: Path) -> Iterator[Path]:
    """Yield the environments that poetry and pipenv keep for a project outside of it."""
    if runner == "poetry":  # its name ends with a digest of the project's folder
        digest = base64.urlsafe_b64encode(hashlib.sha256(os.fsencode(os.path.realpath(folder))).digest()).decode()[:8]
        cache = Path(
            os.environ.get("POETRY_CACHE_DIR")
            or Path(os.environ.get("XDG_CACHE_HOME") or home() / ".cache", "pypoetry")
        )
        yield from sorted((cache / "virtualenvs").glob(f"*-{digest}-py*"), reverse=True)
    if runner == "pipenv":
        environments = Path(os.environ.get("WORKON_HOME") or home() / ".local/share/virtualenvs")
        yield from (file.parent for file in environments.glob("*/.project") if file.read_text().strip() == str(folder))


def _node_modules(folder: Path, levels: int = _DEEPEST) -> Iterator[Path]:
    for inner in sorted(folder.iterdir()):
        if inner.name == "node_modules" and inner.is_dir() and not inner.is_symlink():
            yield inner
        elif levels > 1 and inner.is_dir() and not inner.is_symlink() and not inner.name.startswith("."):
            yield from _node_modules(inner, levels - 1)
