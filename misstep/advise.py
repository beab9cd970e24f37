"""`misstep advise`: lines for CLAUDE.md or AGENTS.md from the findings of a run, as a diff."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from misstep.options.common import Json, command_app, json_text, path_alone, write_file
from misstep.options.model import priced_by
from misstep_analysis.sessions.advice import advice_diff, advice_of
from misstep_analysis.tables.wording import counted_text
from misstep_harness.classifiers.shell import commands
from misstep_harness.classifiers.tools import bare_name, kind_of
from misstep_harness.errors import UsageError
from misstep_harness.journal.opened import open_of
from misstep_harness.progress import say
from misstep_harness.trajectory import ToolCall

app = command_app()

Run = Annotated[Path, typer.Argument(metavar="RUN", parser=path_alone, help="Folder of a run of `classify`.")]
File = Annotated[Path, typer.Option(metavar="FILE", help="File of rules below this folder; it may be absent.")]
AtLeast = Annotated[int, typer.Option(min=1, metavar="N", help="Number of sessions that have to show it for a line.")]
Sort = Annotated[Literal["cost", "count"], typer.Option(help="Order of the lines: by cost or by number of sessions.")]
Out = Annotated[Path | None, typer.Option(metavar="F.diff", help="File for the diff instead of the terminal.")]


@app.command()
def advise(
    run: Run,
    file: File = Path("CLAUDE.md"),
    at_least: AtLeast = 3,
    sort: Sort = "cost",
    out: Out = None,
    json: Json = False,
) -> None:
    """Propose at most ten lines for CLAUDE.md or AGENTS.md from the findings of a run, as a unified diff.

    Each line says what is so here of a program or a tool, as at least N sessions show it. The words are Misstep's own:
    of sessions it quotes only checked names, options and paths of a call, never what a user, an agent or a tool wrote.
    Nothing is changed; look at the diff, and apply it: misstep advise RUN | git apply. Whether the lines helped is what
    `misstep report BEFORE AFTER` says of two runs.
    """
    if file.is_absolute() or ".." in file.parts:
        raise UsageError(f"--file {file} is not below this folder", "Go to the folder of the file, and name it there.")
    lines = advice_of(open_of(run, "classify"), at_least, sort, priced_by(), _called)
    diff = advice_diff(lines, file)
    if json:
        print(json_text({"at_least": at_least, "lines": lines, "diff": diff}))
    elif out is None:
        print(diff, end="")
    if out is not None:
        write_file("--out", out, diff)
    if not diff:
        why = f"{file} has these lines" if lines else f"no problem with a line is in {at_least} sessions (--at-least)"
        say(f"misstep: nothing to propose: {why}.")
    else:
        say(f"misstep: {counted_text(len(lines), 'line')} for {file}, each from {at_least:,} or more sessions.")


def _called(tool: str, line: str) -> tuple[str, Sequence[str]]:
    is_shell = kind_of(ToolCall(tool, {"command": line})) == "shell"
    words = next((one.words for one in commands(line) if is_shell and one.program not in ("", "cd")), ("",))
    return bare_name(tool), words
