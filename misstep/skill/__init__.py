"""`misstep skill`: a plug-in for a coding agent, with a skill and the observer's hook."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from misstep.harness.escaping import printable
from misstep.options.common import command_app

app = command_app()

_NEXT = {
    "claude": "Try it: claude --plugin-dir {out}",
    "codex": "Name it in .agents/plugins/marketplace.json of yours, and add it: codex plugin add misstep",
}


@app.command()
def skill(
    out: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of the plug-in: a new one, or that of an earlier one.")
    ],
    agent: Annotated[
        Literal["claude", "codex"], typer.Option(help="Agent whose form it has: Claude Code or Codex.")
    ] = "claude",
    without_hook: Annotated[
        bool, typer.Option("--without-hook", help="Leave out the hook by which the observer watches a session.")
    ] = False,
) -> None:
    """Write a plug-in for a coding agent: when to use which command, and what may not be concluded.

    The folder has the agent's own form: a manifest, the skill `misstep`, and the hook of `misstep observe --hook`. An
    agent that has the hook from `misstep observe --install` needs it no second time.
    """
    from misstep.skill.plugin import plugin_files, write_plugin

    files = plugin_files(agent, hook=not without_hook)
    for file in write_plugin(out, files):
        print(printable(str(file)))
    print(_NEXT[agent].format(out=printable(str(out))))
