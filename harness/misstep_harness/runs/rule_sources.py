"""Digests of the code that reads and judges sessions: verdicts are looked up by them, and none outlives its rule."""

from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from misstep_harness.classifiers import CLASSIFIERS
from misstep_harness.readers import READERS

_HARNESS = Path(__file__).parents[1]
_OWN = ("classifiers", "readers")
"""The rooms of `harness` that decide a verdict, besides the modules at its top."""
_DIGITS = 16


@cache
def source_digests(categories: tuple[str, ...]) -> dict[str, str]:
    """Return a digest of Misstep's own rules and readers, and one for each category and reader from elsewhere.

    A process looks once, as it goes on with the code that it has loaded.
    """
    own = [*_HARNESS.glob("*.py"), *(file for room in _OWN for file in _files_below(_HARNESS / room))]
    chosen = {
        f"classifier {name}": target
        for name, target in CLASSIFIERS.names().items()
        if name in categories and name not in CLASSIFIERS
    }
    chosen |= {f"reader {name}": target for name, target in READERS.names().items() if name not in READERS}
    return {"misstep": _digest(own), **{name: _digest(_sources(target)) for name, target in chosen.items()}}


def _sources(target: str) -> Iterator[Path]:
    """Return the files behind a dotted path: its module, or all of the package that the module is part of."""
    spec = find_spec(target.partition(":")[0].partition(".")[0])
    if spec is None:
        return
    for folder in spec.submodule_search_locations or ():
        yield from _files_below(Path(folder))
    if spec.origin and Path(spec.origin).is_file():
        yield Path(spec.origin)


def _files_below(folder: Path) -> Iterator[Path]:
    return (file for ending in ("py", "toml", "json") for file in folder.rglob(f"*.{ending}"))


def _digest(files: Iterable[Path]) -> str:
    digest = sha256()
    for file in sorted({*files}):
        digest.update(f"{file.name}\0".encode() + sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:_DIGITS]
