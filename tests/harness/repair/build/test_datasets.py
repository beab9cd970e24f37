"""Public sets of broken programs as case folders, from files of the same form."""

import gzip
import json
from pathlib import Path

import pytest

from harness.errors import InputError, UsageError
from harness.repair.build.datasets import write_cases
from harness.repair.scoring import open_case, oracle_report
from harness.workspace import Sandbox

FIX = {
    "id": "Python/7",
    "declaration": "def double(a):\n",
    "buggy": "    return a + 1\n",
    "correct": "    return a + a\n",
    "test": "def check(double):\n    assert double(3) == 6\n\ncheck(double)",
}
BUG = {
    "id": "halves",
    "kind": "json",
    "n_cases": 2,
    "buggy": "def halves(a):\n    return a / 2\n",
    "pytest": "import pytest\nfrom load_testdata import load_json_testcases\n"
    "if pytest.use_correct:\n    raise ImportError\nfrom python_programs.halves import halves\n\n\n"
    "@pytest.mark.parametrize('data,expected', load_json_testcases('halves'))\n"
    "def test_halves(data, expected):\n    assert halves(*data) == expected\n",
    "gold_diff": "--- a/python_programs/halves.py\n+++ b/python_programs/halves.py\n@@ -1,2 +1,2 @@\n def halves(a):\n"
    "-    return a / 2\n+    return a // 2\n",
    "json_testcases": "[[4], 2]\n[[3], 1]\n",
}
SUPPORT = {
    "load_testdata": "import json\nfrom pathlib import Path\n\n\ndef load_json_testcases(name):\n"
    "    file = Path(__file__).parent / '../json_testcases' / f'{name}.json'\n"
    "    return [json.loads(line) for line in file.open()]\n",
    "testcases_node": "",
    "programs_node": "",
    "conftest": "import pytest\n\n\ndef pytest_configure(config):\n    pytest.use_correct = False\n",
}


def _set(folder: Path, case: dict[str, object]) -> Path:
    folder.mkdir()
    with gzip.open(folder / "cases.jsonl.gz", "wt") as file:
        file.write(json.dumps(case) + "\n")
    (folder / "support.json").write_text(json.dumps(SUPPORT))
    return folder


@pytest.mark.parametrize(("name", "case"), [("humanevalfix", FIX), ("quixbugs", BUG)])
def test_a_program_becomes_a_case_whose_oracle_fails(
    name: str, case: dict[str, object], tmp_path: Path, sandbox: Sandbox
) -> None:
    [folder] = write_cases(name, _set(tmp_path / "set", case), tmp_path / "cases", sandbox)
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


def test_a_set_that_is_not_known_is_refused(tmp_path: Path, sandbox: Sandbox) -> None:
    with pytest.raises(UsageError, match="quixbugs"):
        write_cases("nothing", tmp_path, tmp_path, sandbox)


def test_a_check_that_is_not_called_is_refused(tmp_path: Path, sandbox: Sandbox) -> None:
    folder = _set(tmp_path / "set", {**FIX, "test": "def check(double):\n    pass\n"})
    with pytest.raises(InputError, match="not called"):
        write_cases("humanevalfix", folder, tmp_path / "cases", sandbox)
