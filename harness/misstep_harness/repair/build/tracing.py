"""Trace which lines of a package's sources each of its tests executes: one run of the whole suite, in the sandbox.

For Python lines that run while a module is imported count for every test. For JavaScript node's own coverage is read,
by test file.
"""

from pathlib import Path

from misstep_harness.repair.build.packages import Package
from misstep_harness.repair.validators.test_files import is_test_file


def source_files(tree: Path, package: Package) -> dict[str, bytes]:
    """Return the files of a package in which faults may be planted, by path."""
    ends = (".py",) if package.language == "python" else (".js", ".cjs", ".mjs")
    sources: dict[str, bytes] = {}
    for place in (tree / named for named in package.sources):
        for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
            path = file.relative_to(tree).as_posix()
            if file.is_file() and path.endswith(ends) and not is_test_file(path) and "node_modules/" not in path:
                sources[path] = file.read_bytes()
    return sources
