"""Public statistics have an example in their docstring, and what it shows is what comes out."""

import doctest
import pkgutil
from importlib import import_module
from inspect import getmembers, isfunction
from types import ModuleType

import pytest

from misstep.analysis import stats
from tests.analysis.stats import alternatives

MODULES = [
    import_module(module.name)
    for package in (stats, alternatives)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]

WITH_EXAMPLES = (
    "agreement",
    "clustered",
    "coefficients",
    "correction",
    "diagnostic",
    "marginal_homogeneity",
    "paired",
    "paired_rates",
    "pass_at_k",
    "proportions",
    "two_proportions",
)


def named(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


@pytest.mark.parametrize("module", MODULES, ids=named)
def test_what_an_example_shows_is_what_comes_out(module: ModuleType) -> None:
    found = doctest.testmod(module)
    assert found.failed == 0
    assert found.attempted or named(module) not in WITH_EXAMPLES


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_every_public_statistic_has_an_example(name: str) -> None:
    (module,) = (one for one in MODULES if named(one) == name and one.__name__.startswith(stats.__name__))
    own = [function for _, function in getmembers(module, isfunction) if function.__module__ == module.__name__]
    public = [function for function in own if not function.__name__.startswith("_")]
    assert public
    assert [function.__name__ for function in public if ">>>" not in (function.__doc__ or "")] == []


def test_a_statistic_of_a_table_also_takes_two_lists_of_labels() -> None:
    first, second = ["yes"] * 6 + ["no"] * 4, ["yes"] * 5 + ["no"] * 3 + ["yes"] * 2
    table = [[2, 2], [1, 5]]
    agreement = import_module("misstep.analysis.stats.raters.agreement")
    homogeneity = import_module("misstep.analysis.stats.raters.marginal_homogeneity")
    assert agreement.cohen_kappa(first, second=second) == agreement.cohen_kappa(table)
    assert homogeneity.stuart_maxwell(first, second) == homogeneity.stuart_maxwell(table)
