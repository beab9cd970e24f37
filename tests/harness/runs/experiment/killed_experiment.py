"""An experiment that kills itself when so many sessions are recorded: `python -m … FOLDER AFTER`."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from misstep.harness.journal.run_folder import RunInProgress
from misstep.harness.runs.experiment.running import ExperimentPlan, run_experiment
from misstep.harness.workspace import find_sandbox

PLAN = ExperimentPlan("shadow", n=6, seed=3, wordings="development")


def main(folder: str, after: str) -> None:
    """Run until it is done or killed."""
    left = int(after)
    append = RunInProgress.append

    def counted(run: RunInProgress[Any, Any], *given: Any) -> None:
        nonlocal left
        append(run, *given)
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    RunInProgress.append = counted  # type: ignore[method-assign]
    run_experiment(Path(folder), PLAN, find_sandbox(), workers=2)


if __name__ == "__main__":
    main(*sys.argv[1:])
