"""What the Makefile's targets would run."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_notebooks_are_served_to_this_machine_alone_and_root_may_do_so():
    output = subprocess.run(["make", "-n", "lab"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "jupyter lab --ip=127.0.0.1 --allow-root notebooks" in output


def test_the_real_model_is_fetched_by_its_own_target_alone():
    def commands(target: str) -> str:
        return subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert "scripts/real_model.py fetch" in commands("real-model")
    assert not any("real_model" in commands(target) for target in ("test", "lint", "reproduce", "setup"))
