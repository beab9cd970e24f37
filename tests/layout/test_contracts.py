"""The import contracts can fail: walls that are broken in a copy of the tree are named."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]

BREACHES = {
    "harness/misstep_harness/readers/interchange/chat.py": (
        "from misstep_harness.datasets import upstream",
        "misstep_harness.readers",
        "misstep_harness.datasets",
    ),
    "harness/misstep_harness/journal/records.py": (
        "from misstep_harness.runs import judge",
        "misstep_harness.journal",
        "misstep_harness.runs",
    ),
    "harness/misstep_harness/verdict.py": ("import numpy", "misstep_harness.verdict", "numpy"),
    "analysis/misstep_analysis/stats/decisions/power.py": (
        "from misstep_analysis.pages import page",
        "misstep_analysis.stats",
        "misstep_analysis.pages",
    ),
    "analysis/misstep_analysis/gold.py": (
        "from misstep_harness.readers import files",
        "misstep_analysis.gold",
        "misstep_harness.readers",
    ),
    "analysis/misstep_analysis/repair/scores.py": (
        "from misstep_analysis.triage import curation",
        "misstep_analysis.repair",
        "misstep_analysis.triage",
    ),
    "analysis/misstep_analysis/provenance.py": ("import misstep.view", "misstep_analysis", "misstep"),
}
"""A file of each wall → an import that breaks it, and what the contract then names."""


def test_analysis_is_kept_from_every_room_of_harness_but_the_journal() -> None:
    """A contract that forbids names no room that is still to come: this test asks for it when it comes."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = (one for one in contracts if one["name"].startswith("Of harness, analysis sees"))
    inside = {
        package: {f"{package}.{file.stem}" for file in (ROOT / root / package).iterdir() if _is_module(file)}
        for root, package in (("harness", "misstep_harness"), ("analysis", "misstep_analysis"))
    }
    rooms = {name for name in inside["misstep_harness"] if (ROOT / "harness" / name.replace(".", "/")).is_dir()}
    seen = {
        f"misstep_harness.{name}" for name in ("observer", "reflexive", "repair", "triage", "journal", "benchmarks")
    }
    assert set(contract["forbidden_modules"]) == rooms - seen
    assert set(contract["source_modules"]) == inside["misstep_analysis"] - {"misstep_analysis.reproduction"}


def _is_module(file: Path) -> bool:
    return (file / "__init__.py").is_file() or (file.suffix == ".py" and file.stem != "__init__")


def test_each_wall_that_is_broken_is_named(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in ("misstep", "analysis", "harness"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name, (breach, _, _) in BREACHES.items():
        file = tmp_path / name
        file.write_text(f"{file.read_text()}\n{breach}\n")
    (tmp_path / "harness/misstep_harness/a_new_room.py").write_text('"""A room that no contract names."""\n')
    script = (
        "import sys; sys.path[:0] = ['.', 'analysis', 'harness']\n"
        "from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "--no-cache"], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    output = "".join(done.stdout.split())
    assert done.returncode == 1, done.stdout + done.stderr
    for _, importer, imported in BREACHES.values():
        assert f"{importer}isnotallowedtoimport{imported}" in output or f"{importer}->" in output, (importer, imported)
    assert "misstep_harness.a_new_room" in output
    assert output.count("BROKEN") == 5, "every contract is broken by one of these"
