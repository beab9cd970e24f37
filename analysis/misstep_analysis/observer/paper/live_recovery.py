"""Recovery in live experiments: its control, its time course, and the judge against what was planted.

Wink's recoveries: tables 3 and 4, the effect of a control arm, and the judge that made them.

Both tables print counts, so that each rate can be computed again. They have no control arm: instead, the recovery
without intervention is computed at which the printed rates would say nothing.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from math import sqrt
from statistics import NormalDist

import numpy as np
from msgspec import structs

from misstep_analysis.audit.tables import CheckedFigure, checked_figure, checked_rows, ended, recomputed_rows, worst
from misstep_analysis.observer.paper.live import CATEGORIES, LEVEL, NOTE, LiveExperiments
from misstep_analysis.observer.paper.prevalence import checked_share
from misstep_analysis.observer.paper.unaided import FEWEST, Loop
from misstep_analysis.observer.recovery import (
    EVENTS,
    RECOVERED,
    WINDOW,
    Outcome,
    RecoveryEffect,
    TimeToRecovery,
    Words,
    as_judged,
    groundless,
    judge_of_recoveries,
    recovery_effects,
    recovery_rate,
    recovery_rates,
    time_to_recovery,
    truly,
)
from misstep_analysis.published import Paper, load_paper, published_row
from misstep_analysis.stats.decisions.incidence import CumulativeIncidence
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.audit import denominators_that_print
from misstep_analysis.stats.printed.two_proportions import newcombe
from misstep_analysis.stats.printed.usual_tests import pooled_p_values
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import (
    Figure,
    Row,
    Table,
    TableHead,
    Unit,
    estimate_row,
    made_by_this,
    measured_on,
    rows_in,
    rows_of,
)
from misstep_analysis.tables.wording import interval_words, number_text, p_text, with_interval

CLASSES = {"rp": "Reasoning problems", "tcf": "Tool call failure", "sd": "Specification drift", "overall": "Overall"}
TABLES = {"single": "One intervention (table 3)", "multiple": "Several interventions (table 4)"}
_PRECISION_LIMIT = 99
"""The largest number of trajectories that "tens" may be."""

_LEVEL = 0.05


_RECOVERY = TableHead(
    "recovery",
    "wink",
    "Recovery after one and after several interventions (Wink, tables 3 and 4)",
    (
        "Intervals are Wilson's, of sampling alone: a model judged the recovery, and conversations of one user may "
        "hang together.",
        "Where a judge could not see a recovery the paper counts none: its own rates are conservative in that.",
    ),
)


@made_by_this
def recovery_table() -> Table:
    """Return tables 3 and 4: the share of conversations whose agent recovered, by class, printed and recomputed."""
    paper = load_paper("wink")
    rates = {
        (key, part): checked_share(paper, paper[f"recovery.{key}.{part}.rate"], name, heading)
        for key, heading in TABLES.items()
        for part, name in CLASSES.items()
    }
    counts = [
        checked_figure(paper, figure, f"{name}: {figure.column.lower()}", f"Counts: {heading}")
        for key, heading in TABLES.items()
        for part, name in CLASSES.items()
        for column in ("n", "recovered", "not_recovered")
        for figure in [paper[f"recovery.{key}.{part}.{column}"]]
    ]
    elsewhere = [
        checked_figure(paper, figure, f"{figure.row} ({figure.place})", "Elsewhere in the paper")
        for figure in paper.figure
        if figure.id.startswith("recovery.") and figure.derivations and not figure.place.startswith("Table")
        if figure.id != "recovery.judge.precision"
    ]
    figures = [*rates.values(), *counts, *elsewhere]
    return _RECOVERY.table(
        (
            f"{with_interval(rates['single', 'overall'].share, 'share')} of conversations with one intervention "
            f"recovered, and {with_interval(rates['multiple', 'overall'].share, 'share')} of those with several. "
            f"{_ended(figures)}"
        ),
        checked_rows(figures),
        drawn=recomputed_rows(rates.values()),
    )


def _ended(figures: Sequence[CheckedFigure]) -> str:
    sentence, failed = ended(figures, "tables 3 and 4 and their figures elsewhere"), worst(figures)
    return sentence if failed is None else f"{sentence} {failed[0].figure.place}: {failed[1].explanation}"


_RECOVERY_DIFFERENCE = TableHead(
    "recovery_difference",
    "wink",
    "Recovery by number of interventions and the mix of classes (Wink, tables 3 and 4)",
    (
        "No effect of further interventions: a conversation gets a second one because the first did not end the "
        "misbehaviour, or another came up.",
    ),
)


@made_by_this
def recovery_difference_table() -> Table:
    """Return how much lower recovery is with several interventions than with one, by class and at one mix."""
    paper = load_paper("wink")
    rows: list[Row] = []
    for part, name in CLASSES.items():
        (x1, n1), (x2, n2) = (_counts(paper, key, part) for key in TABLES)
        source = f"{x1:,} / {n1:,} less {x2:,} / {n2:,}, tables 3 and 4"
        overall = structs.replace(newcombe(x1, n1, x2, n2), n=n1 + n2)  # the last class is all of them
        rows.append(estimate_row(name, overall, "difference", "One intervention less several", source, "recomputed"))
    standardised = _standardised(paper)
    mixed = x1 / n1 - (standardised.value or 0)
    name, group = "Overall, several interventions, at table 3's mix of classes", "At one mix of classes"
    rows.append(estimate_row(name, standardised, "share", group, "tables 3 and 4", evidence="recomputed"))
    return _RECOVERY_DIFFERENCE.table(
        (
            f"Recovery is {number_text(overall.value, 'difference').lstrip('+')} lower with several interventions "
            f"({interval_words(overall.low, overall.high, 'difference')}); at "
            f"table 3's mix of classes the gap is {number_text(mixed, 'difference').lstrip('+')}, so that "
            f"{number_text((overall.value or 0) - mixed, 'difference').lstrip('+')} are due to which "
            "misbehaviours recur."
        ),
        rows,
    )


def _counts(paper: Paper, key: str, part: str) -> tuple[int, int]:
    return int(paper[f"recovery.{key}.{part}.recovered"].number), int(paper[f"recovery.{key}.{part}.n"].number)


def _standardised(paper: Paper) -> Estimate:
    """Return table 4's rates at table 3's mix of classes: direct standardisation, the variance of a weighted sum."""
    classes = [part for part in CLASSES if part != "overall"]
    sizes = [_counts(paper, "single", part)[1] for part in classes]
    weights = [size / sum(sizes) for size in sizes]
    counts = [_counts(paper, "multiple", part) for part in classes]
    value = sum(weight * x / n for weight, (x, n) in zip(weights, counts, strict=True))
    variance = sum(weight**2 * (x / n) * (1 - x / n) / n for weight, (x, n) in zip(weights, counts, strict=True))
    half = NormalDist().inv_cdf(0.975) * sqrt(variance)
    method = "direct standardisation, normal, 95%"
    return Estimate(value, value - half, value + half, sum(n for _, n in counts), method)


_RECOVERY_CONTROL = TableHead(
    "recovery_control",
    "wink",
    "The highest recovery without intervention from which the printed rates differ significantly",
    (
        "A recovery rate after guidance is an effect only against what happens without; the paper's own shadow "
        "mode, which detects and does not intervene, could give that rate, but it prints no recovery.",
        "Independent conversations are assumed; where they hang together the bound lies lower.",
    ),
)


@made_by_this
def control_table() -> Table:
    """Return the recovery without help that tables 3 and 4 would rule out with a control arm."""
    paper = load_paper("wink")
    rows, highest = [], {}
    for (key, heading), (part, name) in product(TABLES.items(), CLASSES.items()):
        recovered, n = _counts(paper, key, part)
        method = "pooled two-proportion z, p < 0.05, a control arm of the same size"
        lower = np.arange(recovered)
        most = int(lower[pooled_p_values(recovered, n, lower, n) < _LEVEL].max())
        highest[key, part] = Estimate(most / n, n=n, method=method)
        source = f"{recovered:,} / {n:,}"
        rows.append(estimate_row(name, highest[key, part], "share", heading, source, "recomputed"))
    overall = highest["single", "overall"]
    return _RECOVERY_CONTROL.table(
        (
            f"There is no control group: if more than {number_text(overall.value, 'share')} recover unaided, "
            f"the printed {paper['recovery.single.overall.rate'].printed}% shows no effect."
        ),
        rows,
    )


_RECOVERY_JUDGE = TableHead(
    "recovery_judge",
    "wink",
    "The judge of recoveries against people (Wink, section 4.1)",
    (
        "Precision says how often a recovery that the judge sees is one; recoveries that it misses would come on "
        "top, and how many they are is not printed.",
        "The interval is of the verified trajectories alone, which are few; the rate's own is narrow beside it.",
    ),
)


@made_by_this
def judge_precision_table() -> Table:
    """Return the precision of the judge of recoveries: which numbers of trajectories print it, and their intervals."""
    paper = load_paper("wink")
    printed = paper["recovery.judge.precision"]
    fitting = [(counts[0], n) for n, counts in denominators_that_print(printed.digits, _PRECISION_LIMIT, 10).items()]
    rate = paper["recovery.single.overall.rate"].number
    rows = [published_row(printed, "Precision of the judge")]
    truly = []
    for right, n in (fitting[0], fitting[-1]):
        precision = wilson(right, n)
        value, low, high = ((end or 0) * rate for end in (precision.value, precision.low, precision.high))
        truly.append(structs.replace(precision, value=value, low=low, high=high))
        figures = {"Precision of the judge": precision, "Recovered with one intervention, and truly": truly[-1]}
        rows += rows_in("share", figures, f"If {n} were verified", f"{right} / {n}, {printed.place}", "recomputed")
    least, most = truly
    return _RECOVERY_JUDGE.table(
        (
            f"{printed.printed} fits {len(fitting)} numbers of verified trajectories from {fitting[0][1]} to "
            f"{fitting[-1][1]}. With {fitting[0][1]}, at least {number_text(least.low, 'share')} of the conversations "
            f"of table 3 were called recovered and had recovered; with {fitting[-1][1]}, at least "
            f"{number_text(most.low, 'share')} (lower ends of 95% intervals)."
        ),
        rows,
    )


WITHOUT = "Without guidance"
_WORDS: Mapping[Words, str] = {"single": TABLES["single"], "multiple": TABLES["multiple"]}
_OUTCOMES: Mapping[str, Outcome] = {"": truly, ", as judged": as_judged}
"""Suffix of a class → the outcome that its recoveries are counted by: planted, or a judge's."""

_NAMED = {CLASSES[key]: categories for key, categories in CATEGORIES.items()}


_RECOVERY_EVIDENCE = TableHead(
    "recovery_evidence",
    "wink",
    "Recovery with guidance and without, in all kinds of evidence (Wink, tables 3 and 4)",
    (
        "The paper has no row without guidance: recovery without help is known for generated sessions and for "
        "public runs alone.",
        f"Real: from the step at which the rule could see a loop, recovered by Wink's criterion where the same "
        f"call did not come back within {WINDOW} steps and the run went on for as long. Other agents, other tasks.",
    ),
)


@made_by_this
def recovery_evidence_table(live: LiveExperiments | None = None, loops: Sequence[Loop] = ()) -> Table:
    """Return recovery by class and number of interventions, a column a kind of evidence, and that without guidance."""
    return _RECOVERY_EVIDENCE.table(
        _finding(live, loops),
        (*_printed_rows(), *_live_rows(live), *_loop_rows(loops)),
        () if live is None else (NOTE, _LIVE),
        datasets=(loop.dataset for loop in loops),
    )


_LIVE = (
    "A live session's n counts the planted misbehaviours that were going on when the agent heard a word of them, or "
    "would have heard it; intervals are over the units that were assigned."
)


def _printed_rows() -> list[Row]:
    paper, rows = load_paper("wink"), []
    for key, heading in TABLES.items():
        for part, name in CLASSES.items():
            figures = {of: paper[f"recovery.{key}.{part}.{of}"] for of in ("rate", "recovered", "n")}
            share = wilson(int(figures["recovered"].number), int(figures["n"].number))
            rows += [
                published_row(figures["rate"], name, n=share.n, group=heading),
                estimate_row(name, share, "share", heading, figures["rate"].place, "recomputed"),
            ]
    return rows


def _live_rows(live: LiveExperiments | None) -> list[Row]:
    if live is None:
        return []
    guided, unguided = (live.problems(live.shadow, arm, "word") for arm in ("guide", "shadow"))
    source = live.source(live.shadow)
    rates = [
        (name + added, rate, heading)
        for added, outcome in _OUTCOMES.items()
        for words, heading in _WORDS.items()
        for name, rate in recovery_rates(guided, _NAMED, words, outcome).items()
    ]
    rates += [(name, rate, WITHOUT) for name, rate in recovery_rates(unguided, _NAMED).items()]
    return [
        estimate_row(name, rate, "share", heading, source, "generated")
        for name, rate, heading in rates
        if rate.value is not None
    ]


def _loop_rows(loops: Sequence[Loop]) -> list[Row]:
    sources = {loop.dataset: loop.source for loop in loops}
    return [
        row
        for dataset, share in unaided_shares(loops).items()
        for row in measured_on(
            dataset, [estimate_row(f"{CLASSES['rp']}, {dataset}", share, "share", WITHOUT, sources[dataset])]
        )
    ]


def unaided_shares(loops: Sequence[Loop]) -> dict[str, Estimate]:
    """Return set → the share of its loops that were over within the window while the run went on."""
    sets = sorted({loop.dataset for loop in loops})
    own = {name: [loop for loop in loops if loop.dataset == name] for name in sets}
    return {name: wilson(sum(loop.event[0] > WINDOW for loop in of), len(of)) for name, of in own.items()}


def _finding(live: LiveExperiments | None, loops: Sequence[Loop]) -> str:
    paper = load_paper("wink")
    printed = paper["recovery.single.overall.rate"].printed
    sentences = [f"The paper prints {printed}% of conversations with one intervention as recovered, and no control"]
    if live is not None:
        guided = recovery_rate(live.problems(live.shadow, "guide", "word"))
        alone = recovery_rate(live.problems(live.shadow, "shadow", "word"))
        sentences.append(
            f"in generated sessions {with_interval(guided, 'share')} of planted misbehaviours recovered with guidance "
            f"and {with_interval(alone, 'share')} with detection alone"
        )
    shares = {name: share for name, share in unaided_shares(loops).items() if (share.n or 0) >= FEWEST}
    if shares:
        least, most = (pick(shares, key=lambda name: shares[name].value or 0) for pick in (min, max))
        sentences.append(
            f"of loops in {len(shares)} public sets, from {with_interval(shares[least], 'share', least)} to "
            f"{with_interval(shares[most], 'share', most)} recovered unaided by Wink's criterion"
        )
    return f"{'; '.join(sentences)}."


NONE_AT_HAND = "No live experiment is available."
FROM_WORD = "From the first word: guidance against detection alone"
FROM_ONSET = "From the onset: guidance against no observer"

CENSORED_ENDS = "Recovered, the other ends taken as censoring"

_AFTER = {FROM_WORD: "after the word", FROM_ONSET: "after the onset"}

GUIDED, UNGUIDED = "with guidance", "without"
_NAMED_of_live_recovery = {CLASSES[key]: categories for key, categories in CATEGORIES.items()}


def effects_of(live: LiveExperiments) -> dict[str, list[RecoveryEffect]]:
    """Return heading → the effects of guidance by class, from either start, if there are such sessions."""
    arms = {
        FROM_WORD: [live.problems(live.shadow, arm, "word") for arm in ("guide", "shadow")],
        FROM_ONSET: [live.problems(live.ab, arm, "onset") for arm in ("guide", "control")],
    }
    return {
        heading: recovery_effects(guided, unguided, _NAMED_of_live_recovery)
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
