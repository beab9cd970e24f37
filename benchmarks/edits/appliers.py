"""Who applies an edit: Misstep in this process, the others in an environment of their own below the cache folder."""

import json
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from benchmarks.edits.damages.cases import Case
from benchmarks.edits.made_edits import PATH
from misstep.harness.edits import apply_edit
from misstep.harness.errors import EditRefused
from misstep.harness.places import cache_folder

PACKAGES = ("whatthepatch==1.0.7", "codex-apply-patch==0.4.0", "diff-match-patch==20241021", "tqdm==4.70.1")
AIDER = "aider-chat==0.86.2"
"""Only its modules that apply edits are read, from the wheel; it is not installed."""

TOOLS: Mapping[str, tuple[str, ...]] = {
    "search_replace": ("Aider, diff",),
    "unified_diff": ("git apply", "patch -p1", "whatthepatch", "Aider, udiff"),
    "line_diff": (),
    "patch_envelope": ("codex-apply-patch", "Aider, patch"),
}


class Outcome(Struct, frozen=True):
    """What became of the file; `applied` is whether the tool said that it applied the reply."""

    file: str | None
    applied: bool
    said: str = ""
    outside: list[str] = []


def ours(cases: Sequence[Case]) -> Iterator[Outcome]:
    """Misstep's outcomes, in order."""
    for case in cases:
        try:
            done = apply_edit(case.format, case.reply, {PATH: case.file}.get, PATH)
            yield Outcome(done.files.get(PATH, case.file), True, outside=sorted(done.files.keys() - {PATH}))
        except EditRefused as refused:
            yield Outcome(case.file, False, f"{refused.reason}: {refused}")


def theirs(tool: str, cases: Sequence[Case], environment: Path) -> Iterator[Outcome]:
    """Return the outcomes of one of the others, in order."""
    command = [environment / "venv/bin/python", Path(__file__).with_name("outside.py"), environment / "sources"]
    requests = [{"tool": tool, "reply": case.reply, "path": PATH, "file": case.file} for case in cases]
    written = "".join(f"{json.dumps(one)}\n" for one in requests)
    ended = subprocess.run(command, input=written, capture_output=True, text=True, check=True)
    for line in ended.stdout.splitlines():
        yield Outcome(**json.loads(line))


def environment() -> Path | None:
    """Return the folder with the others' packages, made when it is first needed; `None` where they cannot be had."""
    folder = cache_folder() / "benchmarks" / "appliers"
    done = folder / "complete"
    if done.is_file() and done.read_text() == f"{PACKAGES} {AIDER}":
        return folder
    python = folder / "venv/bin/python"
    try:
        venv.create(folder / "venv", with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
        download = [python, "-m", "pip", "download", "-q", "--no-deps", AIDER, "-d", folder / "wheels"]
        subprocess.run(download, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"the appliers of others cannot be installed: {error}", file=sys.stderr)
        return None
    for wheel in (folder / "wheels").glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(
                folder / "sources", [one for one in archive.namelist() if one.startswith("aider/coders/")]
            )
    done.write_text(f"{PACKAGES} {AIDER}")
    return folder
