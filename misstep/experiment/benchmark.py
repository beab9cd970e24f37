"""`misstep experiment benchmark`: the interventions of a run as a benchmark for judges of recovery."""

from pathlib import Path
from typing import Annotated

import typer


def benchmark(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run of `experiment run`.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the benchmark; it must not hold another.")],
) -> None:
    """Write the interventions of a run as a benchmark of recoveries.

    An item is the run and the step of one intervention that the agent heard while its misbehaviour went on. The gold
    label says whether the planted misbehaviour was over for good within 15 steps, without the engineer's help:

    misstep judge run recovery@rule --benchmark DIR --out VERDICTS
    """
    from misstep.studies.experiments import open_experiment
    from misstep.studies.recovery_benchmark import write_recovery_benchmark

    count = write_recovery_benchmark(open_experiment(run).sessions, out)
    print(f"{count:,} interventions; go on with: misstep judge run recovery@rule --benchmark {out} --out RUN")
