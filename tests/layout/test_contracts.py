"""The import contracts can fail: walls that are broken in a copy of the tree are named."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]

BREACHES = {
    "harness/readers/interchange/chat.py": (
        "from misstep.harness.datasets import catalogue",
        "misstep.harness.readers",
        "misstep.harness.datasets",
    ),
    "harness/journal/records.py": (
        "from misstep.harness.runs import judge",
        "misstep.harness.journal",
        "misstep.harness.runs",
    ),
    "harness/verdict.py": ("import numpy", "misstep.harness.verdict", "numpy"),
    "analysis/stats/decisions/power.py": (
        "from misstep.analysis.pages import foot",
        "misstep.analysis.stats",
        "misstep.analysis.pages",
    ),
    "analysis/gold.py": (
        "from misstep.harness.readers import files",
        "misstep.analysis.gold",
        "misstep.harness.readers",
    ),
    "analysis/provenance.py": ("from misstep.studies import flips", "misstep.analysis.provenance", "misstep.studies"),
}
"""A file of each wall → an import that breaks it, and what the contract then names."""


def test_analysis_is_kept_from_every_room_of_harness_but_the_journal() -> None:
    """A contract that forbids names no room that is still to come: this test asks for it when it comes."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (forbidden,) = (one["forbidden_modules"] for one in contracts if one.get("source_modules") == ["misstep.analysis"])
    rooms = {f"misstep.harness.{init.parent.name}" for init in (ROOT / "harness").glob("*/__init__.py")}
    assert set(forbidden) == rooms - {"misstep.harness.journal", "misstep.harness.records"}


def test_each_wall_that_is_broken_is_named(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in ("misstep", "studies", "analysis", "harness"):
        shutil.copytree(ROOT / package, tmp_path / package, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name, (breach, _, _) in BREACHES.items():
        file = tmp_path / name
        file.write_text(f"{file.read_text()}\n{breach}\n")
    (tmp_path / "harness/a_new_room.py").write_text('"""A room that no contract names."""\n')
    script = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    done = subprocess.run(
        [sys.executable, "-c", script, "--no-cache"], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    output = "".join(done.stdout.split())
    assert done.returncode == 1, done.stdout + done.stderr
    for _, importer, imported in BREACHES.values():
        assert f"{importer}isnotallowedtoimport{imported}" in output or f"{importer}->" in output, (importer, imported)
    assert "misstep.harness.a_new_room" in output
    assert output.count("BROKEN") == 5, "every contract is broken by one of these"
