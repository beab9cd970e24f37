"""`misstep judge drift`: whether a figure changed because the judge did, or because the system did."""

from pathlib import Path
from typing import Annotated

import typer

from misstep.judge.calibrate import chosen_label
from misstep.options.common import (
    Data,
    Html,
    Json,
    Seed,
    json_text,
    path_alone,
    say_remarks,
    this_line,
    write_file,
    write_page,
)
from misstep_harness.errors import UsageError

Runs = Annotated[
    list[Path],
    typer.Argument(
        metavar="OLD [NEW…]", parser=path_alone, help="Folders of judges' runs, the oldest first; one with --draw."
    ),
]
Anchors = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        parser=path_alone,
        help="File of --draw; the new figure leaves out its items. May be given several times.",
    ),
]
Draw = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Number of items of OLD to draw and write to --out, to judge them again."),
]
Out = Annotated[
    Path | None, typer.Option(metavar="FILE", parser=path_alone, help="File for --draw: lines of an items.jsonl.")
]


def drift(
    runs: Runs,
    anchors: Anchors = None,
    draw: Draw = None,
    out: Out = None,
    label: Annotated[
        str, typer.Option(help="Label whose share is followed; by default the benchmark's positive label.")
    ] = "",
    data: Data = None,
    seed: Seed = 0,
    json: Json = False,
    html: Html = None,
) -> None:
    """Tell whether the judge changed, or the system.

    Items whose judged text is the same in two runs are anchors: on them, any change is the judge's. --draw writes some
    of OLD's items, drawn at random within each label in the proportions of all: name the file beside the new sessions.
    The change of a label's share, and with gold labels of the accuracy, is split into the judge's part and the
    system's, each with an interval. Each later run is held against the first; the page draws the figure over all.

    \b
    misstep judge drift OLD --draw 100 --out anchors.jsonl
    misstep judge run JUDGE sessions anchors.jsonl --out NEW
    misstep judge drift OLD NEW --anchors anchors.jsonl --html drift.html
    """  # noqa: D301 (the sign keeps the lines of the list as they are)
    from misstep_analysis.judging.drift import drifts
    from misstep_analysis.judging.judged_runs import open_run, warn_incomplete
    from misstep_analysis.pages import table_text
    from misstep_harness.benchmarks.judged_texts import texts_in
    from misstep_harness.journal.opened import check_named_once, distinct_names

    if draw is not None or out is not None:
        _draw(runs, draw, out, seed, data)
        return
    if len(runs) < 2:
        raise UsageError("drift needs two runs", "Name two or more runs of judges, the oldest first.")
    check_named_once(runs)
    controls = {text for file in anchors or () for text in texts_in(file)}
    opened = dict(zip(distinct_names(runs), (open_run(run, data=data) for run in runs), strict=True))
    warn_incomplete(list(opened.values()))
    drift = drifts(opened, chosen_label(next(iter(opened.values())), label), controls)
    if html is not None:
        write_page("--html", html, drift.html(this_line()))
    print(json_text(drift.document()) if json else "\n".join(map(table_text, drift.tables())), end="\n" if json else "")
    if not json:
        say_remarks(drift.remarks())


def _draw(runs: list[Path], n: int | None, out: Path | None, seed: int, data: Path | None) -> None:
    from misstep_analysis.judging.drift import drawn_anchors

    if n is None or out is None or len(runs) != 1:
        raise UsageError("--draw N and --out FILE need each other, and one run", "Name the run whose items are drawn.")
    drawn = drawn_anchors(str(runs[0]), n, seed, data)
    write_file("--out", out, drawn.lines.decode())
    print(f"{out}: {drawn.sentence}")
