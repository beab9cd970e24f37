"""Options of the commands that run code in a sandbox."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from misstep.options.groups import Only, OptionGroup
from misstep_harness.errors import UsageError
from misstep_harness.progress import say

if TYPE_CHECKING:
    from misstep_harness.observer.observer import LiveObservation


Show = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="DIR",
        help="Folder that the sandbox shows too, read-only: a checkout, a case and a target cannot ask for one.",
    ),
]


class SandboxOptions(OptionGroup, frozen=True):
    """Which sandbox runs the code."""

    panel = "Sandbox"
    sandbox: Annotated[str, typer.Option(help="Sandbox: auto, bubblewrap or sandlock.")] = "auto"
    unsafe_no_sandbox: Annotated[
        bool, typer.Option("--unsafe-no-sandbox", help="Run the code without a sandbox, with limits alone.")
    ] = False
    show: Show = None

    @property
    def place(self) -> str:
        """Return the name by which the sandbox is found."""
        return "unsandboxed" if self.unsafe_no_sandbox else self.sandbox

    def warn(self, what: str) -> None:
        """Say on stderr that something runs without a sandbox."""
        if self.unsafe_no_sandbox:
            say(f"misstep: {what} without a sandbox, as --unsafe-no-sandbox asks.")


NEVER_WITHOUT = Only("sandbox", "show")


_Observe = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Detector that looks on in real time: rules, prompted, or package.module:Class.",
    ),
]
_ObserveEvery = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Steps of the agent between two questions; by default 1 for rules, 5 for others."
    ),
]


class ObserveOptions(OptionGroup, frozen=True):
    """The observer beside the agent, in real time."""

    panel = "Observer"
    observe: _Observe = ""
    observe_every: _ObserveEvery = None
    observe_mode: Annotated[
        Literal["guide", "shadow"], typer.Option(help="Tell the agent, or only record what is seen.")
    ] = "guide"

    def observation(self, model: str) -> "LiveObservation | None":
        """Return how the agent is observed, by a detector that may ask `model`; `None` where nobody looks on."""
        if not self.observe:
            if self.observe_every is not None or self.observe_mode != "guide":
                raise UsageError("an observer's options without an observer", "Name its detector with --observe.")
            return None
        from misstep_harness.observer.detectors import asks_a_model, check_model, detector_named
        from misstep_harness.observer.detectors import steps_between_questions as between
        from misstep_harness.observer.observer import LiveObservation

        check_model(self.observe, model, alone=False)
        detector_named(self.observe)
        named = model if asks_a_model(self.observe) else ""
        return LiveObservation(self.observe, self.observe_every or between(self.observe), self.observe_mode, named)
