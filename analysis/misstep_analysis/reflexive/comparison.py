"""Runs of the reflexive loop compared in pairs, item by item: which truly solves more of the same items."""

from collections.abc import Mapping, Sequence

from msgspec import structs

from misstep_analysis.passing.paired_systems import LEVEL, ComparedPair, compare_systems
from misstep_analysis.reflexive.work import WorkedRun
from misstep_analysis.tables import Evidence, Row, Table, TableHead, made_by_this, rows_in
from misstep_analysis.tables.wording import counted_text

_PAIRS = TableHead(
    "loop_pairs",
    "reflexive",
    "Runs compared on the same items",
    ("Items of one run share a target and a memory, so that intervals are too narrow and tests too eager.",),
)


def compare_loops(runs: Mapping[str, WorkedRun]) -> tuple[ComparedPair, ...]:
    """Return every two of some runs that have items in common, in their order."""
    solved = {name: {one.item.id: (1, int(one.solved)) for one in run.items} for name, run in runs.items()}
    pairs = compare_systems(solved, "no item in common")
    return tuple(ComparedPair(*structs.astuple(pair)[:7]) for pair in pairs if pair.n)


@made_by_this
def loop_pairs_table(pairs: Sequence[ComparedPair], evidence: Evidence = "generated") -> Table:
    """Runs compared in pairs on the items that both worked on."""
    rows: list[Row] = []
    for pair in pairs:
        where = f"{pair.a} less {pair.b}", "", evidence
        rows += rows_in("difference", {"Difference of shares solved": pair.difference}, *where)
        p_values = {"p": pair.p_value, "p, adjusted": pair.p_adjusted}
        rows += [structs.replace(row, method=pair.test) for row in rows_in("p", p_values, *where, n=pair.n)]
    apart = sum(pair.apart for pair in pairs)
    finding = (
        f"{apart} of {counted_text(len(pairs), 'pair')} of runs differ in the share of items truly solved, at the "
        f"level {LEVEL} after Holm's adjustment."
    )
    return _PAIRS.table(finding, rows)
