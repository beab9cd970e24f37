"""Every statistic gives the values of independent references.

The file is `tests/reference/stats.json`, or the one that MISSTEP_ORACLES names: a list of cases with `quantity`,
`input`, `expected` and `tolerance`. A quantity that nothing computes fails, and so does a field of an expected result
that is not computed.
"""

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.errors import MisstepError
from tests.analysis.stats.quantities import Undefined, agreement, comparisons, printed, proportions

CASES = json.loads(
    Path(os.environ.get("MISSTEP_ORACLES") or Path(__file__).parents[2] / "reference" / "stats.json").read_text("utf-8")
)

QUANTITIES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    **agreement.QUANTITIES,
    **comparisons.QUANTITIES,
    **printed.QUANTITIES,
    **proportions.QUANTITIES,
}
"""Quantity → the function that computes its fields from the case's input."""

NOT_YET = {
    "cluster_bootstrap",
    "cluster_robust_two_proportion",
    "cohen_h",
    "cumulative_incidence",
    "cumulative_incidence_published",
    "design_effect_sensitivity",
    "icc_design_effect",
    "intraclass_correlation",
    "kish_effective_n",
    "mann_whitney",
    "multiclass_confusion_metrics",
    "pass_at_k",
    "pass_at_k_mean",
    "power_two_proportions",
    "power_two_proportions_arcsine",
    "precision_floor_fixed_sequence",
    "precision_floor_min_n",
    "prediction_powered_mean",
    "rogan_gladen",
    "rogan_gladen_known",
    "sample_size_two_proportions",
    "welch_t",
}
"""Quantities of statistics that do not exist here yet."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_agrees_with_an_independent_reference(case: dict[str, Any]) -> None:
    quantity = case["quantity"]
    if quantity in NOT_YET:
        pytest.skip(f"{quantity} is not computed yet")
    assert quantity in QUANTITIES, f"nothing computes {quantity}: name its function in QUANTITIES"
    expected = case["expected"]
    if "error" in expected:
        with pytest.raises((MisstepError, ValueError)):
            QUANTITIES[quantity](case["input"])
        return
    found = QUANTITIES[quantity](case["input"])
    for field in expected:
        assert field in found, f"{quantity} has no {field}"
        _compare(expected[field], found[field], _allowance(field, case["tolerance"]), field)


def test_nothing_is_both_computed_and_not_yet() -> None:
    assert not NOT_YET & QUANTITIES.keys()


@pytest.mark.parametrize(
    ("expected", "found"),
    [(0.5, 0.5001), ({"value": None, "nan_reason": "0/0"}, 0.0), ({"value": None, "nan_reason": "0/0"}, Undefined(""))],
)
def test_the_comparison_can_fail(expected: object, found: object) -> None:
    with pytest.raises(AssertionError):
        _compare(expected, found, {"abs": 1e-9}, "field")


def _allowance(field: str, tolerance: Any) -> dict[str, float]:
    """What a field may be off by: a tolerance for its kind (`abs_se`, `abs_ci`, `rel_se`, `mc_…`) comes first.

    A case with drawn and exact fields gives the exact ones `abs_exact`.
    """
    if tolerance == "exact":
        return {"abs": 0.0}
    kind = "se" if "se" in field.split("_") else "ci" if "ci" in field.split("_") else field
    for way in ("abs", "rel"):
        for name in (f"{way}_{kind}", f"mc_{way}_{kind}"):
            if name in tolerance:
                return {way: tolerance[name]}
    if "abs_exact" in tolerance:
        return {"abs": tolerance["abs_exact"]}
    return {way: tolerance[way] for way in ("abs", "rel") if way in tolerance}


def _compare(expected: Any, found: Any, allowance: dict[str, float], where: str) -> None:
    if isinstance(expected, dict) and "nan_reason" in expected:
        assert isinstance(found, Undefined), f"{where}: {found} where it is undefined: {expected['nan_reason']}"
        assert found.reason, f"{where}: undefined without a reason"
    elif isinstance(expected, dict):
        assert expected.keys() <= found.keys(), where
        for name, value in expected.items():
            _compare(value, found[name], allowance, f"{where}.{name}")
    elif isinstance(expected, list):
        assert len(expected) == len(found), where
        for position, (one, other) in enumerate(zip(expected, found, strict=True)):
            _compare(one, other, allowance, f"{where}[{position}]")
    elif isinstance(expected, bool | str):
        assert found == expected, where
    else:
        assert isinstance(found, int | float | np.number), f"{where}: {found} is no number"
        close = math.isclose(found, expected, rel_tol=allowance.get("rel", 0.0), abs_tol=allowance.get("abs", 0.0))
        assert close, f"{where}: {found} is not {expected} within {allowance}"
