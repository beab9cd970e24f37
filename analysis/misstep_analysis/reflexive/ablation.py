"""What each mechanism of the reflexive loop changes: runs without it against whole runs of the same seeds and items."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.passing.paired_systems import LEVEL, ComparedPair, compare_systems
from misstep_analysis.reflexive.scores import ALSO, MEASURES, LoopScores, unit_of, whole
from misstep_analysis.reflexive.work import WorkedRun
from misstep_analysis.stats.clusters.paired_means import paired_means, sign_flip_test
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters.patterns import FloatArray
from misstep_analysis.stats.significance import holm
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
    solved = {name: {item.item.id: (1, int(item.solved)) for item in run.items} for name, run in runs.items()}
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


class FailureMode(Struct, frozen=True):
    """A failure mode: its name, its witness by the id of a printed figure, its cure, and the figures that show it."""

    name: str
    witness: tuple[str, ...]
    mechanism: str
    keys: tuple[str, ...]


MODES = (
    FailureMode("1 Tool-call explosion", ("explosion.calls",), "turn_budgets", ("most_calls", "hidden")),
    FailureMode("2 Corrupted target", ("corruption.hours",), "snapshots", ("corrupted", "solved")),
    FailureMode("3 Diagnostic blindness", ("blindness.sudo",), "diagnostics", ("without_facts", "solved")),
    FailureMode(
        "4 New words for the same",
        ("novelty.flagged", "novelty.actual"),
        "plateau_by_content",
        ("plateaus", "repeated"),
    ),
    FailureMode("5 No authority to give up", ("authority.minutes",), "re_engagement", ("most_reflections", "wasted")),
    FailureMode("6 Caps of retries", ("budget.cap",), "time_budget", ("late", "solved")),
    FailureMode("7 Collapse of memory", ("memory.stored", "memory.surfaced"), "memory", ("distinct", "attempts")),
    FailureMode("8 Drift of contexts", (), "fresh_context", ("cut", "solved")),
)
"""The six modes that the document calls shown, and the two that it suspects; its seventh prints a witness, too."""


class AblationEffect(Struct, frozen=True):
    """A figure of a configuration: its mean over seeds, and its difference to the whole loop with the test of it."""

    mean: Estimate
    difference: Estimate | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    test: str = ""

    @property
    def change(self) -> float | None:
        """Return the difference without its interval."""
        return None if self.difference is None else self.difference.value

    @property
    def apart(self) -> bool:
        """Return whether it is told apart from the whole loop, after Holm's adjustment."""
        return self.p_adjusted is not None and self.p_adjusted <= LEVEL


class Cure(Struct, frozen=True):
    """One figure of a failure mode: without its mechanism, with it, and the difference that leaving it out makes."""

    mode: FailureMode
    key: str
    without: AblationEffect
    whole: AblationEffect

    @property
    def shown(self) -> bool:
        """Return whether the figure is told apart and worse where the mechanism is left out."""
        change = self.without.change
        more_is_better = (MEASURES | ALSO)[self.key].more_is_better
        return self.without.apart and change is not None and (change < 0 if more_is_better else change > 0)


def cures(runs: Sequence[LoopScores]) -> tuple[Cure, ...]:
    """The figures of each mode that some runs show: with and without its mechanism on the same seeds and items."""
    whole_runs = {(run.seed, run.of): run for run in runs if not run.without}
    shown: list[Cure] = []
    for mode in MODES:
        without_it = {(run.seed, run.of): run for run in runs if run.without == (mode.mechanism,)}
        pairs = [(without_it[key], whole_runs[key]) for key in sorted(without_it.keys() & whole_runs.keys())]
        if pairs:
            without = effects_of(pairs, mode.keys)
            whole = effects_of([(second, first) for first, second in pairs], mode.keys)
            shown += [Cure(mode, key, without[key], whole[key]) for key in mode.keys]
    adjusted = holm([cure.without.p_value for cure in shown]).p_values
    return tuple(
        structs.replace(cure, without=structs.replace(cure.without, p_adjusted=p))
        for cure, p in zip(shown, adjusted, strict=True)
    )


WHOLE = "whole loop"
ALL_OFF = "all off"


class Configuration(Struct, frozen=True):
    """The loop without some of its mechanisms: what tables call it, and its figures by key of `MEASURES`."""

    name: str
    without: tuple[str, ...]
    seeds: tuple[int, ...]
    effects: Mapping[str, AblationEffect]


class Ablation(Struct, frozen=True):
    """A whole loop and configurations of it; `left_out` are runs without a whole run of the same seed and items."""

    skill: str
    agents: str
    n: int
    whole: Configuration
    others: tuple[Configuration, ...]
    left_out: int = 0

    @property
    def tests(self) -> int:
        """Return how many differences p-values are adjusted for."""
        return sum(effect.p_value is not None for other in self.others for effect in other.effects.values())

    @property
    def can_tell(self) -> bool:
        """Return whether a difference that all seeds share would be told apart: with few seeds no test can."""
        return math.ldexp(max(self.tests, 1), 1 - len(self.whole.seeds)) <= LEVEL

    @property
    def better_without(self) -> tuple[str, ...]:
        """Return the configurations that are told apart and truly solve more than the whole loop."""
        solving = [(other.name, other.effects["solved"]) for other in self.others]
        return tuple(name for name, effect in solving if effect.apart and (effect.change or 0.0) > 0)

    @property
    def of_one(self) -> tuple[Configuration, ...]:
        """Return those that lack one mechanism."""
        return tuple(other for other in self.others if len(other.without) == 1)


def is_ablation(runs: Sequence[LoopScores]) -> bool:
    """Return whether some runs are a whole loop and configurations of it with the same skill and agents."""
    of = {(run.skill, run.agents) for run in runs}
    return len(of) == 1 and len({run.without for run in runs}) > 1 and any(not run.without for run in runs)


def ablate(runs: Sequence[LoopScores], mechanisms: Sequence[str] = ()) -> Ablation:
    """Return the ablation that some runs are, whatever their order; see `is_ablation`."""
    place = {name: number for number, name in enumerate(mechanisms)}
    runs = sorted(
        runs, key=lambda run: (len(run.without), [(place.get(name, 0), name) for name in run.without], run.seed)
    )
    whole_runs = {(run.seed, run.of): run for run in runs if not run.without}
    by_mechanism: dict[tuple[str, ...], dict[tuple[int, str], LoopScores]] = {}
    for run in runs:
        if run.without:
            by_mechanism.setdefault(run.without, {})[run.seed, run.of] = run
    everything, configurations, left_out = set().union(*by_mechanism), [], 0
    for without, of_it in by_mechanism.items():
        # A configuration counts on the seeds and items that the whole loop had as well.
        shared = sorted(of_it.keys() & whole_runs.keys())
        left_out += len(of_it) - len(shared)
        if shared:
            name = ALL_OFF if len(without) > 1 and set(without) == everything else " and ".join(without)
            effects = effects_of([(of_it[key], whole_runs[key]) for key in shared], tuple(MEASURES))
            configurations.append(Configuration(name, without, tuple(seed for seed, _ in shared), effects))
    first = next(iter(whole_runs.values()))
    means = _means(list(whole_runs.values()), tuple(MEASURES))
    whole_loop = Configuration(WHOLE, (), tuple(sorted(seed for seed, _ in whole_runs)), means)
    return Ablation(first.skill, first.agents, first.n, whole_loop, _adjusted(configurations), left_out)


def effects_of(pairs: Sequence[tuple[LoopScores, LoopScores]], keys: Sequence[str]) -> dict[str, AblationEffect]:
    """Figures of runs, and their differences to the runs beside them; p-values are not adjusted."""
    runs, others = zip(*pairs, strict=True)
    differences = paired_means(_values(runs, keys), _values(others, keys), np.ones(len(pairs), dtype=np.int64))
    effects = {}
    for (key, mean), pair in zip(_means(runs, keys).items(), differences, strict=True):
        test = sign_flip_test([whole(run, key) - whole(other, key) for run, other in pairs])
        difference = _over_seeds(pair.difference, "paired t interval over seeds")
        effects[key] = structs.replace(mean, difference=difference, p_value=test.p_value, test=test.test)
    return effects


def _values(runs: Sequence[LoopScores], keys: Sequence[str]) -> FloatArray:
    return np.array([[whole(run, key) / unit_of(run, key) for key in keys] for run in runs])


def _means(runs: Sequence[LoopScores], keys: Sequence[str]) -> dict[str, AblationEffect]:
    values = _values(runs, keys)
    means = paired_means(values, np.zeros_like(values), np.ones(len(runs), dtype=np.int64))
    each = (_over_seeds(mean.difference, "mean over seeds, t interval") for mean in means)
    return {key: AblationEffect(_possible(one, is_share=key == "solved")) for key, one in zip(keys, each, strict=True)}


def _possible(estimate: Estimate, *, is_share: bool) -> Estimate:
    """Return a mean with its interval cut at 0, and that of a share at 1: no count or share is beyond."""
    if estimate.low is None or estimate.high is None:
        return estimate
    most = 1.0 if is_share else estimate.high
    return structs.replace(estimate, low=max(0.0, estimate.low), high=min(most, estimate.high))


def _over_seeds(estimate: Estimate, method: str) -> Estimate:
    """An estimate over seeds; without an interval where all seeds are alike or there is one, which notes say once."""
    if estimate.reason:
        return Estimate(estimate.value, n=estimate.n, method=method)
    return structs.replace(estimate, method=method)


def _adjusted(configurations: Sequence[Configuration]) -> tuple[Configuration, ...]:
    adjusted = iter(
        holm([effect.p_value for configuration in configurations for effect in configuration.effects.values()]).p_values
    )
    return tuple(
        structs.replace(
            configuration,
            effects={
                key: structs.replace(effect, p_adjusted=next(adjusted)) for key, effect in configuration.effects.items()
            },
        )
        for configuration in configurations
    )
