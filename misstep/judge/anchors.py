"""`misstep judge anchors`: items to judge again, on which any change is the judge's."""

from pathlib import Path
from typing import Annotated

import typer

from misstep.options.common import Data, Seed, path_alone, write_file


def anchors(
    source: Annotated[
        str, typer.Argument(metavar="RUN|BENCHMARK", help="Folder of a judge's run, or a benchmark's folder or name.")
    ],
    n: Annotated[int, typer.Option(min=1, metavar="N", help="Number of anchors.")],
    out: Annotated[Path, typer.Option(metavar="FILE", parser=path_alone, help="The anchors, as lines of items.jsonl.")],
    seed: Seed = 0,
    data: Data = None,
) -> None:
    """Draw items to judge again for `judge drift`.

    From a run they are drawn at random within each label, in the proportions of all items. The file has the items with
    their runs in them: name it beside the new sessions, or append it to the items of a new benchmark, where the mark
    `anchor` in `extra` keeps them out of the new figure.

    \b
    misstep judge anchors OLD --n 100 --out anchors.jsonl
    misstep judge run JUDGE sessions anchors.jsonl --out NEW
    """  # noqa: D301 (the sign keeps the lines of the list as they are)
    from misstep.studies.judging.anchors import drawn_anchors

    drawn = drawn_anchors(source, n, seed, data)
    write_file("--out", out, drawn.lines.decode())
    print(f"{out}: {drawn.sentence}")
