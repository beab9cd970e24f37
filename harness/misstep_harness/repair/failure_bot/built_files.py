"""Files that a project's installation wrote beside its code and that git ignores: compiled modules, `_version.py`.

A tree of a commit lacks them, so that its own package could not be imported from it. Nothing else that is ignored is
taken: settings of a machine, data and keys stay where they are.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

_COMPILED = (".so", ".pyd", ".mo")
_METADATA = (".egg-info",)
_SKIPPED = re.compile(r"(?:^|/)(?:\.|__pycache__|node_modules|build/|dist/|target/|site-packages)")
_VERSION = re.compile(r"_{0,2}version(?:_info)?_{0,2}\.py")
_SAYS_SO = re.compile(rb"(?i)generated|do(?:n't| not) (?:edit|change|modify)")
_START = 1_000
_LARGEST = 64 << 20
_MOST = 2_000


def built_files(checkout: Path, ignored: Callable[[], Iterator[str]]) -> tuple[str, ...]:
    """Return the ignored files, folders among them, that an installation has built."""
    files = (file for path in ignored() if not _SKIPPED.search(path) for file in _beneath(checkout, path.rstrip("/")))
    return tuple(sorted(islice((file for file in files if _is_built(checkout / file)), _MOST)))


def _beneath(checkout: Path, path: str) -> Iterator[str]:
    place = checkout / path
    if place.is_symlink() or (place / "pyvenv.cfg").exists():
        return
    if place.is_dir():
        inner = (f"{path}/{each.name}" for each in sorted(place.iterdir()))
        yield from (file for each in inner if not _SKIPPED.search(f"{each}/") for file in _beneath(checkout, each))
    elif place.is_file() and place.stat().st_size <= _LARGEST:
        yield path


def _is_built(file: Path) -> bool:
    if file.name.endswith(_COMPILED) or file.parent.name.endswith(_METADATA):
        return True
    if file.suffix != ".py" or _VERSION.fullmatch(file.name):
        return file.suffix == ".py"
    with file.open("rb") as opened:
        return _SAYS_SO.search(opened.read(_START)) is not None
