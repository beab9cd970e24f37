"""Made-up sets of broken programs, in the form of the public ones."""

import gzip
import json
from pathlib import Path

FIX: dict[str, object] = {
    "id": "Python/7",
    "declaration": "def double(a):\n",
    "buggy": "    return a + 1\n",
    "correct": "    return a + a\n",
    "test": "def check(double):\n    assert double(3) == 6\n\ncheck(double)",
}
BUG: dict[str, object] = {
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


def made_up_set(folder: Path, *cases: dict[str, object]) -> Path:
    folder.mkdir()
    with gzip.open(folder / "cases.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(case) + "\n" for case in cases)
    (folder / "support.json").write_text(json.dumps(SUPPORT))
    return folder
