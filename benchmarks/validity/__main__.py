"""`python -m benchmarks.validity [--samples N] [--seed S]`: all rates, printed, and written to RESULTS.md beside this.

The whole run takes some minutes on one core with the default 2,000 samples a setting.
"""

import argparse
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import scipy
import statsmodels

from benchmarks.validity import agreement, clusters, experiments, judges, pairs, probes, proportions
from benchmarks.validity.rates import NOMINAL, TOLERATED, Kind, Rate

RESULTS = Path(__file__).with_name("RESULTS.md")

ENUMERATED: tuple[Callable[[], Iterator[Rate]], ...] = (
    proportions.one_share,
    proportions.difference,
    proportions.equal_shares,
    proportions.pairs,
)
DRAWN: tuple[Callable[[int, np.random.Generator], Iterator[Rate]], ...] = (
    agreement.two_raters,
    agreement.three_raters,
    clusters.one_arm,
    clusters.two_arms,
    clusters.attempts,
    judges.corrected,
    judges.prediction_powered,
    judges.recovery,
    clusters.sign_flips,
    clusters.paired_clusters,
    clusters.shared_arms,
    experiments.skewed_sums,
    experiments.failed_calls,
    experiments.incidences,
    judges.thresholds,
    probes.probes,
    pairs.strengths,
    pairs.positions,
    judges.drifts,
    clusters.unequal,
)


def main(arguments: Sequence[str]) -> None:
    """Run everything and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.validity")
    parser.add_argument("--samples", type=int, default=2_000, help="drawn samples a setting")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    rates: list[Rate] = []
    for enumerated in ENUMERATED:
        rates += _timed(enumerated.__name__, enumerated())
    for place, drawn in enumerate(DRAWN):
        rates += _timed(drawn.__name__, drawn(options.samples, np.random.default_rng([options.seed, place])))
    text = page(rates, options.samples, options.seed)
    RESULTS.write_text(text, "utf-8")
    print(text)


def page(rates: Sequence[Rate], drawn: int, seed: int) -> str:
    """Return the results as Markdown: what is not nominal first, then every rate."""
    off = [rate for rate in rates if rate.verdict != "nominal"]
    lines = [
        "# Validity of the statistics",
        "",
        f"{len(rates) - len(off)} of {len(rates)} rates are nominal; the other {len(off)} are listed by method below.",
        f"Nominal is a coverage of {_span('coverage')} for a 95% interval and a type I error of {_span('type I error')}"
        f" at the 5% level, and a power of {NOMINAL['power']:.0%} or more, give or take three simulation errors."
        " Exact rates sum over all samples with their chances;"
        f" the others are over {drawn:,} drawn samples a setting, those of precision thresholds over a fifth of them"
        " and those of probes over a tenth.",
        "",
        f"Made by `python -m benchmarks.validity --samples {drawn} --seed {seed}` with"
        f" Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__},"
        f" statsmodels {statsmodels.__version__}.",
        "",
        "| method | rates | nominal | lowest | highest | not nominal |",
        "|---|--:|--:|--:|--:|---|",
        *_summary(rates),
    ]
    for what, nominal in NOMINAL.items():
        lines += [
            "",
            f"## {what[0].upper()}{what[1:]} (nominal {nominal:.0%})",
            "",
            "| method | setting | rate | simulation error | undefined | mean width | verdict |",
            "|---|---|--:|--:|--:|--:|---|",
            *(_row(rate) for rate in rates if rate.what == what),
        ]
    return "\n".join(lines) + "\n"


def _span(what: Kind) -> str:
    low, high = TOLERATED[what]
    return f"{low:.0%} to {high:.0%}"


def _summary(all_rates: Sequence[Rate]) -> Iterator[str]:
    for what in NOMINAL:
        for method in dict.fromkeys(rate.method for rate in all_rates if rate.what == what):
            rates = [rate for rate in all_rates if (rate.what, rate.method) == (what, method)]
            verdicts = [rate.verdict for rate in rates if rate.verdict != "nominal"]
            counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts))
            lowest, highest = min(rate.rate for rate in rates), max(rate.rate for rate in rates)
            name = f"{method} ({what})"
            nominal = len(rates) - len(verdicts)
            yield f"| {name} | {len(rates)} | {nominal} | {lowest:.1%} | {highest:.1%} | {counts or '–'} |"


def _row(rate: Rate) -> str:
    error = "exact" if rate.error is None else f"± {rate.error:.1%}"
    width = "" if rate.width is None else f"{rate.width:.3f}"
    undefined = f"{rate.undefined:.1%}" if rate.undefined else ""
    return f"| {rate.method} | {rate.setting} | {rate.rate:.1%} | {error} | {undefined} | {width} | {rate.verdict} |"


def _timed(name: str, rates: Iterator[Rate]) -> list[Rate]:
    started = time.perf_counter()
    results = list(rates)
    print(f"{name}: {len(results)} rates in {time.perf_counter() - started:.1f} s", file=sys.stderr, flush=True)
    return results


if __name__ == "__main__":
    main(sys.argv[1:])
