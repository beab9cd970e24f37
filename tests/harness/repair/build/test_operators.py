"""Each operator plants its kind of mistake, changes nothing else, and knows nothing of the repair templates."""

import ast
from pathlib import Path

import pytest

from misstep_harness.repair import build as build_room
from misstep_harness.repair.build.operators import OPERATORS
from misstep_harness.repair.build.sets import planted
from misstep_harness.repair.build.syntax import Edit, Module, read_modules, with_edits
from tests.harness.repair.build.made_up_package import RATES, SHOP, SHOP_JS

PYTHON = read_modules("python", {"shop.py": SHOP.encode(), "rates.py": RATES.encode()})
JAVASCRIPT = read_modules("javascript", {"shop.js": SHOP_JS.encode()})

PLANTED = {
    "wrong_boundary": ("found > LIMIT", "found >= LIMIT"),
    "wrong_comparison": ("found > LIMIT", "found < LIMIT"),
    "wrong_arithmetic": ("found * rate_of", "found + rate_of"),
    "wrong_connective": ("tax and found", "tax or found"),
    "off_by_one": ("chosen[0]", "chosen[1]"),
    "inverted_condition": ("if not prices", "if prices"),
    "forgotten_condition": ("if tax and found > LIMIT", "if tax"),
    "swapped_arguments": ("round(found, rounding)", "round(rounding, found)"),
    "dropped_argument": ("round(found, rounding)", "round(found)"),
    "wrong_key": ('rate_of("plain")', 'rate_of("plains")'),
    "wrong_default": ("tax=True", "tax=False"),
    "changed_signature": ("cheapest(prices, skip)", "cheapest(skip, prices)"),
    "missing_guard": ("    if not prices:\n        return 0\n", ""),
    "missing_branch": ("    else:\n        found = found - 0\n", ""),
    "copied_branch": ("found = found - 0", 'found = found * rate_of("plain")'),
    "missing_return": ("return max(chosen[0], 1)", "max(chosen[0], 1)"),
    "swapped_statements": (
        "    best = sorted(prices)\n    chosen = best[skip:]\n",
        "    chosen = best[skip:]\n    best = sorted(prices)\n",
    ),
    "lost_update": ("found += price", "found = price"),
    "removed_error_handling": (
        "    try:\n        found = round(found, rounding)\n    except TypeError:\n        found = None\n",
        "    found = round(found, rounding)\n",
    ),
    "unwritten_body": (
        "    best = sorted(prices)\n    chosen = best[skip:]\n    return max(chosen[0], 1)\n",
        "    raise NotImplementedError\n",
    ),
    "unfinished_body": ("    chosen = best[skip:]\n    return max(chosen[0], 1)\n", ""),
}


def _texts(modules: dict[str, Module], operator: str) -> set[str]:
    return {
        text.decode()
        for module in modules.values()
        for fault in OPERATORS[operator].faults(operator, module)
        for text in planted([fault], modules).values()
    }


@pytest.mark.parametrize("operator", sorted(PLANTED))
def test_an_operator_plants_its_mistake_and_keeps_the_rest(operator: str) -> None:
    right, wrong = PLANTED[operator]
    assert right in SHOP
    assert SHOP.replace(right, wrong, 1) in _texts(PYTHON, operator)


def test_a_name_is_changed_in_its_own_file_while_another_goes_on_with_the_old_one() -> None:
    assert RATES.replace("rate_of", "rate_of_of", 1) in _texts(PYTHON, "incomplete_rename")


def test_a_variable_and_a_body_are_taken_from_their_neighbours() -> None:
    for text in _texts(PYTHON, "wrong_variable"):
        right = SHOP if "LIMIT" in text else RATES
        pairs = list(zip(right.splitlines(), text.splitlines(), strict=True))
        assert sum(one != other for one, other in pairs) == 1
    (copied,) = _texts(PYTHON, "copied_body")
    assert copied.count('known = {"plain": 2, "food": 1}') == 2


@pytest.mark.parametrize(("language", "modules"), [("python", PYTHON), ("javascript", JAVASCRIPT)])
def test_what_is_planted_is_a_change_that_parses(language: str, modules: dict[str, Module]) -> None:
    texts = {operator: _texts(modules, operator) for operator in OPERATORS}
    assert sum(map(bool, texts.values())) >= 12
    for operator, text in ((name, text) for name, some in texts.items() for text in some):
        assert text.encode() not in {module.source for module in modules.values()}, operator
        assert read_modules(language, {"planted": text.encode()}) or operator == "missing_branch", operator


def test_edits_that_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        with_edits(b"abcdef", (Edit(0, 3, b"x"), Edit(2, 4, b"y")))
    assert with_edits(b"abcdef", (Edit(3, 6, b"y"), Edit(0, 3, b"x"))) == b"xy"


def test_files_that_do_not_parse_are_no_modules() -> None:
    assert read_modules("python", {"a.py": b"def (\n", "b.py": b"x = 1\r\n", "c.py": b"x = 1"}) == {}


def test_operators_and_repair_templates_do_not_know_each_other() -> None:
    build = Path(build_room.__file__).parent
    for folder, other in (
        (build, "misstep_harness.repair.search"),
        (build.parent / "search", "misstep_harness.repair.build"),
    ):
        for file in folder.rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                assert not [name for name in names if name.startswith(other)], file
