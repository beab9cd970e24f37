"""A run of `classify` that is brought up to date again and again, and what each look finds that is new."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from harness.errors import NoTrajectory
from harness.escaping import plain
from harness.journal.classified import Finding
from harness.progress import say
from harness.runs.classify import ClassifyAs
from studies.classified_paths import classified_findings

Key = tuple[str, int | None, str, str]


def new_findings(
    paths: Sequence[Path],
    categories: Sequence[str],
    classify: ClassifyAs,
    out: Path,
    *,
    wait: Callable[[], object],
) -> Iterator[Finding]:
    """The findings of each look that were not there before, without end; those of the first look are all told.

    Parameters
    ----------
    paths, categories, classify, out
        As for `classified_findings`. Where there is no session yet, the first one is waited for.
    wait
        Returns when it is time to look again.

    Raises
    ------
    MisstepError
        As `classified_findings`.
    """
    known: set[Key] = set()
    waiting = False
    while True:
        try:
            arguments = [*map(str, paths), "--out", str(out)]
            found = classified_findings(paths, categories, classify, out=out, arguments=arguments).findings
        except NoTrajectory as error:
            if not waiting:
                say(f"misstep: {plain(error.line())} Waiting for the first session.")
            waiting, found = True, []
        for one in found:
            if (key := (one.file, one.line, one.item, one.category)) not in known:
                known.add(key)
                yield one
        wait()
