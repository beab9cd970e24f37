"""`misstep experiment codes`: why agents recovered or did not, coded by several people."""

import getpass
from pathlib import Path
from typing import Annotated

import typer

from misstep.options.common import Json, Seed, command_app, json_text

app = command_app(has_commands=True)

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of `codes sample`, with the filled sheets.")]


@app.callback()
def codes() -> None:
    """Code why agents recovered or did not."""


@app.command("list")
def list_codes(json: Json = False) -> None:
    """List the codes and their meanings."""
    from misstep.analysis.measures.recovery_codes import code_book

    book = code_book()
    if json:
        print(json_text(book))
        return
    width = max(len(code) for known in book.values() for code in known)
    blocks = (
        [outcome, *(f"  {code:<{width}}  {known.meaning}" for code, known in codes.items())]
        for outcome, codes in book.items()
    )
    print("\n\n".join("\n".join(block) for block in blocks))


@app.command()
def sample(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="A run of `experiment run`, or your own sessions, as in `report`."),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the sheets; it must not hold others.")],
    coders: Annotated[str, typer.Option(metavar="A,B", help="Names of the coders, two or more.")],
    n: Annotated[int, typer.Option("--n", min=1, metavar="N", help="Items of each outcome, at most.")] = 25,
    seed: Seed = 0,
) -> None:
    """Draw interventions to code.

    Each coder gets a CSV sheet in an order of its own, and each item has a page. The outcome in the sheets is what the
    judge recovery@rule says. Fill in the column code; an empty cell is not coded. No coder should see another's sheet.
    """
    from misstep.studies.experiments import is_planted, open_experiment
    from misstep.studies.recovery_benchmark import candidates, draw_sample, own_candidates

    names = [name.strip() for name in coders.split(",") if name.strip()]
    planted = len(paths) == 1 and is_planted(paths[0])
    pool = candidates(open_experiment(paths[0]).sessions) if planted else own_candidates(paths)
    drawn = draw_sample(pool, n, names, seed, out)
    print(f"{drawn['recovered']:,} recovered and {drawn['not_recovered']:,} not recovered; sheets and pages in {out}")


@app.command()
def settle(
    folder: Folder,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="Item, as the sheets name it.")],
    code: Annotated[str, typer.Argument(metavar="CODE", help="Code that was settled on.")],
    by: Annotated[str, typer.Option(help="Names of those who settled it; by default the user's.")] = "",
    note: Annotated[str, typer.Option(help="Reason.")] = "",
) -> None:
    """Record what the coders settled on an item.

    The decision is added to decisions.csv. A later one on the same item takes its place; both stay in the log.
    """
    from misstep.studies.recovery_benchmark import settle as add

    add(folder, item, code, by or getpass.getuser(), note)
    print(f"{item}: {code}")


@app.command()
def show(folder: Folder, json: Json = False) -> None:
    """Show the table of reasons and the open items."""
    from misstep.analysis.measures.recovery_codes import outcome_codes, read_coded
    from misstep.analysis.pages import table_text
    from misstep.analysis.papers.wink.reasons import reasons_table

    coded = read_coded(folder)
    if json:
        rows = [{"outcome": one.outcome, "n": one.n, "shares": one.shares} for one in outcome_codes(coded)]
        print(json_text({"coders": coded.codings.coders, "outcomes": rows, "open": coded.open}))
        return
    print(table_text(reasons_table(coded)), end="")
    for item in coded.open:
        codes = ", ".join(f"{coder} {next(iter(code))}" for coder, code in sorted(coded.codings.codes[item].items()))
        print(f"open: {item} ({codes})")
