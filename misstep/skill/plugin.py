"""Misstep as a plug-in for coding agents: a manifest, a skill and the observer's hook, in the agent's own form.

Claude Code has its manifest in `.claude-plugin`, Codex in `.codex-plugin`; both find `skills/NAME/SKILL.md` and
`hooks/hooks.json` beside it (https://code.claude.com/docs/en/plugins-reference,
https://developers.openai.com/plugins/build/plugins).
"""

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from misstep.harness.errors import UsageError
from misstep.harness.journal.records import replace_file
from misstep.harness.journal.run_folder import make_folder
from misstep.harness.observer.hook.install import EVENTS_OF, TIMEOUT, hook_command
from misstep.harness.observer.hook.settings import AgentProgram
from misstep.harness.version import __version__

_NAME = "misstep"
_ABOUT = "Evaluate recorded runs of coding agents, and the judges that grade them, offline."


def plugin_files(agent: AgentProgram, *, hook: bool) -> dict[str, str]:
    """Return the files of the plug-in, by their paths in its folder."""
    manifest: dict[str, Any] = {"name": _NAME, "version": __version__, "description": _ABOUT, "license": "MIT"}
    if agent == "codex":  # which looks for neither by itself
        manifest |= {"skills": "./skills/"} | ({"hooks": "./hooks/hooks.json"} if hook else {})
    contents = {
        _manifest(agent): _json(manifest),
        f"skills/{_NAME}/SKILL.md": (files("misstep") / "skill" / "SKILL.md").read_text(encoding="utf-8"),
    }
    if hook:
        own = [{"hooks": [{"type": "command", "command": hook_command(()), "timeout": TIMEOUT}]}]
        contents["hooks/hooks.json"] = _json({"hooks": dict.fromkeys(EVENTS_OF[agent], own)})
    return contents


def write_plugin(folder: Path, contents: Mapping[str, str]) -> Iterator[Path]:
    """Write the files, and return their paths; a folder with anything else in it is refused."""
    there = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    ours = {_manifest("claude"), _manifest("codex"), "hooks/hooks.json", f"skills/{_NAME}/SKILL.md"}
    if others := sorted(there - ours):
        raise UsageError(f"{folder} has other files, such as {others[0]}", "Name a new folder.")
    for name in there - contents.keys():
        (folder / name).unlink()
    for name, text in contents.items():
        make_folder((folder / name).parent)
        replace_file(folder / name, text.encode())
    return (folder / name for name in contents)


def _manifest(agent: AgentProgram) -> str:
    return f".{agent}-plugin/plugin.json"


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
