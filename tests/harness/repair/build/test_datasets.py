"""Public sets of broken programs as case folders, from files of the same form."""

from pathlib import Path

import pytest

from misstep_harness.errors import InputError, UsageError
from misstep_harness.repair.build.datasets import drawn, write_cases
from misstep_harness.repair.scoring import open_case, oracle_report
from misstep_harness.workspace import Sandbox
from tests.harness.repair.build.made_up_sets import BUG, FIX, made_up_set


@pytest.mark.parametrize(("name", "case"), [("humanevalfix", FIX), ("quixbugs", BUG)])
def test_a_program_becomes_a_case_whose_oracle_fails(name, case, tmp_path, sandbox) -> None:
    [folder] = write_cases(name, made_up_set(tmp_path / "set", case), tmp_path / "cases", sandbox)
    assert "1 test failed" in folder.case.task
    assert folder.case.extra == {"dataset": name}
    golden = folder.golden()
    assert golden is not None
    with open_case(folder, sandbox) as workspace:
        path = "program.py" if name == "humanevalfix" else "python_programs/halves.py"
        mended = {"program.py": str(FIX["declaration"]) + str(FIX["correct"])}
        mended["python_programs/halves.py"] = str(BUG["buggy"]).replace("/", "//")
        workspace.write(path, mended[path].encode())
        assert oracle_report(workspace, folder.case).passed


def test_a_set_that_is_not_known_and_a_check_that_is_not_called_are_refused(tmp_path: Path, sandbox: Sandbox) -> None:
    with pytest.raises(UsageError, match="quixbugs"):
        write_cases("nothing", tmp_path, tmp_path, sandbox)
    folder = made_up_set(tmp_path / "set", {**FIX, "test": "def check(double):\n    pass\n"})
    with pytest.raises(InputError, match="not called"):
        write_cases("humanevalfix", folder, tmp_path / "cases", sandbox)


def test_so_many_cases_are_drawn_by_chance_and_written_several_at_a_time(tmp_path: Path, sandbox: Sandbox) -> None:
    bugs = [{**FIX, "id": f"Python/{n}"} for n in range(9)]
    folder = made_up_set(tmp_path / "set", *bugs)
    first, again, other = (drawn("humanevalfix", folder, 2, seed) for seed in (0, 0, 1))
    assert first == again != other
    assert (drawn("humanevalfix", folder, None, 0), len(drawn("humanevalfix", folder, 99, 0) or ())) == (None, 9)
    cases = write_cases("humanevalfix", folder, tmp_path / "cases", sandbox, first, workers=2)
    assert {case.case.id for case in cases} == first == {path.name for path in (tmp_path / "cases").iterdir()}
