"""A made-up package with entry points, found as an installed one is, without a package manager."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from misstep_harness import classifiers, readers, registry
from misstep_harness.runs import verdict_cache

EntryPoints = Mapping[str, Mapping[str, str]]
"""Group → name → target."""


@contextmanager
def installed(
    folder: Path, added: EntryPoints, monkeypatch: pytest.MonkeyPatch, package: str = "made-up"
) -> Iterator[None]:
    """A package whose modules are in `folder`: while this lasts, its entry points are among the installed ones."""
    info = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [
        line for group, names in added.items() for line in (f"[{group}]", *(f"{a} = {b}" for a, b in names.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    before = set(sys.modules)
    with monkeypatch.context() as patched:
        patched.syspath_prepend(folder)
        _forget()
        yield
    for module in set(sys.modules) - before:
        if str(getattr(sys.modules[module], "__file__", "")).startswith(str(folder)):
            del sys.modules[module]
    _forget()


def _forget() -> None:
    """What was found of the installed packages is looked for once in a process, and so anew for each test."""
    for known in (registry._added, classifiers._way, readers._loaded, verdict_cache.source_digests):
        known.cache_clear()
