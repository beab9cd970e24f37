"""Runs of the reflexive loop compared in pairs, item by item: which truly solves more of the same items."""

from collections.abc import Mapping
from itertools import combinations

from msgspec import Struct, structs

from misstep.analysis.measures.reflexive.ablation import LEVEL
from misstep.analysis.measures.reflexive.work import WorkedRun
from misstep.analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p, paired_score_interval
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.multiplicity import holm


class PairedLoops(Struct, frozen=True):
    """Two runs on the items that both worked on.

    - `a`, `b`: Their names.
    - `n`: The items that are in both.
    - `difference`: The share that `a` truly solves less that of `b`, with Tango's interval.
    - `p_value`, `p_adjusted`, `test`: Of the hypothesis that there is no difference; adjusted after Holm for all pairs.
    """

    a: str
    b: str
    n: int
    difference: Estimate
    p_value: float | None
    p_adjusted: float | None
    test: str

    @property
    def apart(self) -> bool:
        """Return whether the two are told apart, after Holm's adjustment."""
        return self.p_adjusted is not None and self.p_adjusted <= LEVEL


def compare_loops(runs: Mapping[str, WorkedRun]) -> tuple[PairedLoops, ...]:
    """Return every two of some runs that have items in common, in their order."""
    solved = {name: {one.item.id: one.solved for one in run.items} for name, run in runs.items()}
    pairs = [_compared(a, b, solved[a], solved[b]) for a, b in combinations(solved, 2) if solved[a].keys() & solved[b]]
    adjusted = holm([pair.p_value for pair in pairs]).p_values
    return tuple(structs.replace(pair, p_adjusted=p) for pair, p in zip(pairs, adjusted, strict=True))


def _compared(a: str, b: str, first: Mapping[str, bool], second: Mapping[str, bool]) -> PairedLoops:
    shared = sorted(first.keys() & second.keys())
    table = PairedTable.of([first[item] for item in shared], [second[item] for item in shared])
    test = mcnemar_mid_p(table)
    return PairedLoops(a, b, len(shared), paired_score_interval(table), test.p_value, None, test.test)
