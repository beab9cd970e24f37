"""Recovery in live experiments: its control, its time course, and the judge against what was planted."""

from msgspec import structs

from misstep_analysis.observer.paper.live import CATEGORIES, LEVEL, NOTE, LiveExperiments
from misstep_analysis.observer.paper.recovery import CLASSES
from misstep_analysis.observer.recovery.effect import (
    RecoveryEffect,
    TimeToRecovery,
    judge_of_recoveries,
    recovery_effects,
    time_to_recovery,
)
from misstep_analysis.observer.recovery.problems import EVENTS, RECOVERED, WINDOW, groundless
from misstep_analysis.stats.decisions.incidence import CumulativeIncidence
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Figure, Row, Table, TableHead, Unit, estimate_row, made_by_this, rows_in, rows_of
from misstep_analysis.tables.wording import interval_words, number_text, p_text, with_interval

NONE_AT_HAND = "No live experiment is available."
FROM_WORD = "From the first word: guidance against detection alone"
FROM_ONSET = "From the onset: guidance against no observer"

CENSORED_ENDS = "Recovered, the other ends taken as censoring"

_AFTER = {FROM_WORD: "after the word", FROM_ONSET: "after the onset"}

GUIDED, UNGUIDED = "with guidance", "without"
_NAMED = {CLASSES[key]: categories for key, categories in CATEGORIES.items()}


def effects_of(live: LiveExperiments) -> dict[str, list[RecoveryEffect]]:
    """Return heading → the effects of guidance by class, from either start, if there are such sessions."""
    arms = {
        FROM_WORD: [live.problems(live.shadow, arm, "word") for arm in ("guide", "shadow")],
        FROM_ONSET: [live.problems(live.ab, arm, "onset") for arm in ("guide", "control")],
    }
    return {
        heading: recovery_effects(guided, unguided, _NAMED)
        for heading, (guided, unguided) in arms.items()
        if guided or unguided
    }


_RECOVERY_EFFECT = TableHead(
    "recovery_effect",
    "wink",
    f"Recovery within {WINDOW} steps with guidance and without, in live sessions of a scripted agent",
    (
        NOTE,
        "Recovered: over for good within the window, and neither the session nor an engineer ended it. Units that "
        "were assigned are the clusters of every interval and test. The question is asked of all classes together; "
        "the p-values of the single ones are adjusted for their number (Holm).",
        "From the first word: both arms are followed from the step at which the agent hears the word, or would "
        "have heard it. From the onset: what the observer never saw, or saw too late, counts as well.",
    ),
)


@made_by_this
def recovery_effect_table(live: LiveExperiments) -> Table:
    """Return the control: recovery within 15 steps with guidance and without, and the difference, by class."""
    effects = effects_of(live)
    rows = [
        row
        for heading, of_heading in effects.items()
        for effect in of_heading
        for row in _effect_rows(effect, heading, live.source(live.shadow if heading == FROM_WORD else live.ab))
    ]
    return _RECOVERY_EFFECT.table(
        _effect_finding(effects, live.agents),
        rows,
        drawn=(
            estimate_row(effect.name, effect.difference, "difference", heading, "", "generated")
            for heading, of_heading in effects.items()
            for effect in of_heading
            if effect.difference.low is not None
        ),
    )


def _effect_rows(effect: RecoveryEffect, heading: str, source: str) -> list[Row]:
    adjusted = structs.replace(effect.test, p_value=effect.p_adjusted, test="Holm over the single classes")
    figures: tuple[tuple[str, Figure, Unit], ...] = (
        (f"{effect.name}: {GUIDED}", effect.guided, "share"),
        (f"{effect.name}: {UNGUIDED}", effect.unguided, "share"),
        (f"{effect.name}: difference", effect.difference, "difference"),
        (f"{effect.name}: p-value", effect.test, "p"),
        (f"{effect.name}: p-value, adjusted", adjusted, "p"),
    )
    return rows_of(figures, heading, source, "generated")


def _effect_finding(effects: dict[str, list[RecoveryEffect]], agents: str) -> str:
    sentences = []
    for heading, effect in effects.items():
        overall = effect[-1]
        if overall.difference.value is None:
            continue
        guided, unguided = (number_text(one.value, "share") for one in (overall.guided, overall.unguided))
        apart = number_text(overall.difference.value, "difference")
        interval = interval_words(overall.difference.low, overall.difference.high, "difference")
        clear = overall.p_adjusted is not None and overall.p_adjusted < LEVEL
        none = "" if clear else "; no difference was found"
        sure = f"{apart}, {interval}; {p_text(overall.test.p_value, overall.p_adjusted)}{none}"
        sentences.append(f"{guided} with guidance and {unguided} without {_AFTER[heading]} ({sure})")
    if not sentences:
        return NONE_AT_HAND
    return f"Of {agents}, these parts of planted misbehaviours recovered within {WINDOW} steps: {'; '.join(sentences)}."


_TIME_TO_RECOVERY = TableHead(
    "time_to_recovery",
    "wink",
    "Time to recovery, with an engineer's turn and the end of the session as competing events",
    (
        NOTE,
        "Cumulative incidences by Aalen and Johansen; intervals and tests resample the units that were assigned. "
        "Taking the other ends as censoring (1 less Kaplan-Meier) counts what an engineer or the end of the "
        "session has ended as still able to recover, and overstates recovery.",
    ),
)


@made_by_this
def time_to_recovery_table(live: LiveExperiments) -> Table:
    """Return recovery over time from the word on, with an engineer's turn and the session's end as competing events."""
    times = time_of(live)
    source = live.source(live.shadow)
    return _TIME_TO_RECOVERY.table(
        _time_finding(times, live.agents),
        () if times is None else tuple(_time_rows(times, source)),
        drawn=() if times is None else tuple(curve_rows(times, source)),
    )


def time_of(live: LiveExperiments) -> TimeToRecovery | None:
    """Return recovery over time in the shadow experiment; `None` if an arm has no problem."""
    guided, unguided = (live.problems(live.shadow, arm, "word") for arm in ("guide", "shadow"))
    return time_to_recovery(guided, unguided, "word", live.seed)


def _time_rows(times: TimeToRecovery, source: str) -> list[Row]:
    rows = []
    for event, compared in times.at_window.items():
        guided, unguided = compared.shares
        figures: tuple[tuple[str, Figure, Unit], ...] = (
            (GUIDED.capitalize(), guided, "share"),
            (UNGUIDED.capitalize(), unguided, "share"),
            ("Difference", compared.difference, "difference"),
            ("p-value", compared.test, "p"),
        )
        rows += rows_of(figures, f"By step {WINDOW}: {EVENTS[event]}", source, "generated")
    shares = {
        name.capitalize(): Estimate(_censored_share(curve), n=curve.n, method="1 less Kaplan-Meier")
        for name, curve in ((GUIDED, times.guided), (UNGUIDED, times.unguided))
    }
    return rows + rows_in("share", shares, CENSORED_ENDS, source, "generated")


def _censored_share(curve: CumulativeIncidence) -> float:
    """Return the share that recovered by the window if what ended otherwise is taken as still able to: too high."""
    by_time = zip(curve.times, curve.one_minus_kaplan_meier, strict=True)
    return next((float(share) for time, share in reversed(list(by_time)) if time <= WINDOW), 0.0)


def curve_rows(times: TimeToRecovery, source: str) -> list[Row]:
    """Return rows of a curve: by each step after the word, the share that recovered in either arm."""
    return [
        estimate_row(str(step), curve.at(step, RECOVERED), "share", name, source, "generated")
        for name, curve in ((GUIDED, times.guided), (UNGUIDED, times.unguided))
        for step in range(1, WINDOW + 1)
    ]


def curve_places() -> dict[str, float]:
    """Return quantity of a curve's row → its step."""
    return {str(step): float(step) for step in range(1, WINDOW + 1)}


def _time_finding(times: TimeToRecovery | None, agents: str) -> str:
    if times is None:
        return NONE_AT_HAND
    compared = times.at_window[RECOVERED]
    with_, without = (with_interval(share, "share") for share in compared.shares)
    by_end = _censored_share(times.unguided)
    return (
        f"Of {agents}: by step {WINDOW} after the word, {with_} of planted misbehaviours had recovered with guidance "
        f"and {without} without; taking the other ends as censoring would say {number_text(by_end, 'share')} without."
    )


_LIVE_JUDGE = TableHead(
    "live_judge",
    "wink",
    "The judge of recoveries against planted recoveries",
    (
        NOTE,
        "Sensitivity and specificity that correct the rate are measured on one half of the units, and the rates "
        "are those of the other half (Rogan and Gladen). Where few did not recover, specificity is hardly known, "
        "and the corrected rate neither.",
    ),
)


@made_by_this
def live_judge_table(live: LiveExperiments) -> Table:
    """Return the judge of recoveries against planted recoveries, and the recovery rate corrected for its errors."""
    judged = judge_of_recoveries(live.problems(live.shadow, "guide", "word"))
    idle, words = groundless(one for one in live.shadow if one.arm == "guide")
    source = live.source(live.shadow)
    counts = {
        "The judge against what was planted": {
            "Precision: recovered where the judge says so": judged.precision,
            "Sensitivity: recoveries that are called so": judged.sensitivity,
            "Specificity: others that are not called so": judged.specificity,
        },
        "Recovery rate of the other half": {
            "As judged": judged.apparent,
            "Corrected for the judge's errors": judged.corrected,
            "As planted": judged.true,
        },
    }
    rows = [row for heading, shares in counts.items() for row in rows_in("share", shares, heading, source, "generated")]
    labelled = judged.precision.value is not None
    return _LIVE_JUDGE.table(
        (
            f"The judge is right in {with_interval(judged.precision, 'share')} of what it calls recovered, and calls "
            f"{with_interval(judged.sensitivity, 'share')} of what recovered so. "
            f"Corrected for its errors, the recovery rate is {with_interval(judged.corrected, 'share')}, where "
            f"{number_text(judged.apparent.value, 'share')} were judged and {number_text(judged.true.value, 'share')} "
            "planted as recovered."
            if labelled
            else "No recovery of a live session has a judge's label."
        ),
        rows,
        (
            f"{idle:,} of {words:,} words to the agent had no planted misbehaviour of their category going on, and "
            f"{judged.unlabelled:,} problems have no label of the judge: both are left out.",
        ),
    )
