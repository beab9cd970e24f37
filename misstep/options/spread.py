"""Options of the commands whose work can be spread."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from misstep.options.groups import OptionGroup
from misstep_harness.errors import UsageError
from misstep_harness.runs.spread import Spread


class SpreadOptions(OptionGroup, frozen=True):
    """Where the work is done."""

    panel = "Workers"
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of processes that share the work.")
    ] = None
    dask: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Dask cluster whose workers do the work, such as tcp://HOST:8786.")
    ] = ""

    def over(self, paths: Iterable[str | Path]) -> Spread:
        """Return where work on paths is done, which the workers of a cluster have to see."""
        if self.dask and self.workers:
            raise UsageError("--workers has no effect with --dask", "Start as many workers in the cluster as you want.")
        return Spread(self.workers, self.dask, tuple(map(str, paths)))
