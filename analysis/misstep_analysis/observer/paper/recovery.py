"""Wink's recoveries: tables 3 and 4, the effect of a control arm, and the judge that made them.

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
from misstep_analysis.observer.paper.live import CATEGORIES, NOTE, LiveExperiments
from misstep_analysis.observer.paper.prevalence import checked_share
from misstep_analysis.observer.paper.unaided import FEWEST, Loop
from misstep_analysis.observer.recovery.problems import (
    WINDOW,
    Outcome,
    Words,
    as_judged,
    recovery_rate,
    recovery_rates,
    truly,
)
from misstep_analysis.published import Paper, load_paper, published_row
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.audit import denominators_that_print
from misstep_analysis.stats.printed.two_proportions import newcombe
from misstep_analysis.stats.printed.usual_tests import pooled_p_values
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import Row, Table, TableHead, estimate_row, made_by_this, measured_on, rows_in
from misstep_analysis.tables.wording import interval_words, number_text, with_interval

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
            f"Tables 3 and 4 have no control arm: had up to {number_text(overall.value, 'share')} of the conversations "
            "of table 3 recovered by themselves, a control arm as large would have shown the difference at p < 0.05; "
            f"had more, the printed {paper['recovery.single.overall.rate'].printed}% could not be told from doing "
            "nothing."
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
