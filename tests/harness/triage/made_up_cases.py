"""Small triage cases made of a few texts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from misstep_harness.trajectory import Outcome, Source, Step, ToolCall, ToolResult, Trajectory
from misstep_harness.triage.records import TriageCase, read_triage_case

TEST = """import unittest
from price import total


class Totals(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2]), 3)


if __name__ == "__main__":
    unittest.main()
"""


RIGHT = "def total(values):\n    return sum(values)\n"
COMMAND = "python -m unittest tests/test_price.py"


def triage_case(folder: Path, files: Mapping[str, str] | None = None, description: str = "") -> TriageCase:
    """A case in a new folder: path in it → text; `price.py` is right in the solution alone."""
    given = {
        "case.toml": f'id = "one"\ntest_command = "{COMMAND}"\noutcome = "failed"\n{description}',
        "instruction.md": "Write `total(values)` in price.py. It gives the sum of the values.\n",
        "environment/price.py": "def total(values):\n    return 0\n",
        "workspace/price.py": "def total(values):\n    return len(values)\n",
        "solution/price.py": RIGHT,
        "tests/test_price.py": TEST,
        **(files or {}),
    }
    for path, text in given.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return read_triage_case(folder)


def a_run(*steps: Step, **parts: Any) -> Trajectory:
    return Trajectory("run-1", Source("misstep"), "Write total.", steps, Outcome("failed"), **parts)


def shell(command: str, output: str = "", exit_code: int | None = 0, text: str = "") -> Step:
    return Step(
        "agent",
        text,
        calls=(ToolCall("bash", {"command": command}),),
        results=(ToolResult(output, exit_code=exit_code),),
    )


def written(run: Trajectory) -> str:
    """A run as a file holds it."""
    return msgspec.json.encode(run).decode()
