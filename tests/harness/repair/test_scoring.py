"""A case is laid out alike each time, and tests beside the oracle's say what a patch does that passes."""

from pathlib import Path

import pytest

from misstep.harness.repair.scoring import open_case, score
from misstep.harness.workspace import Sandbox
from tests.harness.repair.cases import price_case


def test_hashes_are_the_same_in_every_run_of_a_case(tmp_path: Path, sandbox: Sandbox) -> None:
    with open_case(price_case(tmp_path / "price"), sandbox) as workspace:
        found = [workspace.run(["python", "-c", "print(hash('a'))"]) for _ in range(2)]
    assert found[0].output == found[1].output
    assert found[0].exit_code == 0


RIGHT = "def total(prices):\n    return sum(prices)\n"
BY_ACCIDENT = "def total(prices):\n    return 3\n"
HELD_OUT = (
    "import sys\nsys.path.insert(0, '.')\nfrom price import total\n\n\ndef test_other():\n    assert total([4]) == 4\n"
)


@pytest.mark.parametrize(("text", "held_out"), [(RIGHT, True), (BY_ACCIDENT, False)])
def test_tests_that_no_agent_sees_tell_a_patch_that_passes_by_accident(
    text: str, held_out: bool, tmp_path: Path, sandbox: Sandbox
) -> None:
    case = price_case(tmp_path / "price")
    (case.folder / "held_out/tests").mkdir(parents=True)
    (case.folder / "held_out/tests/test_more.py").write_text(HELD_OUT)
    report, signals = score(case, {"price.py": text.encode()}, "", sandbox)
    assert report.passed
    assert {one.validator: one.passed for one in signals}["held_out"] is held_out


def test_a_suite_that_is_the_oracle_alone_is_no_second_opinion(tmp_path: Path, sandbox: Sandbox) -> None:
    case = price_case(tmp_path / "price", oracle=("tests/test_price.py",))
    (case.before / "tests/test_label.py").unlink()
    _, signals = score(case, {"price.py": RIGHT.encode()}, "", sandbox)
    assert {one.validator: one.passed for one in signals}["suite"] is None
