"""`misstep observe --install` and `--uninstall`: the change is shown, and made when it is agreed to."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from misstep_harness.errors import UsageError
from misstep_harness.escaping import printable
from misstep_harness.observer.arms import EXPERIMENT

if TYPE_CHECKING:
    from misstep.options.hook import HookOptions
    from misstep.options.model import ModelOptions


def hook_options(every: int | None, detector: str, categories: str, guidance: str, hooked: "HookOptions") -> list[str]:
    """Return the options of the observer that a hook is installed with."""
    values = {
        "--every": every,
        "--detector": "" if detector == "rules" else detector,
        "--categories": categories,
        "--guidance": guidance,
        "--arm-share": None if hooked.arm_share == 1.0 else hooked.arm_share,
        "--arm-by": "" if hooked.arm_by == "session" else hooked.arm_by,
        "--experiment": "" if hooked.experiment == EXPERIMENT else hooked.experiment,
    }
    return _words(values)


def model_options(asking: "ModelOptions") -> list[str]:
    """Return the options of the model that a hook is installed with; the key stays in the environment."""
    values = {
        "--model": asking.model,
        "--base-url": asking.base_url,
        "--max-cost": asking.max_cost,
        "--price-in": asking.price_in,
        "--price-out": asking.price_out,
        "--cache": str(asking.cache.resolve()) if asking.cache else "",
        "--replay": str(asking.replay.resolve()) if asking.replay else "",
    }
    return _words(values)


def _words(values: dict[str, "str | float | None"]) -> list[str]:
    return [word for name, value in values.items() if value not in (None, "") for word in (name, str(value))]


def change_settings(hooked: "HookOptions", options: list[str]) -> None:
    """Show what changes in the settings of an agent, ask, and write it."""
    from misstep_harness.observer.hook.settings import hook_command, installed, settings_file, uninstalled

    if hooked.install and hooked.uninstall:
        raise UsageError("--install and --uninstall are both given", "Give one of them.")
    named = settings_file(hooked.agent, None if hooked.user else Path.cwd())
    file = named.resolve()  # the project may have links: what is shown, asked for and written is one file
    is_outside = not hooked.user and not file.is_relative_to(Path.cwd().resolve())
    change = installed(file, hooked.agent, hook_command(options)) if hooked.install else uninstalled(file)
    if change.before == change.after:
        print(f"{printable(str(file))} {'has the hook already' if hooked.install else 'has no hook of Misstep'}.")
        return
    print(printable(change.diff()), end="")
    if hooked.yes and is_outside:
        advice = "Leave out --yes to be asked, or give --user for your own settings."
        raise UsageError(f"{named} is a link to {file}, outside of the project", advice)
    link = " The project has a link to it, and it is outside of the project." if is_outside else ""
    if not hooked.yes and not typer.confirm(f"Change {printable(str(file))}?{link}", default=False):
        print("Nothing was changed.")
        raise typer.Exit(1)
    change.write()
    print(f"{'Changed' if change.after is not None else 'Removed'} {printable(str(file))}.")
    if hooked.install and hooked.agent == "codex":
        print("Codex runs the hook once you trust it: type /hooks in Codex.")
    if hooked.install and "--model" in options:
        print("The hook takes the key from OPENAI_API_KEY in the environment of the agent.")
