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

from misstep_harness.errors import MisstepError
from tests.analysis.stats.quantities import Undefined, agreement, clusters, comparisons, printed, proportions

CASES = json.loads(
    Path(os.environ.get("MISSTEP_ORACLES") or Path(__file__).parents[2] / "reference" / "stats.json").read_text("utf-8")
)

QUANTITIES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    **agreement.QUANTITIES,
    **clusters.QUANTITIES,
    **comparisons.QUANTITIES,
    **printed.QUANTITIES,
    **proportions.QUANTITIES,
}
"""Quantity → the function that computes its fields from the case's input."""

# fmt: off
NOT_OFFERED = frozenset({
    "pabak_specific_agreement", "per_category_agreement", "cluster_bootstrap", "icc_design_effect",
    "intraclass_correlation", "kish_effective_n", "paired_bootstrap", "bootstrap_bca_mean", "welch_t", "mann_whitney",
    "power_two_proportions", "power_two_proportions_arcsine", "cohen_h", "sample_size_two_proportions",
    "rogan_gladen_known", "prediction_powered_mean",
})
"""Quantities of the reference that no command, page or notebook of Misstep shows."""

FIELDS_NOT_OFFERED = frozenset({
    "z_unpooled", "chi2", "chi2_yates", "wald_ci", "exact", "z", "asymptotic_p", "cc_p", "bh", "rejected_bh",
    "jeffreys", "mcc", "balanced_accuracy", "brennan_prediger", "se_brennan_prediger", "counts_half_up",
    "counts_half_even",
})
"""The same of single fields."""
# fmt: on


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_agrees_with_an_independent_reference(case: dict[str, Any]) -> None:
    quantity = case["quantity"]
    if quantity in NOT_OFFERED:
        pytest.skip(f"Misstep does not offer {quantity}")
    assert quantity in QUANTITIES, f"nothing computes {quantity}: name its function in QUANTITIES"
    expected = case["expected"]
    if "error" in expected:
        with pytest.raises((MisstepError, ValueError)):
            QUANTITIES[quantity](case["input"])
        return
    result = QUANTITIES[quantity](case["input"])
    for field in expected.keys() - (FIELDS_NOT_OFFERED - result.keys()):
        assert field in result, f"{quantity} has no {field}"
        _compare(expected[field], result[field], _allowance(field, case["tolerance"]), field)


def _allowance(field: str, tolerance: Any) -> dict[str, float]:
    """What a field may be off by: a tolerance for its kind (`abs_se`, `abs_ci`, `rel_se`, `mc_…`) overrides the case's.

    A case with drawn and exact fields gives the exact ones `abs_exact`.
    """
    if tolerance == "exact":
        return {"abs": 0.0}
    allowance = {way: tolerance[way] for way in ("abs", "rel") if way in tolerance}
    if "abs_exact" in tolerance:
        allowance["abs"] = tolerance["abs_exact"]
    kind = "se" if "se" in field.split("_") else "ci" if "ci" in field.split("_") else field
    for way in ("abs", "rel"):
        for name in (f"{way}_{kind}", f"mc_{way}_{kind}"):
            if name in tolerance:
                allowance[way] = tolerance[name]
    return allowance


def _compare(expected: Any, result: Any, allowance: dict[str, float], where: str) -> None:
    if isinstance(expected, dict) and "nan_reason" in expected:
        assert isinstance(result, Undefined), f"{where}: {result} where it is undefined: {expected['nan_reason']}"
        assert result.reason, f"{where}: undefined without a reason"
    elif isinstance(expected, dict):
        assert expected.keys() <= result.keys(), where
        for name, value in expected.items():
            _compare(value, result[name], allowance, f"{where}.{name}")
    elif isinstance(expected, list):
        assert len(expected) == len(result), where
        for position, (one, other) in enumerate(zip(expected, result, strict=True)):
            _compare(one, other, allowance, f"{where}[{position}]")
    elif isinstance(expected, bool | str):
        assert result == expected, where
    elif expected is None:
        assert result is None, where
    else:
        assert isinstance(result, int | float | np.number), f"{where}: {result} is not a number"
        close = math.isclose(result, expected, rel_tol=allowance.get("rel", 0.0), abs_tol=allowance.get("abs", 0.0))
        assert close, f"{where}: {result} is not {expected} within {allowance}"
