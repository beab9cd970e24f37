"""Sessions of an experiment that never was."""

import numpy as np

from misstep_analysis.observer.experiments.sessions import ExperimentSession


def sessions(units: int = 40, change: float = 0.0, seed: int = 0) -> list[ExperimentSession]:
    """Two sessions a unit, every other unit treated; the treated ones differ by a factor of 1 + change."""
    rng = np.random.default_rng(seed)
    results = []
    for unit in range(units):
        arm, factor = ("treatment", 1 + change) if unit % 2 else ("control", 1.0)
        for number in range(2):
            calls = int(rng.integers(10, 40))
            results.append(
                ExperimentSession(
                    f"{unit}-{number}",
                    f"engineer {unit}",
                    arm,
                    failed_calls=int(rng.binomial(calls, 0.3 * factor)),
                    calls=calls,
                    tokens=float(rng.lognormal(9, 0.5) * factor),
                    seconds=float(rng.lognormal(5, 0.5)),
                    engineer_interventions=int(rng.poisson(2)),
                )
            )
    return results
