"""The programs outside the system's folders that a test command needs: an interpreter, its libraries, its packages."""

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from misstep.harness.errors import MissingPrerequisite
from misstep.harness.workspace.bubblewrap import ENVIRONMENT
from misstep.harness.workspace.sandbox import NO_VARIABLES, Checkout

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
