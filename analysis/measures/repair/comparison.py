"""Two arms on the same cases: which solves more, and is that more than chance.

With one attempt a case that is McNemar's mid-p test with Tango's interval; with more, a case goes either way as a
whole: sign flips over the cases' differences, with Student's t. An attempt that broke counts as unsolved.
"""

from collections.abc import Sequence
from itertools import combinations

from msgspec import Struct, structs

from misstep.analysis.measures.repair.attempts import RepairArm, by_case, counted
from misstep.analysis.stats.clusters.clustered_pairs import paired_rates
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.significance import holm
from misstep.harness.records.repair_attempt import RepairAttempt

LEVEL = 0.05
"""Of an adjusted p-value: at or below it two arms are told apart."""

NONE_SHARED = "no case that counts was attempted by both"


class PairedRepairs(Struct, frozen=True):
    """Two arms on the cases that both attempted.

    - `a`, `b`: Their names.
    - `n`: How many cases both attempted and that count in both.
    - `difference`: The solve rate of `a` less that of `b`, over these.
    - `p_value`, `p_adjusted`, `test`: Of the hypothesis that there is no difference; adjusted after Holm for all pairs
      compared.
    - `more_a`, `more_b`, `alike`: On how many cases which of the two solved more of its attempts.
    - `reason`: Why a figure is missing, or what to beware of.
    """

    a: str
    b: str
    n: int
    difference: Estimate
    p_value: float | None
    p_adjusted: float | None
    test: str
    more_a: int
    more_b: int
    alike: int
    reason: str = ""

    @property
    def apart(self) -> bool:
        """Return whether the two are told apart, after Holm's adjustment."""
        return self.p_adjusted is not None and self.p_adjusted <= LEVEL


def compare_repairs(arms: Sequence[RepairArm]) -> tuple[PairedRepairs, ...]:
    """Return every two of some arms on one set of cases, in their order, with p-values adjusted for all of them."""
    tried = {arm.name: by_case(counted(arm.attempts)) for arm in arms}
    pairs = [_compared(a, b, tried[a], tried[b]) for a, b in combinations(tried, 2)]
    adjusted = holm([pair.p_value for pair in pairs]).p_values
    return tuple(structs.replace(pair, p_adjusted=p) for pair, p in zip(pairs, adjusted, strict=True))


def _compared(
    a: str, b: str, first: dict[str, list[RepairAttempt]], second: dict[str, list[RepairAttempt]]
) -> PairedRepairs:
    shared = sorted(first.keys() & second.keys())
    if not shared:
        nothing = Estimate(None, n=0, reason=NONE_SHARED)
        return PairedRepairs(a, b, 0, nothing, None, None, "", 0, 0, 0, NONE_SHARED)
    found = paired_rates([(*_count(first[case]), *_count(second[case])) for case in shared])
    return PairedRepairs(
        a,
        b,
        len(shared),
        found.difference,
        found.test.p_value,
        None,
        found.test.test,
        found.ahead,
        found.behind,
        found.level,
        found.reason,
    )


def _count(tries: Sequence[RepairAttempt]) -> tuple[int, int]:
    return len(tries), sum(attempt.solved is True for attempt in tries)
