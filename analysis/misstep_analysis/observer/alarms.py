"""How well a detector of misbehaviour tells when: what it finds, what it takes for misbehaviour, and how late it is.

An alarm is the last step that the detector had seen when it first spoke of an episode. It is right where a problem
began in the `WINDOW` steps up to it, and false otherwise.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct

from misstep_analysis.sessions.prevalence import clustered_share, share
from misstep_analysis.stats.decisions.relative_change import ratio_of_sums
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.significance import holm
from misstep_analysis.tables import (
    Evidence,
    Fields,
    Row,
    Table,
    TableHead,
    made_by_this,
    measured_on,
    rows_from,
    rows_in,
)
from misstep_analysis.tables.wording import number_text, p_text, with_interval
from misstep_harness.intervention import ObservedRun

WINDOW = 15
"""Steps from an onset in which an alarm is about it: as many as Wink's judge of recovery reads after guidance (4.1)."""


class WatchedRun(Struct, frozen=True):
    """One run of a data set as one detector watched it: its steps, where problems begin, and when the alarm went."""

    dataset: str
    detector: str
    run: str
    n_steps: int
    onsets: tuple[int, ...]
    alarms: tuple[int, ...]


class Alarms(Struct, frozen=True):
    """What a detector's alarms come to.

    `by_others` is what `onsets_found` would be, had each run the alarms of another run, and `p_value` is of finding as
    many where runs exchange their alarms; `delay` is the median of the steps to the first alarm after the first onset.
    """

    dataset: str
    detector: str
    found: Estimate
    onsets_found: Estimate
    by_others: Estimate
    p_value: Estimate
    early: Estimate
    false_runs: Estimate
    delay: Estimate
    false_per_100: Estimate


def watched_run(dataset: str, detector: str, observed: ObservedRun, onsets: Iterable[int]) -> WatchedRun:
    """Return a record of the observer as a watched run; an episode that was spoken of before is not a new alarm."""
    alarms = tuple(one.detected_at for one in observed.interventions if one.withheld != "repeated" and one.level == 1)
    return WatchedRun(dataset, detector, observed.item, observed.n_steps, tuple(sorted(set(onsets))), alarms)


def alarms(runs: Iterable[WatchedRun]) -> list[Alarms]:
    """Return what the alarms of each detector come to on each data set, in order of appearance."""
    watched: dict[tuple[str, str], list[WatchedRun]] = {}
    for run in runs:
        watched.setdefault((run.dataset, run.detector), []).append(run)
    return [_alarms(*key, members) for key, members in watched.items()]


def _alarms(dataset: str, detector: str, runs: Sequence[WatchedRun]) -> Alarms:
    troubled, clean = [run for run in runs if run.onsets], [run for run in runs if not run.onsets]
    after = [[alarm - run.onsets[0] for alarm in run.alarms if alarm >= run.onsets[0]] for run in troubled]
    delays = [of_run[0] for of_run in after if of_run]
    clusters = [(sum(_is_about(run.alarms, onset) for onset in run.onsets), len(run.onsets)) for run in troubled]
    by_others, p_value = _by_others(runs)
    early = sum(run.alarms[0] < run.onsets[0] for run in troubled if run.alarms)
    false = [
        100 * sum(not any(_is_about((alarm,), onset) for onset in run.onsets) for alarm in run.alarms) for run in runs
    ]
    return Alarms(
        dataset,
        detector,
        found=share(len(delays), len(troubled), _NO_PROBLEM),
        onsets_found=clustered_share(clusters, _NO_PROBLEM),
        by_others=by_others,
        p_value=p_value,
        early=share(early, len(troubled), _NO_PROBLEM),
        false_runs=share(sum(bool(run.alarms) for run in clean), len(clean), "no run is without a problem"),
        delay=_median(delays),
        false_per_100=ratio_of_sums(false, [run.n_steps for run in runs]),
    )


def _by_others(runs: Sequence[WatchedRun]) -> tuple[Estimate, Estimate]:
    """Return the share of onsets that the alarms of other runs are about, and the p-value of a permutation test.

    Where alarms say nothing of their own run, those of any other run could have been its own. The p-value is twice the
    share of random exchanges that find as many onsets, the runs as they are counted among these.
    """
    about = np.array([[sum(_is_about(other.alarms, onset) for onset in run.onsets) for other in runs] for run in runs])
    n_runs, n_onsets = len(runs), sum(len(run.onsets) for run in runs)
    if n_runs < 2 or not n_onsets:
        nothing = Estimate(None, n=0, reason=_NO_PROBLEM if n_runs > 1 else "there is one run")
        return nothing, nothing
    own, each = int(np.trace(about)), np.tile(np.arange(n_runs), (_EXCHANGES, 1))
    exchanged = about[each, np.random.default_rng(0).permuted(each, axis=1)].sum(axis=1)
    as_many = int(np.count_nonzero(exchanged >= own))
    p_value = min(1.0, 2 * (1 + as_many) / (1 + _EXCHANGES))
    share_of_others = (int(about.sum()) - own) / (n_runs - 1) / n_onsets
    return Estimate(share_of_others, n=n_onsets), Estimate(p_value, n=n_onsets, method="permutation of runs")


def _is_about(alarms: Sequence[int], onset: int) -> bool:
    return any(onset <= alarm <= onset + WINDOW for alarm in alarms)


def _median(delays: Sequence[int]) -> Estimate:
    """Return the median with the interval of its order statistics (Conover 1999, section 3.2)."""
    if not delays:
        return Estimate(None, n=0, reason="no alarm came after an onset")
    from statistics import median

    from scipy.stats import quantile_test

    interval = quantile_test(delays, p=0.5).confidence_interval()
    return Estimate.of(
        median(delays), interval.low, interval.high, n=len(delays), method="median, order statistics, 95%"
    )


_NO_PROBLEM = "no run has a problem"
_EXCHANGES = 1_999
_LEVEL = 0.05


FOUND = "Runs with a problem in which it is found"
ONSETS_FOUND = f"Onsets with an alarm in the {WINDOW} steps from there"
_ALARMS: Fields = (
    (FOUND, "found", "share"),
    (ONSETS_FOUND, "onsets_found", "share"),
    ("The same, had each run the alarms of another", "by_others", "share"),
    ("p that exchanged alarms find as many", "p_value", "p"),
    ("Runs with an alarm before the problem", "early", "share"),
    ("Runs without a problem that have an alarm", "false_runs", "share"),
    ("Steps from onset to alarm, median", "delay", "number"),
    ("False alarms per 100 steps", "false_per_100", "number"),
)


@made_by_this
def alarms_table(
    name: str,
    title: str,
    alarms: Sequence[Alarms],
    *,
    sources: Mapping[str, str],
    evidence: Evidence = "real",
    milliseconds: Mapping[str, float] | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """Return what each detector's alarms come to, side by side."""
    rows: list[Row] = []
    for one in alarms:
        group, source = f"{one.detector}, on {one.dataset}", sources[one.dataset]
        own = rows_from(one, _ALARMS, group, source, evidence)
        if milliseconds is not None:
            own += rows_in("number", {"Milliseconds a step": milliseconds[one.detector]}, group, "", evidence)
        rows += measured_on(one.dataset, own) if evidence == "real" else own
    texts = f"An alarm is false where no problem begins in the {WINDOW} steps up to it.", *notes
    datasets = [one.dataset for one in alarms] if evidence == "real" else []
    return TableHead(name, "wink", title, texts).table(_finding(alarms), rows, datasets=datasets)


def _finding(alarms: Sequence[Alarms]) -> str:
    known = [one for one in alarms if one.found.value is not None]
    if not known:
        return "No run that was looked at has a problem that could be found." if alarms else "No run was looked at."
    adjusted = holm([one.p_value.value for one in known]).p_values
    shown = {id(one): p for one, p in zip(known, adjusted, strict=True) if p is not None and p <= _LEVEL}
    most = max([one for one in known if id(one) in shown] or known, key=_beyond_others)
    others = number_text(most.by_others.value, "share")
    figures = (
        f"{with_interval(most.onsets_found, 'share')} of the onsets in {most.dataset} within {WINDOW} steps, where the "
        f"alarms of other runs would find {others}"
    )
    if id(most) not in shown:
        return f"No detector is shown to find more than the alarms of other runs would: at most {figures}."
    p = p_text(most.p_value.value, shown[id(most)])
    return f"{most.detector} finds more than the alarms of other runs would ({p}): {figures}."


def _beyond_others(one: Alarms) -> float:
    return (one.onsets_found.value or 0.0) - (one.by_others.value or 0.0)
