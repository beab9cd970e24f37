"""What each mechanism of the reflexive loop changes: runs without it against whole runs of the same seeds and items.

Seeds are the sample: a configuration's figure is the mean over its seeds, and its difference to the whole loop is that
of pairs with one seed. P-values are adjusted after Holm for every difference of the ablation.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct, structs

from misstep.analysis.measures.reflexive.scores import MEASURES, LoopScores, unit_of, whole
from misstep.analysis.stats.clusters.paired_means import paired_means, sign_flip_test
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.multiplicity import holm
from misstep.analysis.stats.raters.patterns import FloatArray

LEVEL = 0.05
"""At or below this adjusted p-value a mechanism is said to change a figure."""

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
    """A whole loop and configurations of it.

    - `skill`, `agents`: Of all runs.
    - `n`: The items of a run.
    - `whole`, `others`: The whole loop, and what lacks something, in the order in which they were first met.
    - `left_out`: Runs that no whole run of the same seed and items stands beside.
    """

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
    """Return the ablation that some runs are, whatever their order; see `is_ablation`.

    Of two runs with one configuration and seed the last counts.
    """
    place = {name: number for number, name in enumerate(mechanisms)}
    runs = sorted(
        runs, key=lambda run: (len(run.without), [(place.get(name, 0), name) for name in run.without], run.seed)
    )
    whole_runs = {(run.seed, run.of): run for run in runs if not run.without}
    of_configuration: dict[tuple[str, ...], dict[tuple[int, str], LoopScores]] = {}
    for run in runs:
        if run.without:
            of_configuration.setdefault(run.without, {})[run.seed, run.of] = run
    everything = set().union(*of_configuration)
    named = [
        _configuration(_name(without, everything), without, made, whole_runs)
        for without, made in of_configuration.items()
    ]
    kept = [one for one in named if one is not None]
    others = _adjusted(kept)
    first = next(iter(whole_runs.values()))
    paired = sum(len(one.seeds) for one in others) + len(whole_runs)
    made = sum(map(len, of_configuration.values())) + len(whole_runs)
    return Ablation(
        first.skill,
        first.agents,
        first.n,
        Configuration(
            WHOLE, (), tuple(sorted(seed for seed, _ in whole_runs)), _means(list(whole_runs.values()), tuple(MEASURES))
        ),
        tuple(others),
        made - paired,
    )


def _name(without: Sequence[str], everything: set[str]) -> str:
    return ALL_OFF if len(without) > 1 and set(without) == everything else " and ".join(without)


def _configuration(
    name: str,
    without: tuple[str, ...],
    made: Mapping[tuple[int, str], LoopScores],
    whole_runs: Mapping[tuple[int, str], LoopScores],
) -> Configuration | None:
    """Return a configuration on the seeds and items that the whole loop had as well; `None` if there are none."""
    shared = sorted(made.keys() & whole_runs.keys())
    if not shared:
        return None
    pairs = [(made[key], whole_runs[key]) for key in shared]
    return Configuration(name, without, tuple(seed for seed, _ in shared), effects_of(pairs, tuple(MEASURES)))


def effects_of(pairs: Sequence[tuple[LoopScores, LoopScores]], keys: Sequence[str]) -> dict[str, AblationEffect]:
    """Figures of runs, and their differences to the runs beside them; p-values are not adjusted."""
    first, second = (_values([pair[side] for pair in pairs], keys) for side in (0, 1))
    found = paired_means(first, second, np.ones(len(pairs), dtype=np.int64))
    means = _means([run for run, _ in pairs], keys)
    effects = {}
    for key, pair in zip(keys, found, strict=True):
        test = sign_flip_test([whole(run, key) - whole(other, key) for run, other in pairs])
        difference = _over_seeds(pair.difference, "paired t interval over seeds")
        effects[key] = AblationEffect(means[key].mean, difference, test.p_value, None, test.test)
    return effects


def _values(runs: Sequence[LoopScores], keys: Sequence[str]) -> FloatArray:
    return np.array([[whole(run, key) / unit_of(run, key) for key in keys] for run in runs])


def _means(runs: Sequence[LoopScores], keys: Sequence[str]) -> dict[str, AblationEffect]:
    values = _values(runs, keys)
    found = paired_means(values, np.zeros_like(values), np.ones(len(runs), dtype=np.int64))
    return {
        key: AblationEffect(
            _possible(_over_seeds(one.difference, "mean over seeds, t interval"), is_share=key == "solved")
        )
        for key, one in zip(keys, found, strict=True)
    }


def _possible(found: Estimate, *, is_share: bool) -> Estimate:
    """Return a mean with its interval cut at 0, and that of a share at 1: no count or share is beyond."""
    if found.low is None or found.high is None:
        return found
    most = 1.0 if is_share else found.high
    return structs.replace(found, low=max(0.0, found.low), high=min(most, found.high))


def _over_seeds(found: Estimate, method: str) -> Estimate:
    """An estimate over seeds; without an interval where all seeds are alike or there is one, which notes say once."""
    if found.reason:
        return Estimate(found.value, n=found.n, method=method)
    return structs.replace(found, method=method)


def _adjusted(configurations: Sequence[Configuration]) -> list[Configuration]:
    """Return the same with p-values adjusted for all of them."""
    p_values = iter(holm([effect.p_value for one in configurations for effect in one.effects.values()]).p_values)
    return [
        structs.replace(
            one,
            effects={key: structs.replace(effect, p_adjusted=next(p_values)) for key, effect in one.effects.items()},
        )
        for one in configurations
    ]
