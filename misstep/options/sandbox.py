"""Options of the commands that run code in a sandbox."""

from typing import Annotated

import typer

from misstep.harness.progress import say
from misstep.options.groups import Only, OptionGroup


class SandboxOptions(OptionGroup, frozen=True):
    """Which sandbox runs the code."""

    panel = "Sandbox"
    sandbox: Annotated[str, typer.Option(help="Sandbox: auto, bubblewrap or sandlock.")] = "auto"
    unsafe_no_sandbox: Annotated[
        bool, typer.Option("--unsafe-no-sandbox", help="Run the code without a sandbox, with limits alone.")
    ] = False

    @property
    def place(self) -> str:
        """Return the name by which the sandbox is found."""
        return "unsandboxed" if self.unsafe_no_sandbox else self.sandbox

    def warn(self, what: str) -> None:
        """Say on stderr that something runs without a sandbox."""
        if self.unsafe_no_sandbox:
            say(f"misstep: {what} without a sandbox, as --unsafe-no-sandbox asks.")


NEVER_WITHOUT = Only("sandbox")
