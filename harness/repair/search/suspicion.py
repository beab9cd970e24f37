"""The lines of a case's broken tree that its failure leads to, from the case's files alone."""

from misstep.harness.repair.case import CaseFolder
from misstep.harness.repair.search.localisation import Suspect, by_text
from misstep.harness.repair.search.source import ProgramSource, sources_and_tests


def suspects(folder: CaseFolder) -> tuple[dict[str, ProgramSource], list[Suspect]]:
    """The Python files of the broken tree by path, and the suspicious lines in them, the most suspicious first."""
    root = folder.before
    paths = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py") if not path.is_symlink())
    sources, tests = sources_and_tests(paths, lambda path: (root / path).read_bytes(), folder.case.oracle)
    return sources, by_text(folder.case.task, tests, sources)
