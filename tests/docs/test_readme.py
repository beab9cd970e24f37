"""The README is run: each `$ misstep …` line in a console block, its output compared with what stands under it."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
BLOCKS = re.findall(r"```console\n(.*?)```", README.read_text(), flags=re.DOTALL)
EXAMPLES = [
    (command, printed)
    for block in BLOCKS
    for command, printed in re.findall(r"^\$ (misstep .*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE)
]


def _lines_match(printed: list[str], seen: list[str]) -> bool:
    """Whether the printed lines, of which one that is only an ellipsis stands for any number, are those seen."""
    if not printed:
        return not seen
    if printed[0].strip() == "…":
        return any(_lines_match(printed[1:], seen[skipped:]) for skipped in range(len(seen) + 1))
    return bool(seen) and printed[0].rstrip() == seen[0].rstrip() and _lines_match(printed[1:], seen[1:])


def test_there_is_something_to_run() -> None:
    assert {shlex.split(command)[1] for command, _ in EXAMPLES} >= {
        "classify",
        "agreement",
        "audit",
        "convert",
        "view",
        "datasets",
    }


@pytest.mark.data
@pytest.mark.parametrize(("command", "printed"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_a_command_prints_what_the_readme_says(
    command: str, printed: str, data_folder: Path, tmp_path: Path, own_cache: Path
) -> None:
    for file in (README.parent / "tests/docs").glob("*.csv"):
        shutil.copy(file, tmp_path)
    expanded = command.replace("$MISSTEP_DATA", str(data_folder))
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(expanded)],
        cwd=tmp_path,
        env=os.environ | {"MISSTEP_DATA": str(data_folder), "MISSTEP_CACHE": str(own_cache)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    seen = done.stdout.replace(str(data_folder), "$MISSTEP_DATA").splitlines()
    assert _lines_match(printed.splitlines(), seen), f"{done.stderr}\n{done.stdout}"
