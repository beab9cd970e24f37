"""`misstep reflect run --ablate`: the runs of an ablation, and their tables."""

import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from misstep.options import run_folders
from misstep_harness.escaping import plain
from misstep_harness.progress import say

if TYPE_CHECKING:
    from misstep_harness.reflexive.runs.running import AblationPlan


def run_and_compare(plan: "AblationPlan", out: Path, known: Collection[str], *, json: bool) -> None:
    """Run an ablation, or go on with it, and print its tables; `known` are the warnings that were said before."""
    from misstep_analysis.reflexive.report import reflections_json, reflections_text
    from misstep_analysis.reflexive.runs import open_reflexive_runs, say_warnings
    from misstep_harness.reflexive.runs.running import run_ablation

    with run_folders.kept_when_stopped(out):
        loop_runs = run_ablation(plan, out, arguments=sys.argv[1:])
    runs = open_reflexive_runs([run.folder for run in loop_runs])
    print(reflections_json(runs) if json else reflections_text(runs), end="")
    say_warnings(runs, known)
    say(f"misstep: the runs are in {plain(str(out))}")
