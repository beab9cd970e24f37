"""How many problems of an arm recover, by class of misbehaviour and number of interventions (Wink, tables 3 and 4)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from misstep.analysis.measures.recovery.problems import Problem
from misstep.analysis.measures.shares import clustered_share, summed
from misstep.analysis.stats.estimate import Estimate

Classes = Mapping[str, Sequence[str]]
"""Name of a class of misbehaviour → its categories; the class of all is a class as well."""

Words = Literal["single", "multiple", "any"]

Outcome = Callable[[Problem], bool | None]


def truly(problem: Problem) -> bool | None:
    """Return whether a problem recovered, by what was planted."""
    return problem.recovered


def as_judged(problem: Problem) -> bool | None:
    """Return whether a judge calls it recovered; `None` without a label."""
    return problem.judged


def chosen(problems: Iterable[Problem], categories: Sequence[str], words: Words = "any") -> list[Problem]:
    """The problems of some categories, in sessions with one intervention, with several, or with any number of them."""
    return [
        one
        for one in problems
        if one.category in categories and (words == "any" or (one.words == 1) == (words == "single"))
    ]


def by_unit(problems: Iterable[Problem], outcome: Outcome = truly) -> list[tuple[int, int]]:
    """Units as (problems that recovered, problems); those without an outcome are left out."""
    outcomes = ((problem.unit, outcome(problem)) for problem in problems)
    return list(summed((unit, int(recovered), 1) for unit, recovered in outcomes if recovered is not None).values())


def recovery_rate(problems: Iterable[Problem], outcome: Outcome = truly) -> Estimate:
    """Return the share of problems that recovered, with an interval over units: Korn and Graubard's."""
    return clustered_share(by_unit(problems, outcome), "no problem with an outcome")


def recovery_rates(
    problems: Sequence[Problem], classes: Classes, words: Words = "any", outcome: Outcome = truly
) -> dict[str, Estimate]:
    """Return the recovery rate of each class."""
    return {name: recovery_rate(chosen(problems, of, words), outcome) for name, of in classes.items()}
