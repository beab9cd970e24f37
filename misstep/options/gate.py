"""Options of the commands that can stop a pipeline, and what they do with the outcomes."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from misstep.options.common import write_page
from misstep.options.groups import Only, OptionGroup
from misstep_harness.errors import UsageError
from misstep_harness.escaping import plain
from misstep_harness.progress import say

if TYPE_CHECKING:
    from misstep_analysis.judging.gates import Gate
    from misstep_analysis.stats.estimate import Estimate


_FailOn = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIGURE>LIMIT",
        help="Exit with 1 where a figure is beyond a limit, such as 'any>5%'; FIGURE.lower and FIGURE.upper are"
        " the ends of its interval. May be given several times.",
    ),
]
_FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIGURE=LIMIT",
        help="Exit with 1 where a figure is under a limit; FIGURE.lower is the lower end of its interval. May be"
        " given several times.",
    ),
]


class GateOptions(OptionGroup, frozen=True):
    """Limits on figures, which decide the exit code, and the files with their outcome."""

    panel = "Limits"
    fail_on: _FailOn = None
    fail_under: _FailUnder = None
    undecided: Annotated[
        Literal["fail", "pass"] | None,
        typer.Option(
            help="Decide a figure only if all of its interval is on one side of the limit, and otherwise let it fail or"
            " pass; without this option the figure itself decides."
        ),
    ] = None
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write the outcome of each limit as JUnit XML.")
    ] = None
    summary: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Append the outcome of each limit to a Markdown file, as CI shows it."),
    ] = None

    def gates(self, figures: Collection[str] = ()) -> "list[Gate]":
        """Return the limits that were asked for, read before any work is done, and held against known names."""
        if not any((self.fail_on, self.fail_under, self.undecided, self.junit, self.summary)):
            return []
        from misstep_analysis.judging.gates import check_known, fail_on, fail_under

        limits = [*map(fail_on, self.fail_on or ()), *map(fail_under, self.fail_under or ())]
        others = {"--undecided": self.undecided, "--junit": self.junit, "--summary": self.summary}
        option = next((name for name, value in others.items() if value), "")
        if not limits and option:
            raise UsageError(f"{option} has no effect without a limit", "Give one as well.")
        if figures:
            check_known(limits, figures)
        return limits

    def settle(self, gates: "Sequence[Gate]", figures: "Mapping[str, Estimate]", title: str) -> None:
        """Decide the limits, write what became of them, and end with exit code 1 if one of them stops."""
        if not gates:
            return
        from misstep_analysis.judging.gates import decide, junit_xml, markdown_summary, outcome_sentence

        outcomes = decide(gates, figures, self.undecided)
        if self.junit is not None:
            write_page("--junit", self.junit, junit_xml(outcomes, title))
        if self.summary is not None:
            earlier = self.summary.read_text(encoding="utf-8") if self.summary.is_file() else ""
            write_page("--summary", self.summary, f"{earlier}{markdown_summary(outcomes, title)}")
        for one in outcomes:
            say(f"misstep: {one.decision}: {plain(outcome_sentence(one))}.")
        if any(one.stops for one in outcomes):
            raise typer.Exit(1)


ABOVE = Only("fail_on", "undecided", "junit", "summary")
BELOW = Only("fail_under", "undecided", "junit", "summary")
