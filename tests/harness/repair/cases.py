"""A small broken program as a repair case."""

from pathlib import Path

from msgspec.structs import replace

from misstep_harness.repair.case import CaseFolder, RepairCase, read_case, write_case
from misstep_harness.repair.records import RepairAttempt
from misstep_harness.trajectory import Trajectory

QUICK_PYTEST = "env PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q"
"""Starts in a third of the time, as it imports none of the plugins that stand beside pytest here."""

GOLDEN = """\
--- a/price.py
+++ b/price.py
@@ -1,5 +1,5 @@
 def total(prices):
     found = 0
     for price in prices:
-        found -= price
+        found += price
     return found
"""

BLAMED = """\
--- a/price.py
+++ b/price.py
@@ -1,2 +1,5 @@
 def total(prices):
-    return sum(prices)
+    found = 0
+    for price in prices:
+        found -= price
+    return found
"""


def price_case(folder: Path, **fields: object) -> CaseFolder:
    """A program that subtracts where it should add, with two tests of it and one of something else."""
    before = folder / "before"
    (before / "tests").mkdir(parents=True)
    (before / "price.py").write_text(
        "def total(prices):\n    found = 0\n    for price in prices:\n        found -= price\n    return found\n"
    )
    (before / "label.py").write_text("import os\n\n\ndef label(name):\n    return name.upper()\n")
    (before / "tests/test_price.py").write_text(
        "import sys\nsys.path.insert(0, '.')\nfrom price import total\n\n\n"
        "def test_sum():\n    assert total([1, 2]) == 3\n\n\ndef test_none():\n    assert total([]) == 0\n"
    )
    (before / "tests/test_label.py").write_text(
        "import sys\nsys.path.insert(0, '.')\nfrom label import label\n\n\n"
        "def test_label():\n    assert label('a') == 'A'\n"
    )
    task = "1 failure:\n1) tests/test_price.py::test_sum\nassert -3 == 3"
    case = RepairCase("price", "python", task, QUICK_PYTEST, ("tests/test_price.py::test_sum",), diffs={"1": BLAMED})
    write_case(replace(case, **fields), folder, GOLDEN)
    return read_case(folder)


def run_of(done: RepairAttempt) -> Trajectory:
    assert done.trajectory is not None
    return done.trajectory
