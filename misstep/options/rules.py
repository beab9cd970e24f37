"""Options for project instructions, such as those of CLAUDE.md, that judges read."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from misstep.options.common import path_alone
from misstep.options.groups import OptionGroup

if TYPE_CHECKING:
    from misstep_harness.runs.project_instructions import InstructionSources


class RulesOptions(OptionGroup, frozen=True):
    """The files of project instructions, and whether they are looked for."""

    panel = "Project instructions"
    rules: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            parser=path_alone,
            help="Rules of every session for the judges, such as CLAUDE.md. May be given several times.",
        ),
    ] = None
    no_rules: Annotated[
        bool,
        typer.Option("--no-rules", help="Look for no CLAUDE.md and AGENTS.md in the folders of the sessions."),
    ] = False

    def read(self) -> "InstructionSources":
        """Return which rules count; those of the named files are read."""
        from misstep_harness.runs.project_instructions import InstructionSources, read_rules

        return InstructionSources(read_rules(self.rules or ()), find=not self.no_rules)

    @property
    def line(self) -> list[str]:
        """Return the options as they were given."""
        return [*(word for file in self.rules or () for word in ("--rules", str(file)))] + [
            "--no-rules"
        ] * self.no_rules
