"""The planter of damage shares no name with the rule that looks for it, and plants every kind."""

import tomllib
from pathlib import Path
from typing import get_args

from misstep.harness.records.attribution import DamageKind
from tests.docs.documents import ROOT

RULE = (ROOT / "harness" / "triage" / "passes" / "collateral.py").read_text("utf-8")


def test_names_of_what_is_broken_are_not_in_the_rule_and_every_kind_is_planted() -> None:
    ways = tomllib.loads((ROOT / "benchmarks" / "collateral" / "damages.toml").read_text("utf-8"))
    names = [Path(name).stem for name in (*ways["files"], *ways["places"], *ways["things"])]
    assert [name for name in names if name in RULE] == []
    assert {one["kind"] for one in ways["damage"]} == set(get_args(DamageKind))
