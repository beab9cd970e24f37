"""What a project's own tests need beside its tracked files: its interpreter and the packages installed for it."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from misstep.harness.errors import InputError, UsageError
from misstep.harness.workspace.sandbox import INSIDE, Checkout
from misstep.harness.workspace.toolchain import Toolchain, program_folders, python_toolchain

_ENVIRONMENTS = (".venv", "venv", "env")
_DEEPEST = 3
"""Levels at which a package of a monorepo has its `node_modules`."""

_RUNNER = re.compile(r"(?<![\w./-])(uv|poetry|pdm|pipenv|hatch)\s+run\s+(?:--?[\w-]+(?:=\S+)?\s+)*")
_TOX = re.compile(r"(?<![\w./-])(?:tox|nox)(?=\s|$)")
_GOES_TO = re.compile(r"^\s*cd\s+([\w./-]+)\s*&&")


def own_command(command: str) -> str:
    """Return a test command without the program that would first build its environment, as `uv run`."""
    if _TOX.search(command):
        raise UsageError(
            f"{command.split()[0]} builds environments, which needs a network",
            "Give the line that it runs, as --test-command 'python -m pytest', and its environment by --python.",
        )
    return _RUNNER.sub("", command)


def project_toolchain(checkout: Path, command: str = "", python: Path | None = None) -> Toolchain:
    """Return the interpreter and packages of a checkout; Misstep's own interpreter where it has none."""
    top = checkout.resolve()
    program = _program(python) if python is not None else _found(top, command)
    base = python_toolchain() if program is None else Toolchain(str(program), program_folders([str(program)]))
    shown = tuple(path.relative_to(top).as_posix() for path in _shown(top, program))
    read_only = tuple(path for path in base.read_only if not path.is_relative_to(top))
    programs = [f"{INSIDE}/{path}/.bin" for path in shown if path.endswith("node_modules")]
    variables = {"PATH": ":".join([str(Path(base.python).parent), *programs])}
    if any((top / "src").glob("*/__init__.py")):  # ahead of a copy of the project that is installed, which is older
        variables["PYTHONPATH"] = f"{INSIDE}/src"
    return Toolchain(base.python, read_only, Checkout(top, shown), variables)


def _program(python: Path) -> Path:
    """Return the interpreter that `--python` names: a program, or a virtual environment."""
    if python.is_dir():
        inner = next((python / name for name in ("bin/python", "bin/python3") if (python / name).exists()), None)
        if inner is None:
            raise InputError("is a folder without bin/python", "Name a virtual environment.", file=python)
        return inner.absolute()
    program = shutil.which(str(python))
    if program is None:
        raise InputError("no such interpreter", "Name a virtual environment, or its bin/python.", file=python)
    return Path(program).absolute()


def _found(top: Path, command: str) -> Path | None:
    goes = _GOES_TO.search(command)
    folders = [top / goes[1], top] if goes else [top]
    places = [folder / name for folder in folders for name in _ENVIRONMENTS]
    if active := os.environ.get("VIRTUAL_ENV"):
        places.append(Path(active))
    for place in places:
        if (place / "pyvenv.cfg").is_file() and (place / "bin/python").exists():
            return place / "bin/python"
    if runner := _RUNNER.search(command):
        raise UsageError(
            f"{runner[1]} has no environment in {top}",
            f"Install it there by {runner[1]}, or name its environment by --python.",
        )
    return None


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
