"""The way in: one file a command; in a notebook, `misstep.open(RUN)` gives a run as frames."""

from pathlib import Path
from typing import TYPE_CHECKING

from harness.version import __version__

if TYPE_CHECKING:
    from studies.run_frames import RunFrames

__all__ = ["__version__", "open"]


def open(run: Path | str, benchmark: str = "", data: Path | None = None) -> "RunFrames":  # noqa: A001
    """A run as pandas frames: `items`, `verdicts`, `gold`; of a run of repairs `attempts` and `signals`.

    Parameters
    ----------
    run
        The folder that `misstep judge run`, `misstep repair run` or `misstep classify --out` wrote.
    benchmark
        The benchmark's folder or name, where it no longer lies where the run found it.
    data
        Where public data sets lie.

    Raises
    ------
    InputError, UsageError, MissingPrerequisite
        The folder is no run, or its benchmark cannot be read.

    Examples
    --------
    >>> import misstep
    >>> run = misstep.open("run")  # doctest: +SKIP
    >>> run.verdicts.label.value_counts()  # doctest: +SKIP
    """
    from studies.run_frames import open_frames  # pandas takes a second to import

    return open_frames(run, benchmark, data)
