"""Public statistics have an example in their docstring, and what it shows is what comes out."""

import doctest
import pkgutil
from importlib import import_module
from inspect import getmembers, isfunction
from types import ModuleType

import pytest

from misstep_analysis import stats

MODULES = [import_module(one.name) for one in pkgutil.walk_packages(stats.__path__, f"{stats.__name__}.")]

WITH_EXAMPLES = (
    "agreement",
    "clustered",
    "coefficients",
    "correction",
    "diagnostic",
    "marginal_homogeneity",
    "paired",
    "pass_at_k",
    "proportions",
    "two_proportions",
)


def named(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


@pytest.mark.parametrize("module", MODULES, ids=named)
def test_what_an_example_shows_is_what_comes_out(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.failed == 0
    assert result.attempted or named(module) not in WITH_EXAMPLES


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_every_public_statistic_has_an_example(name: str) -> None:
    (module,) = (one for one in MODULES if named(one) == name)
    own = [function for _, function in getmembers(module, isfunction) if function.__module__ == module.__name__]
    public = [function for function in own if not function.__name__.startswith("_")]
    assert public
    assert [function.__name__ for function in public if ">>>" not in (function.__doc__ or "")] == []
