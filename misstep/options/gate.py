"""Options of the commands that can stop a pipeline, and what they do with the outcomes."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from misstep.harness.errors import UsageError
from misstep.harness.escaping import plain
from misstep.harness.progress import say
from misstep.options.pages import write_page

if TYPE_CHECKING:
    from misstep.analysis.measures.gates import Gate
    from misstep.analysis.stats.estimate import Estimate

FailOn = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIGURE>LIMIT",
        help="Exit with 1 where a figure is beyond a limit, such as 'any>5%'; FIGURE.lower and FIGURE.upper are the"
        " ends of its interval. May be given several times.",
    ),
]
FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIGURE=LIMIT",
        help="Exit with 1 where a figure is under a limit; FIGURE.lower is the lower end of its interval. May be given"
        " several times.",
    ),
]
JUnit = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write the outcome of each limit as JUnit XML.")
]
Summary = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Append the outcome of each limit to a Markdown file, as CI shows it."),
]


def gates_of(
    given: Sequence[str] | None, read: "Callable[[str], Gate]", junit: Path | None, summary: Path | None
) -> "list[Gate]":
    """The limits that were asked for, read before any work is done."""
    if not given and (junit or summary):
        raise UsageError(f"{'--junit' if junit else '--summary'} has no effect: there is no limit", "Give one as well.")
    return [read(text) for text in given or ()]


def settle(
    gates: "Sequence[Gate]",
    figures: "Mapping[str, Estimate]",
    title: str,
    junit: Path | None,
    summary: Path | None,
) -> None:
    """Decide the limits, write what became of them, and end with exit code 1 unless all are kept."""
    if not gates:
        return
    from misstep.analysis.measures.gates import decide
    from misstep.analysis.pages.gate_reports import junit_xml, markdown_summary, outcome_sentence

    outcomes = decide(gates, figures)
    if junit is not None:
        write_page("--junit", junit, junit_xml(outcomes, title))
    if summary is not None:
        earlier = summary.read_text(encoding="utf-8") if summary.is_file() else ""
        write_page("--summary", summary, f"{earlier}{markdown_summary(outcomes, title)}")
    for one in outcomes:
        say(f"misstep: {one.decision}: {plain(outcome_sentence(one))}.")
    if any(one.decision != "passed" for one in outcomes):
        raise typer.Exit(1)
