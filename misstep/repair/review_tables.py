"""`misstep repair review codes` and `rollout`: themes of comments on patches, and what became of patches by share."""

from pathlib import Path
from typing import Annotated

import typer

from misstep.harness.errors import UsageError
from misstep.options.common import Json, json_text

RolloutSeed = Annotated[int, typer.Option("--rollout-seed", min=0, metavar="S", help="Seed of the rollout's draw.")]


def codes(
    codings: Annotated[
        Path | None, typer.Argument(metavar="CODINGS.csv", help="CSV file with the codes of each comment and coder.")
    ] = None,
    json: Json = False,
) -> None:
    """Count the themes of comments, and how far their coders agree.

    CODINGS.csv has the columns comment, coder and codes, with several codes separated by semicolons:

    c1,ann,gratitude;already_fixed

    A row without codes says that none fits. Without a file the command lists the codes and their meanings.
    """
    from misstep.analysis.measures.repair.feedback_codes import code_book, codings_document, codings_table, read_codings
    from misstep.analysis.pages import table_text

    if codings is None:
        book = code_book()
        blocks = (
            [theme, *(f"  {code:<15} {meaning}" for code, meaning in of.codes.items())] for theme, of in book.items()
        )
        print(json_text(book) if json else "\n\n".join("\n".join(block) for block in blocks))
    elif json:
        print(json_text(codings_document(read_codings(codings))))
    else:
        print(table_text(codings_table(read_codings(codings), codings.name)), end="")


def rollout(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of runs of `repair run`.")],
    shares: Annotated[
        str, typer.Option(metavar="S,S,…", help="Shares of the cases, each above 0 and at most 1.")
    ] = "0.1,0.5,1",
    seed: RolloutSeed = 0,
    json: Json = False,
) -> None:
    """Show what became of patches at each share of a rollout.

    A share is of the cases; every smaller one lies in it, as a case has its place by a hash of its name.

    `review list --share 0.1` names the patches to hand out at the first share.
    """
    from misstep.analysis.measures.repair.reviews import rollout_document, rollout_stages, rollout_table
    from misstep.analysis.pages import table_text
    from misstep.harness.repair.review import reviews_of
    from misstep.studies.repair_runs import open_repair_runs

    opened = open_repair_runs(runs)
    attempts = [attempt for run in opened for attempt in run.attempts]
    events = [event for run in opened for event in reviews_of(run.folder)]
    stages = rollout_stages(attempts, events, _shares(shares), seed)
    print(json_text(rollout_document(stages)) if json else table_text(rollout_table(stages)), end="\n" if json else "")


def _shares(text: str) -> list[float]:
    try:
        shares = [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--shares {text!r} is not a list of numbers", "Write it as 0.1,0.5,1.") from None
    if wrong := [share for share in shares if not 0 < share <= 1]:
        raise UsageError(f"--shares: {wrong[0]:g} is not a share", "Each is above 0 and at most 1, as in 0.1,0.5,1.")
    return shares
