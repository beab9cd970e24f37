"""The skill in `examples` has the form of Claude Code and Codex, and its command lines all exist."""

import json
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
import typer
import yaml

from misstep.command_line import LINES
from misstep_harness.observer.hook.settings import EVENTS_OF, AgentProgram, is_ours
from misstep_harness.version import __version__
from tests.docs.documents import ROOT

FOLDER = ROOT / "examples/agent_skill"
SKILL = (FOLDER / "skills/misstep/SKILL.md").read_text()
_, HEAD, BODY = SKILL.split("---\n", 2)
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
TOLD = [*re.findall(r"`(misstep [^`]+)`", BODY), *re.findall(r"^(misstep .+)$", BODY, re.MULTILINE)]


def _files(folder: Path) -> set[str]:
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("line", [*TOLD, *(hook["entry"] for hook in HOOKS)])
def test_every_command_line_exists_with_its_options(line: str) -> None:
    _, name, *words = shlex.split(line)
    if name == "COMMAND":  # any
        return
    command = typer.main.get_command(import_module(LINES[name][0]).app)
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known | {"--help"}


def test_the_skill_has_the_head_that_agents_read() -> None:
    head = yaml.safe_load(HEAD)
    assert set(head) == {"name", "description"}
    assert head["name"] == "misstep"
    assert 200 < len(head["description"]) <= 1024
    assert len(SKILL.splitlines()) < 500
    assert len(TOLD) > 20


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_the_folder_has_the_agents_form(agent: AgentProgram) -> None:
    manifest = json.loads((FOLDER / f".{agent}-plugin/plugin.json").read_text())
    assert (manifest["name"], manifest["version"]) == ("misstep", __version__)
    named = [path for path in manifest.values() if path.startswith("./")]
    assert all((FOLDER / path).exists() for path in named)
    assert len(named) == (2 if agent == "codex" else 0)


def test_the_hook_asks_for_the_events_that_the_observer_reads() -> None:
    hooks = json.loads((FOLDER / "hooks/hooks.json").read_text())
    assert set(hooks) == {"hooks"}  # Codex refuses a file with other keys
    assert tuple(hooks["hooks"]) == EVENTS_OF["claude"]
    commands = {one["command"] for groups in hooks["hooks"].values() for group in groups for one in group["hooks"]}
    assert all(map(is_ours, commands))


def test_the_hooks_of_pre_commit_have_the_form_that_it_reads() -> None:
    load = pytest.importorskip("pre_commit.clientlib").load_manifest
    assert [hook["id"] for hook in load(ROOT / ".pre-commit-hooks.yaml")] == [hook["id"] for hook in HOOKS]
