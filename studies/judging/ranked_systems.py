"""The systems of a benchmark of pairs, as judges and people rank them."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from misstep.analysis.measures.judging.pairs.preferences import Preferences, preferences, systems_of, systems_table
from misstep.analysis.measures.judging.pairs.system_orders import AgreedOrder, agreed_orders, agreed_orders_table
from misstep.analysis.measures.judging.sample import majority
from misstep.analysis.pages import table_text
from misstep.analysis.tables import of_evidence
from misstep.harness.errors import UsageError
from misstep.harness.evidence import Evidence
from misstep.harness.verdict import Verdict
from misstep.studies.judged_runs import JudgedRun

PEOPLE = "people"


class RankedSystems(Struct, frozen=True):
    """The systems as each judge ranks them, and how far every two orders agree."""

    benchmark: str
    evidence: Evidence
    judges: dict[str, Preferences]
    orders: tuple[AgreedOrder, ...]

    def text(self) -> str:
        """Return the tables for a terminal."""
        tables = [systems_table(name, result, self.benchmark) for name, result in self.judges.items()]
        if self.orders:
            tables.append(agreed_orders_table(self.orders, self.benchmark))
        return "\n".join(table_text(of_evidence(table, self.evidence)) for table in tables)

    def document(self) -> dict[str, Any]:
        """Return all figures as one document."""
        return {"benchmark": self.benchmark, "judges": self.judges, "orders": self.orders}


def ranked_systems(runs: Mapping[str, JudgedRun], field: str, seed: int) -> RankedSystems:
    """Return the systems of some runs on one benchmark of pairs; people rank them if they labelled pairs."""
    first = next(iter(runs.values()))
    systems = systems_of(first.items, field)
    if not systems:
        message = f"no item of {first.question.name} has {field}_a and {field}_b in its `extra`"
        raise UsageError(message, "Name the field of the systems with --system.")
    verdicts = {name: list(run.verdicts) for name, run in runs.items()}
    item_ids = {one.item for of_run in verdicts.values() for one in of_run}
    gold = majority(first.gold).label_of
    if labels := [Verdict(item, PEOPLE, label) for item, label in gold.items() if item in item_ids]:
        verdicts[PEOPLE] = labels
    judges = {name: preferences(of_run, systems, first.clusters) for name, of_run in verdicts.items()}
    orders = agreed_orders(verdicts, systems, first.clusters, seed) if len(verdicts) > 1 else ()
    return RankedSystems(first.question.name, first.question.evidence, judges, orders)
