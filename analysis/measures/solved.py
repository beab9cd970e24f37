"""Sets of solved tasks as analysis takes them: systems by tasks, each with its attempts, and what their pages state.

A page's own figures are in `data/reported/solve_rates.toml`, in the form of `data/published`.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct, structs

from misstep.analysis.published import Figure, read_paper
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Row, estimate_row
from misstep.harness.attempts import Attempts
from misstep.harness.places import data_folder

Cell = tuple[int, int]
"""How often a task was tried, and how often of these it was solved."""


class SolvedSet(Struct, frozen=True):
    """One table of a public set: `systems` is system → task → (tried, solved), `source` the set with its version."""

    dataset: str
    title: str
    source: str
    systems: Mapping[str, Mapping[str, Cell]]

    def tasks(self) -> tuple[str, ...]:
        """Return every task that any system was tried on, in order of name."""
        return tuple(sorted({task for cells in self.systems.values() for task in cells}))

    def solved(self, system: str) -> frozenset[str]:
        """Return the tasks that a system solved at least once."""
        return frozenset(task for task, (_, solved) in self.systems[system].items() if solved)

    def ranking(self) -> tuple[str, ...]:
        """Return the systems, most solved tasks first, equal ones by name."""
        return tuple(sorted(self.systems, key=lambda system: (-len(self.solved(system)), system)))

    def ranked_by_share(self) -> tuple[str, ...]:
        """Return the systems, the largest share of successful tries first, equal ones by name."""
        return tuple(sorted(self.systems, key=lambda system: (-self._share(system), system)))

    def _share(self, system: str) -> Fraction:
        cells = self.systems[system].values()
        return Fraction(sum(solved for _, solved in cells), sum(tried for tried, _ in cells) or 1)


def solved_set(attempts: Iterable[Attempts], dataset: str, table: str, title: str, source: str) -> SolvedSet:
    """Return one table of a set's attempts."""
    systems: dict[str, dict[str, Cell]] = {}
    for row in attempts:
        if row.table == table:
            systems.setdefault(row.system, {})[row.task] = (row.tried, row.solved)
    return SolvedSet(dataset, title, source, systems)


def reported_figures() -> tuple[Figure, ...]:
    """Return what the sets' own pages state."""
    return read_paper(data_folder() / "reported" / "solve_rates.toml").figure


def figures_of(one: SolvedSet) -> list[Figure]:
    """Return what a set's own page states of its systems."""
    return [figure for figure in reported_figures() if figure.row in one.systems]


class Stated(Struct, frozen=True):
    """A figure that a set's page states, and what the attempts give; `reason` says why it differs, if it does."""

    figure: Figure
    found: Estimate
    source: str
    reason: str = ""

    def row(self, quantity: str, group: str, *, judged: bool = True) -> Row:
        """What the attempts give, with the status of the stated figure; not `judged` where another way gives it."""
        row = estimate_row(quantity, self.found, "share", group, self.source)
        if not self.reason:
            return structs.replace(row, status="reproduced")
        return structs.replace(row, status="differs" if judged else None, reason=self.reason)


def stated_text(stated: Sequence[Stated], figures: str, results: str) -> str:
    """Return the end of a finding: how many stated figures follow from the results; empty where none is stated."""
    reproduced = sum(not one.reason for one in stated)
    return f"; {reproduced} of {len(stated)} stated {figures} follow from the {results}" if stated else ""
