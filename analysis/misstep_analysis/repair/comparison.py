"""Compare repair runs in pairs on the cases that both attempted."""

from collections.abc import Sequence

from misstep_analysis.passing.paired_systems import PairedSystems, PairWords, compare_systems, pair_finding, pair_rows
from misstep_analysis.repair.attempts import RepairArm, by_case, counted, solved_counts
from misstep_analysis.tables import Table, TableHead, made_by_this

NONE_SHARED = "no case that counts was attempted by both"

REPAIRS = PairWords(
    ahead="solves {} more than",
    alike="solve as many of",
    noun="case",
    difference="Difference of solve rates",
    adjusted="p-value, adjusted for all pairs",
)

_COMPARISON = TableHead(
    "repair_comparison",
    "repair",
    "Repairs compared on the same cases",
    (
        "The difference is the first's solve rate less the second's, over the cases that both attempted and that "
        "hold. With one attempt a case the test is McNemar's (mid-p), with more each case goes either way as a "
        "whole.",
    ),
)


def compare_repairs(arms: Sequence[RepairArm]) -> tuple[PairedSystems, ...]:
    """Return every two of some arms on one set of cases; an attempt that broke counts as unsolved."""
    cases = {arm.name: by_case(counted(arm.attempts)) for arm in arms}
    tried = {name: dict(zip(of_arm, solved_counts(of_arm), strict=True)) for name, of_arm in cases.items()}
    return compare_systems(tried, NONE_SHARED)


@made_by_this
def repair_comparison_table(pairs: Sequence[PairedSystems]) -> Table:
    """Arms compared in pairs on the cases that both attempted."""
    alone, apart = len(pairs) == 1, sum(pair.apart for pair in pairs)
    finding = f"{apart} of {len(pairs)} pairs differ at the level 0.05 after Holm's adjustment."
    if len(pairs) < 2:
        finding = pair_finding(pairs[0], REPAIRS) if pairs else "There is nothing to compare with."
    rows = (row for pair in pairs for row in pair_rows(pair, REPAIRS, alone=alone))
    notes = [f"Adjusted after Holm for {len(pairs)} pairs."] if len(pairs) > 1 else []
    return _COMPARISON.table(finding, rows, notes)
