"""Every public definition is reached from a command, a notebook, an example or an entry point.

Tests and benchmarks do not count. A name is followed to its module, so that two definitions of one name are two.
"""

import ast

from tests.layout.reached import unreached
from tests.layout.sources import MODULES, tree_of


def test_every_public_definition_is_reached_by_a_user() -> None:
    left = [f"{path}: {name}" for path, name, _ in unreached({path: tree_of(path) for path in MODULES})]
    assert [one for one in left if not one.rpartition(" ")[2].startswith("_")] == [], "give it a door, or delete it"


def test_a_definition_that_shares_its_name_with_another_one_has_to_be_reached_itself() -> None:
    trees = {
        "misstep/__main__.py": ast.parse("from misstep_harness.used import rate\nrate()"),
        "harness/misstep_harness/used.py": ast.parse("def rate(): ..."),
        "harness/misstep_harness/unused.py": ast.parse("def rate(): ..."),
    }
    assert [path for path, *_ in unreached(trees)] == ["harness/misstep_harness/unused.py"]
