"""A command loads the modules that its work needs: at most as many of our own as `budgets.toml` gives it."""

import subprocess
import sys
from pathlib import Path

import pytest

from misstep_harness.runs.generate import GenerateOptions, write_folder
from tests.harness.repair.cases import price_case
from tests.layout.test_budgets import BUDGETS

LINES = {
    "help": ("--help",),
    "classify": ("classify", "sessions/trajectories.jsonl"),
    "judge": ("judge", "run", "infinite_loop@rule", "--benchmark", "sessions", "--out", "judged"),
    "repair": ("repair", "run", "case", "--policy", "search", "--out", "repaired"),
}
"""What is budgeted → the arguments of `misstep`."""

PRINT_MODULES = """
import sys
from misstep.__main__ import main
sys.argv[0] = "misstep"
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
own = (name for name in sys.modules if name.partition(".")[0] in {"misstep", "misstep_analysis", "misstep_harness"})
print("", *sorted(own), sep="\\n", file=sys.stderr)
"""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with generated sessions, which are a benchmark too, and a broken program."""
    folder = tmp_path_factory.mktemp("inputs")
    write_folder(folder / "sessions", GenerateOptions(6, seed=0))
    price_case(folder / "case")
    return folder


@pytest.mark.parametrize("command", LINES)
def test_a_command_loads_at_most_the_modules_of_its_budget(command: str, inputs: Path) -> None:
    line = [sys.executable, "-c", PRINT_MODULES, *LINES[command]]
    done = subprocess.run(line, cwd=inputs, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = [name for name in done.stderr.split("\n") if name.startswith("misstep") and " " not in name]
    assert "misstep.command_line" in loaded
    assert len(loaded) <= BUDGETS["loaded"][command], loaded
