"""`misstep judge certify`: what a run showed of a judge, as a file that is bound to that judge."""

from pathlib import Path
from typing import Annotated

import typer

from misstep.options.common import BenchmarkFolder, Data, path_alone, write_file

Out = Annotated[Path, typer.Option(metavar="FILE", parser=path_alone, help="The certificate, in TOML.")]


def certify(
    run: Annotated[Path, typer.Argument(metavar="RUN", parser=path_alone, help="Folder of a judge's run.")],
    out: Out,
    valid_days: Annotated[int, typer.Option(min=1, metavar="N", help="Number of days for which it holds.")] = 90,
    benchmark: BenchmarkFolder = "",
    data: Data = None,
) -> None:
    """Write what a run showed of a judge, and until when it holds.

    The file is bound to the judge, its prompt, its model and its settings, and names the benchmark. With --require,
    `judge run` and `classify --model M` refuse a judge for which it does not hold, and say what changed.

    \b
    misstep judge certify RUN --out judge.toml --valid-days 30
    misstep judge run infinite_loop sessions --out new --model new-model --require judge.toml
    """  # noqa: D301 (the sign keeps the lines of the list as they are)
    from misstep.harness.journal.records import toml_text
    from misstep.studies.judged_runs import open_run
    from misstep.studies.judging.certified import certified, certified_sentence

    certificate = certified(open_run(run, benchmark, data), valid_days)
    write_file("--out", out, toml_text(certificate).decode())
    print(certified_sentence(certificate))
