"""The documents are run: each line of a console block that begins with `$` prints what stands under it."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from misstep_harness.observer.hook.call import EVENTS
from misstep_harness.observer.hook.settings import installed_hooks
from tests.docs.documents import DOCUMENTS, EVERYTHING, ROOT
from tests.local_model import model_is_here
from tests.misstep.as_a_user import misstep

_OF_DOCUMENTS = {path: re.findall(r"```console\n(.*?)```", text, re.DOTALL) for path, text in DOCUMENTS.items()}
_TUTORIAL = "docs/tutorial.md"
BLOCKS = ["".join(_OF_DOCUMENTS.pop(_TUTORIAL)), *(block for blocks in _OF_DOCUMENTS.values() for block in blocks)]
"""The blocks of all documents; the tutorial is one story, in one folder."""

COMMAND = re.compile(r"^\$ ((?:misstep|sh examples/|timeout|cmp) ?.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
MISSTEP = (sys.executable, "-m", "misstep")
Block = list[tuple[str, str]]
"""The commands of a block with what stands under them; they run one after the other in one folder."""

BLOCKS_OF_COMMANDS: list[Block] = [block for block in (COMMAND.findall(text) for text in BLOCKS) if block]


def _by_first_command(blocks: Iterable[Block]) -> list[list[Block]]:
    alike: dict[str, list[Block]] = {}
    for block in blocks:
        alike.setdefault(block[0][0], []).append(block)
    return list(alike.values())


ALIKE = _by_first_command(BLOCKS_OF_COMMANDS)
"""Blocks that begin with the same command, which runs once for all of them."""


def _lines_match(printed: list[str], seen: list[str]) -> bool:
    """Whether the printed lines, of which one that is only an ellipsis stands for any number, are those seen."""
    if not printed:
        return not seen
    if printed[0].strip() == "…":
        return any(_lines_match(printed[1:], seen[skipped:]) for skipped in range(len(seen) + 1))
    return bool(seen) and printed[0].rstrip() == seen[0].rstrip() and _lines_match(printed[1:], seen[1:])


def test_there_is_something_to_run() -> None:
    commands = {tuple(shlex.split(command)[1:3]) for block in BLOCKS_OF_COMMANDS for command, _ in block}
    named = "classify observe agreement pass audit convert view datasets judge report"
    assert {first for first, *_ in commands} >= set(named.split())
    of_judge = {second for first, *rest in commands if first == "judge" for second in rest}
    assert of_judge >= {"run", "compare", "calibrate"}


def test_a_link_leads_to_a_file_or_a_heading() -> None:
    broken = []
    for path, text in DOCUMENTS.items():
        for target in re.findall(r"\]\(((?!https?:)[^)\s]*)\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
            name, _, heading = target.partition("#")
            file = (ROOT / path).parent / name if name else ROOT / path
            if not file.exists() or (heading and heading not in _headings(file)):
                broken.append(f"{path}: {target}")
    assert broken == []


def _headings(file: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", file.read_text("utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_readme_is_short() -> None:
    assert DOCUMENTS["README.md"].count("\n") <= 160


def test_the_choice_that_a_reader_is_told_to_change_stands_in_the_notebook() -> None:
    match = re.search(r"In `(\w+\.ipynb)`, for example, change the floor\s+in `([^`]+)`", EVERYTHING)
    assert match
    assert match[2] in (ROOT / "notebooks" / match[1]).read_text()


def test_the_settings_of_the_hook_are_those_that_doctor_looks_for(tmp_path: Path) -> None:
    (settings,) = re.findall(r"```json\n(\{\"hooks\".*?)```", EVERYTHING, flags=re.DOTALL)
    (tmp_path / "settings.json").write_text(settings)
    results = list(installed_hooks([tmp_path / "settings.json"]))
    assert [one.event for one in results] == ["PostToolUse", "PostToolUseFailure"]
    assert set(EVENTS) > {one.event for one in results}
    assert len(settings.strip().splitlines()) == 4


def _run(words: list[str], folder: Path, environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run a line in a folder; Misstep in a fork of this process, all else as a program."""
    programs = (
        f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"  # as where its environment is active
    )
    if words[0] == "misstep":
        return misstep(*words[1:], cwd=folder, **environment, PATH=programs)
    line = [word for one in words for word in (MISSTEP if one == "misstep" else (one,))]
    settings = os.environ | environment | {"PATH": programs}
    return subprocess.run(line, cwd=folder, env=settings, capture_output=True, text=True, timeout=240, check=False)


@pytest.mark.data
@pytest.mark.parametrize("blocks", ALIKE, ids=lambda blocks: blocks[0][0][0])
def test_commands_print_what_the_documents_say(blocks, data_folder, tmp_path, own_cache) -> None:
    if any("--local" in shlex.split(command) for block in blocks for command, _ in block) and not model_is_here():
        pytest.skip("it asks the model of `make local-llm`")
    folder = tmp_path / "folder"
    shutil.copytree(ROOT / "examples", folder / "examples")
    for made_up in ("labels.csv", "label_studio.json", "figures.csv"):
        shutil.copy(ROOT / "tests/docs" / made_up, folder)
    environment = {"MISSTEP_DATA": str(data_folder), "MISSTEP_CACHE": str(own_cache)}
    _follow(blocks, folder, environment)


def _follow(blocks: list[Block], folder: Path, environment: dict[str, str]) -> None:
    """Run blocks in a folder, each from the state that it has now; a command that several go on with runs once."""
    ways = _by_first_command(block for block in blocks if block)
    for way in ways:
        kept = folder.with_name(f"before-{len(list(folder.parent.iterdir()))}")
        if len(ways) > 1:
            shutil.copytree(folder, kept, symlinks=True)
        command = way[0][0][0]
        data = environment["MISSTEP_DATA"]
        done = _run(shlex.split(command.replace("$MISSTEP_DATA", data)), folder, environment)
        seen = done.stdout.replace(data, "$MISSTEP_DATA").splitlines()
        for (_, printed), *_ in way:
            assert _lines_match(printed.splitlines(), seen), f"{command}\n{done.stderr}\n{done.stdout}"
        _follow([block[1:] for block in way], folder, environment)
        if len(ways) > 1:
            shutil.rmtree(folder)
            kept.rename(folder)
