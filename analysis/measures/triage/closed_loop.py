"""What a biased critic does to a closed loop of filter and retrain: a simulation, with its assumptions as data.

A failure that the critic gives to the agent is trained on, one that it gives to the task takes the task out of the
pool for good, one that it gives to the infrastructure is run again: so valid tasks are lost in every round some more.

    data/closed_loop.toml    the assumptions, each with its value and its meaning
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from msgspec import Struct

from misstep.analysis.measures.judging.units import BoolArray
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.raters.patterns import FloatArray, IntArray
from misstep.harness.places import data_folder

BLAME = ("agent", "task", "infrastructure")
"""What a critic makes of a failure; one that it calls a pass, or leaves open, changes nothing and is as a rerun."""


class Assumption(Struct, frozen=True, forbid_unknown_fields=True):
    """One number that the simulation rests on, and what it means."""

    value: float
    meaning: str


class Critic(Struct, frozen=True):
    """A critic by its counts: gold label → how many of these it gave to agent, task and infrastructure (`BLAME`).

    A gold label without counts is taken to be judged right always, which is in the critic's favour.
    """

    name: str
    counts: Mapping[str, Sequence[int]]

    def rates(self, gold: str) -> FloatArray:
        """Return the shares of what it makes of failures with one gold label."""
        counts = np.array(self.counts.get(gold, (0, 0, 0)), dtype=np.float64)
        return counts / counts.sum() if counts.sum() else np.array([float(label == gold) for label in BLAME])

    def drawn(self, gold: str, rng: np.random.Generator, times: int) -> FloatArray:
        """Rates that its counts leave possible: times x `BLAME`, after Dirichlet with Jeffreys' prior."""
        counts = np.array(self.counts.get(gold, (0, 0, 0)), dtype=np.float64)
        if not counts.sum():
            return np.tile(self.rates(gold), (times, 1))
        return rng.dirichlet(counts + 0.5, size=times)


PERFECT = Critic("A critic without errors", {})


class Round(Struct, frozen=True):
    """What holds after a round, as means over loops with the middle 95% of loops.

    `noise` is the share of the failures trained on that were not the agent's, `perceived` the solve rate that is seen.
    """

    number: int
    lost: Estimate
    noise: Estimate
    capability: Estimate
    perceived: Estimate


class ClosedLoop(Struct, frozen=True):
    """A critic in the loop, round by round."""

    critic: Critic
    rounds: tuple[Round, ...]


def assumptions() -> dict[str, Assumption]:
    """Return the assumptions that are kept with the project."""
    file = data_folder() / "closed_loop.toml"
    return msgspec.toml.decode(file.read_bytes(), type=dict[str, Assumption])


def expected_loss(critic: Critic, mended: float, rounds: int) -> float:
    """Return the share of unsolved sound tasks that are lost after some rounds, were there no infrastructure failures.

    In a round such a task is lost with the rate b of agent failures given to the task, and mended with c times the rate
    of those given to the agent; so b / (b + c a) times 1 - (1 - b - c a)^rounds are lost.
    """
    to_agent, to_task, _ = critic.rates("agent").tolist()
    leaves = to_task + mended * to_agent
    return to_task / leaves * (1 - (1 - leaves) ** rounds) if leaves else 0.0


def closed_loop(
    critic: Critic, assumed: Mapping[str, Assumption], *, loops: int = 200, seed: int = 0, uncertain: bool = True
) -> ClosedLoop:
    """Return a critic in a closed loop of filter and retrain, simulated many times."""
    rng, value = np.random.default_rng(seed), {name: one.value for name, one in assumed.items()}
    rates = {
        gold: critic.drawn(gold, rng, loops) if uncertain else np.tile(critic.rates(gold), (loops, 1)) for gold in BLAME
    }
    n_tasks = int(value["tasks"])
    sound = np.arange(n_tasks) >= round(value["defective"] * n_tasks)
    solved = sound & (rng.random((loops, n_tasks)) < value["solved_at_start"])
    unsolved_at_start = sound & ~solved
    remaining = np.ones((loops, n_tasks), dtype=np.bool_)
    how, rounds = f"mean and middle 95% of {loops:,} simulated loops", []
    for number in range(1, int(value["rounds"]) + 1):
        # What the infrastructure breaks fails whatever the agent can do.
        broke = remaining & (rng.random(remaining.shape) < value["infrastructure"])
        tried = remaining & ~broke
        of_agent, passed = tried & sound & ~solved, tried & solved
        labels = _answers(rng, rates, {"agent": of_agent, "task": tried & ~sound, "infrastructure": broke})
        trained = labels == BLAME.index("agent")
        mended = trained & of_agent & (rng.random(remaining.shape) < value["mended"])
        noise = trained & ~of_agent
        harm = rng.binomial(noise.sum(axis=1), value["broken"])
        chance = np.minimum(1.0, harm / np.maximum(solved.sum(axis=1), 1))
        spared: BoolArray = rng.random(solved.shape) >= chance[:, None]
        solved = (solved & spared) | mended
        remaining &= labels != BLAME.index("task")
        n_passed, n_trained = passed.sum(axis=1), trained.sum(axis=1)
        measured = (
            _share((unsolved_at_start & ~remaining & ~solved).sum(axis=1), unsolved_at_start.sum(axis=1)),
            _share(noise.sum(axis=1), n_trained),
            _share(solved.sum(axis=1), np.full(loops, sound.sum())),
            _share(n_passed, n_passed + n_trained),
        )
        rounds.append(Round(number, *(_over_loops(values, how) for values in measured)))
    return ClosedLoop(critic, tuple(rounds))


def closed_loops(critics: Sequence[Critic], loops: int = 200, seed: int = 0) -> list[ClosedLoop]:
    """Critics in the loop under the project's assumptions, one without errors first."""
    assumed = assumptions()
    return [closed_loop(critic, assumed, loops=loops, seed=seed) for critic in (PERFECT, *critics)]


def _answers(rng: np.random.Generator, rates: Mapping[str, FloatArray], failures: Mapping[str, BoolArray]) -> IntArray:
    """Return what the critic makes of each failure, as places in `BLAME`; -1 where nothing failed."""
    first = next(iter(failures.values()))
    labels = np.full(first.shape, -1, dtype=np.int64)
    chance = rng.random(first.shape)
    for gold, failed in failures.items():
        ends = np.cumsum(rates[gold], axis=1)
        place = (chance >= ends[:, :1]).astype(np.int64) + (chance >= ends[:, 1:2]).astype(np.int64)
        labels = np.where(failed, place, labels)
    return labels


def _share(part: IntArray, whole: IntArray) -> FloatArray:
    shares: FloatArray = np.full(len(part), np.nan)
    np.divide(part, whole, out=shares, where=whole > 0)
    return shares


def _over_loops(values: FloatArray, how: str) -> Estimate:
    known = values[~np.isnan(values)]
    if not len(known):
        return Estimate(None, n=0, reason="nothing was trained on")
    low, high = np.quantile(known, [0.025, 0.975])
    return Estimate(float(known.mean()), float(low), float(high), len(known), how)
