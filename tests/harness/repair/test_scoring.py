"""A case is laid out alike each time, so that its tests find the same in every run."""

from pathlib import Path

from harness.repair.scoring import open_case
from harness.workspace import Sandbox
from tests.harness.repair.cases import price_case


def test_hashes_are_the_same_in_every_run_of_a_case(tmp_path: Path, sandbox: Sandbox) -> None:
    with open_case(price_case(tmp_path / "price"), sandbox) as workspace:
        found = [workspace.run(["python", "-c", "print(hash('a'))"]) for _ in range(2)]
    assert found[0].output == found[1].output
    assert found[0].exit_code == 0
