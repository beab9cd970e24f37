"""`misstep repair build`: make the cases of a repair benchmark from released packages."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from misstep.options.common import Data, Json, json_text, refuse_given
from misstep.options.run_folders import stopped_with
from misstep.options.sandbox import Show
from misstep_harness.errors import UsageError
from misstep_harness.escaping import plain
from misstep_harness.progress import say

if TYPE_CHECKING:
    from misstep_harness.repair.build.sets import Built
    from misstep_harness.workspace import Sandbox


def build(
    context: typer.Context,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the cases; an unfinished build is continued.")],
    set_name: Annotated[
        Literal["tf", "patchgen", "quixbugs", "humanevalfix"],
        typer.Option(
            "--set", help="Failing tests to repair (`tf`), files with instructions (`patchgen`), or a public data set."
        ),
    ] = "tf",
    n: Annotated[
        int | None,
        typer.Option("--n", min=1, metavar="N", help="Number of cases, drawn at random; for `patchgen` per category."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="S", help="Random seed for the choice.")] = 0,
    history: Annotated[
        Path | None,
        typer.Option(metavar="REPO", help="Git repository whose past fixes become cases, instead of a set."),
    ] = None,
    test_command: Annotated[
        str, typer.Option(metavar="LINE", help="Shell line that runs the tests of the repository of --history.")
    ] = "",
    python: Annotated[
        Path | None,
        typer.Option(metavar="VENV", help="Its virtual environment or interpreter (.venv, venv or the active one)."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Number of cases at once.")] = 2,
    show: Show = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """Make repair cases from packages, a repository or a data set.

    The command downloads released packages, plants faults in them and keeps the faults that the tests notice.

    Downloads go through pip and npm, and each file is checked against its registered hash. The tests of a planted or
    past fault must fail before and pass after its golden patch in 3 of 3 runs in the sandbox; `repair run` holds every
    case to that. The same command continues a build that was stopped.
    """
    from misstep_harness.repair.build.sets import build as build_cases
    from misstep_harness.repair.build.sets import chosen
    from misstep_harness.workspace import find_sandbox

    if bool(test_command) != (history is not None):
        raise UsageError("--history and --test-command go together", "Give both, or neither.")
    public = set_name in ("quixbugs", "humanevalfix")
    if history is not None:
        of_a_set = {"set_name", "n", "seed", "workers", "data"}
        refuse_given(context, of_a_set, "every past fix of the repository becomes a case")
    elif public:
        refuse_given(context, {"python"}, f"{set_name} is a data set of programs")
    else:
        refuse_given(context, {"data", "python"}, f"the set {set_name} is made of released packages")
    if n is None:
        refuse_given(context, {"seed"}, "no cases are drawn without --n")
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is not a folder", "Name a folder for the cases.")
    sandbox = find_sandbox().showing(show or ())
    with stopped_with(f"whole cases are in {out}, and the same command goes on"):
        if history is not None:
            return _say_cases(_from_history(history, test_command, python, out, sandbox), out, json=json)
        if public:
            from misstep_harness.catalogue import locate
            from misstep_harness.repair.build.datasets import drawn, write_cases

            folder = locate(set_name, data)
            made = write_cases(set_name, folder, out, sandbox, drawn(set_name, folder, n, seed), workers)
            return _say_cases([case.case.id for case in made], out, json=json)
        picked = chosen(set_name, n, seed)
        built = build_cases(picked, set_name, out, sandbox, workers)
    print(json_text(_document(built, out)) if json else _text(built, out))
    if built.refused:
        raise typer.Exit(1)
    return None


def _from_history(repository: Path, command: str, python: Path | None, out: Path, sandbox: "Sandbox") -> list[str]:
    from misstep_harness.repair.build.history import cases_from_history
    from misstep_harness.workspace import own_command, project_toolchain

    tools = project_toolchain(repository, command, python, sandbox.show)
    mined = cases_from_history(repository, own_command(command), out, sandbox=sandbox, toolchain=tools, python=python)
    for one in (each for each in mined if each.reason):
        say(f"misstep: {one.commit.short} is not a case: {plain(one.reason)}")
    return [one.case.id for one in mined if one.case]


def _say_cases(names: list[str], out: Path, *, json: bool) -> None:
    print(json_text({"n": len(names), "out": str(out), "cases": names}) if json else f"{len(names):,} cases in {out}")


def _document(built: "Built", out: Path) -> dict[str, object]:
    from collections import Counter

    recipes = built.recipes
    return {
        "evidence": "generated",
        "n": len(recipes),
        "out": str(out),
        "packages": dict(sorted(Counter(recipe.package for recipe in recipes).items())),
        "complexity": dict(sorted(Counter(recipe.complexity for recipe in recipes).items())),
        "operators": dict(sorted(Counter(place.operator for recipe in recipes for place in recipe.faults).items())),
        "refused": [{"id": name, "reason": why} for name, why in sorted(built.refused.items())],
    }


def _text(built: "Built", out: Path) -> str:
    from misstep_analysis.tables.text import aligned

    document = _document(built, out)
    lines: list[str] = []
    for heading in ("packages", "complexity", "operators"):
        counts = document[heading]
        if isinstance(counts, dict) and counts:
            lines += [*aligned([(heading, "cases"), *((name, f"{count:,}") for name, count in counts.items())]), ""]
    lines += [f"{name} does not count: {plain(why)}" for name, why in sorted(built.refused.items())]
    return "\n".join([*lines, f"{len(built.recipes):,} cases in {plain(str(out))}"])
