"""The interval of one proportion, against reference values and against statsmodels."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from analysis.stats.proportions import wilson

ORACLES = Path(os.environ.get("MISSTEP_ORACLES") or Path(__file__).parents[2] / "reference" / "stats.json")
CASES = [case for case in json.loads(ORACLES.read_bytes()) if case["quantity"] == "single_proportion_ci"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_wilson_agrees_with_the_reference_values(case: dict[str, Any]) -> None:
    x, n, confidence = case["input"]["x"], case["input"]["n"], case["input"]["conf"]
    expected = case["expected"]
    if "error" in expected:
        with pytest.raises(ValueError, match=expected["reason"]):
            wilson(x, n, confidence)
        return
    found = wilson(x, n, confidence)
    if isinstance(expected["wilson"], dict):
        assert (found.value, found.low, found.high) == (None, None, None)
        assert found.reason == expected["wilson"]["nan_reason"]
    else:
        assert [found.low, found.high] == pytest.approx(expected["wilson"], abs=case["tolerance"]["abs"])
        assert found.value == x / n


def test_the_reference_has_wilson_cases() -> None:
    assert len(CASES) >= 8


@given(st.data())
def test_wilson_is_the_interval_of_statsmodels(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 10**6))
    x = data.draw(st.integers(0, n))
    confidence = data.draw(st.sampled_from([0.8, 0.9, 0.95, 0.99]))
    found = wilson(x, n, confidence)
    assert (found.low, found.high) == pytest.approx(
        proportion_confint(x, n, 1 - confidence, "wilson"), rel=1e-9, abs=1e-12
    )


@given(st.integers(0, 500), st.integers(0, 500))
def test_the_interval_holds_the_share_and_mirrors_with_it(yes: int, no: int) -> None:
    found, mirrored = wilson(yes, yes + no), wilson(no, yes + no)
    if yes + no == 0:
        assert found.reason
        return
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low == pytest.approx(1 - (mirrored.high or 0), abs=1e-12)


def test_an_impossible_confidence_is_refused() -> None:
    with pytest.raises(ValueError, match="0"):
        wilson(1, 2, 1.5)
