"""`misstep repair patches`: the patches of runs as a benchmark for judges of patches."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from misstep.harness.escaping import plain
from misstep.harness.progress import say
from misstep.options.common import Json, json_text


def patches(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of runs of `repair run`.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the benchmark; it must not exist.")],
    json: Json = False,
) -> None:
    """Write the patches of runs as a benchmark for patch judges.

    The gold labels come from executed tests.

    A patch with which the tests of its case pass is acceptable, any other is unacceptable. A judge sees the task, the
    patch and the checks that run no test.
    """
    from misstep.harness.runs.patches import write_patches

    written = write_patches(runs, out)
    n = written.counts["items"]
    if json:
        print(json_text({"benchmark": str(out), "n": n}))
    else:
        print(f"{n:,} patch{'' if n == 1 else 'es'} in {plain(str(out))}")
    line = shlex.join(["misstep", "judge", "run", "patch_judge", "--benchmark", str(out), "--out", "RUN"])
    say(f"misstep: a judge is measured on them by: {plain(line)}")
