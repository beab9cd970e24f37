"""Probes of a judge whose bias is planted: how often they find it, and how often they find one without it."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from benchmarks.validity.rates import Rate
from misstep_analysis.gold import BenchmarkItem
from misstep_analysis.judging.probes import Probes, probed_judge
from misstep_harness.verdict import Verdict

METHOD = "probes of bias, McNemar and Holm"
PROBES = ("verbosity", "authority", "self_preference", "label_order", "markdown", "json_indented")
PLANTED = PROBES[0]
NOISE = 0.15
"""The share of answers that the judge draws anew whenever it is asked; those of a run in half of the cases together."""

SETTINGS = ((100, 1, 0.0), (200, 1, 0.3), (60, 4, 0.0), (60, 4, 0.3))
"""Runs, items of each, and the share of “no” that the planted probe turns into “yes”."""


def probes(
    samples: int, rng: np.random.Generator, settings: Sequence[tuple[int, int, float]] = SETTINGS
) -> Iterator[Rate]:
    """Any of six probes found of a fair judge; the planted one, and any other, of one that the first probe moves."""
    drawn = max(1, samples // 10)
    for runs, each, bias in settings:
        moved = [{one.probe for one in _of_a_judge(runs, each, bias, rng).probes if one.is_shown} for _ in range(drawn)]
        setting = f"{runs} runs of {each}, {NOISE:.0%} of answers by chance, {bias:.0%} moved"
        others = [bool(names - {PLANTED} if bias else names) for names in moved]
        yield Rate("type I error", METHOD, f"{setting}, any other probe", float(np.mean(others)), drawn)
        if bias:
            yield Rate("power", METHOD, setting, float(np.mean([PLANTED in names for names in moved])), drawn)


def _of_a_judge(runs: int, each: int, bias: float, rng: np.random.Generator) -> Probes:
    leaning = np.repeat(rng.beta(1, 1, runs), each)
    settled = rng.random(runs * each) < leaning

    def answers() -> npt.NDArray[np.bool_]:
        together = np.repeat(rng.random(runs) < NOISE / 2, each)
        unsure = together | (rng.random(runs * each) < NOISE / 2)
        anew = np.where(together, np.repeat(rng.random(runs), each), rng.random(runs * each)) < leaning
        return np.where(unsure, anew, settled)

    items, verdicts = [], []
    for name in ("", "copy", *PROBES):
        yes = answers()
        if name == PLANTED:
            yes = yes | (rng.random(len(yes)) < bias)
        role = {"": "plain", "copy": "copy"}.get(name, "changed")
        for place, label in enumerate(yes):
            change = {"role": role, "twin": f"{place}~", "probe": name}
            items.append(BenchmarkItem(f"{place}~{name}", extra={"cluster": place // each, "change": change}))
            verdicts.append(Verdict(items[-1].id, "stub", "yes" if label else "no"))
    return probed_judge(items, verdicts, (), "yes", dict.fromkeys(PROBES, ""))
