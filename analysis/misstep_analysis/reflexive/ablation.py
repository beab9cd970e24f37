"""What each mechanism of the reflexive loop changes: runs without it against whole runs of the same seeds and items."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.passing.paired_systems import LEVEL
from misstep_analysis.reflexive.scores import MEASURES, LoopScores, unit_of, whole
from misstep_analysis.stats.clusters.paired_means import paired_means, sign_flip_test
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters.patterns import FloatArray
from misstep_analysis.stats.significance import holm

WHOLE = "whole loop"
ALL_OFF = "all off"


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
        return sum(effect.p_value is not None for one in self.others for effect in one.effects.values())

    @property
    def can_tell(self) -> bool:
        """Return whether a difference that all seeds share would be told apart: with few seeds no test can."""
        return math.ldexp(max(self.tests, 1), 1 - len(self.whole.seeds)) <= LEVEL

    @property
    def better_without(self) -> tuple[str, ...]:
        """Return the configurations that are told apart and truly solve more than the whole loop."""
        solving = [(one.name, one.effects["solved"]) for one in self.others]
        return tuple(name for name, effect in solving if effect.apart and (effect.change or 0.0) > 0)

    @property
    def of_one(self) -> tuple[Configuration, ...]:
        """Return those that lack one mechanism."""
        return tuple(one for one in self.others if len(one.without) == 1)


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
    each = (_over_seeds(one.difference, "mean over seeds, t interval") for one in means)
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
    adjusted = iter(holm([effect.p_value for one in configurations for effect in one.effects.values()]).p_values)
    return tuple(
        structs.replace(
            one,
            effects={key: structs.replace(effect, p_adjusted=next(adjusted)) for key, effect in one.effects.items()},
        )
        for one in configurations
    )
