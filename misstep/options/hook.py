"""Options of `misstep observe --hook`, and those that draw its arms again."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from misstep.options.groups import Only, OptionGroup
from misstep_harness.observer.arms import EXPERIMENT

if TYPE_CHECKING:
    from misstep_harness.observer.experiment.own_sessions import Assignment


class HookOptions(OptionGroup, frozen=True):
    """The options for the hook of a coding agent."""

    panel = "Hook"
    hook: Annotated[
        bool, typer.Option("--hook", help="Answer one event of a coding agent's hook on standard input.")
    ] = False
    arm_share: Annotated[
        float,
        typer.Option(min=0, max=1, metavar="PART", help="Part of the sessions that hear guidance; a hash decides."),
    ] = 1.0
    arm_by: Annotated[
        Literal["session", "project"], typer.Option(help="Draw for each session, or once for all of a project.")
    ] = "session"
    experiment: Annotated[
        str, typer.Option(metavar="NAME", help="Name that is hashed with each session, for another draw.")
    ] = EXPERIMENT
    install: Annotated[
        bool, typer.Option("--install", help="Put the hook into an agent's settings, with the options given beside it.")
    ] = False
    uninstall: Annotated[
        bool, typer.Option("--uninstall", help="Take the hook out of an agent's settings; all else in them stays.")
    ] = False
    agent: Annotated[
        Literal["claude", "codex"], typer.Option(help="Agent whose settings change: Claude Code or Codex.")
    ] = "claude"
    user: Annotated[
        bool, typer.Option("--user", help="Change the user's own settings, not those of the project in this folder.")
    ] = False
    yes: Annotated[bool, typer.Option("--yes", help="Make the change without asking.")] = False

    def assignment(self) -> "Assignment":
        """Return how the arms of sessions are drawn that no log has."""
        from misstep_harness.observer.experiment.own_sessions import Assignment

        return Assignment(self.arm_share if self.arm_share < 1 else None, self.arm_by, self.experiment)


DRAWN = Only("arm_share", "arm_by", "experiment")
