"""`misstep experiment codes`: why agents recovered or did not, coded by several people."""

from pathlib import Path
from typing import Annotated

import typer

from misstep.options.common import Json, Seed, json_text, refuse_given
from misstep_harness.errors import UsageError


def codes(
    context: typer.Context,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="A folder of filled sheets; to draw them, a run of `experiment run` or your own sessions.",
        ),
    ],
    coders: Annotated[
        str, typer.Option(metavar="A,B", help="Names of two or more coders: draw interventions for them.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the sheets; it must not hold others.")
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, metavar="N", help="Items of each outcome, at most.")] = 25,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Code why agents recovered or did not.

    With --coders the command draws interventions. Each coder gets a CSV sheet in an order of its own, and each item has
    a page. The outcome in the sheets is what the judge recovery@rule says. Fill in the column code with a code of
    codes.csv; an empty cell is not coded. No coder should see another's sheet.

    Of the folder with the filled sheets the command shows the table of reasons, the coders' agreement and the open
    items. Add to decisions.csv what the coders settle together on these; the last line on an item counts.

    misstep experiment codes RUN --coders ann,bob --out DIR

    misstep experiment codes DIR
    """
    if not coders:
        refuse_given(context, {"out", "n", "seed"}, "no interventions are drawn without --coders")
        if len(paths) > 1:
            raise UsageError(f"{len(paths)} folders of sheets", "Name one, or draw interventions with --coders.")
        _show(paths[0], json=json)
        return
    if out is None:
        raise UsageError("--coders without a folder", "Name the folder of the sheets with --out.")
    refuse_given(context, {"json"}, "the drawn interventions are files")
    _draw(paths, [name.strip() for name in coders.split(",") if name.strip()], out, n, seed)


def _draw(paths: list[Path], coders: list[str], out: Path, n: int, seed: int) -> None:
    from misstep_analysis.observer.experiments.recovery_benchmark import candidates, draw_sample, own_candidates
    from misstep_analysis.observer.experiments.report import is_planted, open_experiment

    planted = len(paths) == 1 and is_planted(paths[0])
    pool = candidates(open_experiment(paths[0]).sessions) if planted else own_candidates(paths)
    drawn = draw_sample(pool, n, coders, seed, out)
    print(f"{drawn['recovered']:,} recovered and {drawn['not_recovered']:,} not recovered; sheets and pages in {out}")


def _show(folder: Path, *, json: bool) -> None:
    from misstep_analysis.observer.recovery_codes import outcome_codes, read_coded, reasons_table
    from misstep_analysis.pages import table_text

    coded = read_coded(folder)
    if json:
        rows = [{"outcome": one.outcome, "n": one.n, "shares": one.shares} for one in outcome_codes(coded)]
        print(json_text({"coders": coded.coders, "outcomes": rows, "open": coded.open}))
        return
    print(table_text(reasons_table(coded)), end="")
    for item in coded.open:
        print(f"open: {item} ({', '.join(f'{coder} {code}' for coder, code in sorted(coded.codes[item].items()))})")
