"""Tables 3 and 4 in all kinds of evidence: printed, recomputed, generated, and loops in public runs without help."""

from collections.abc import Mapping, Sequence

from misstep.analysis.measures.recovery.problems import (
    WINDOW,
    Outcome,
    Words,
    as_judged,
    recovery_rate,
    recovery_rates,
    truly,
)
from misstep.analysis.papers.wink.live import CATEGORIES, NOTE, LiveExperiments
from misstep.analysis.papers.wink.recovery import CLASSES, TABLES
from misstep.analysis.papers.wink.unaided import FEWEST, Loop
from misstep.analysis.published import load_paper, published_row
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.tables import Row, Table, TableHead, estimate_row, made_by_this, measured_on
from misstep.analysis.tables.wording import with_interval

WITHOUT = "Without guidance"
"""The heading of recoveries without help."""

_WORDS: Mapping[Words, str] = {"single": TABLES["single"], "multiple": TABLES["multiple"]}
_OUTCOMES: Mapping[str, Outcome] = {"": truly, ", as judged": as_judged}
"""Suffix of a class → the outcome that its recoveries are counted by: planted, or a judge's."""

_NAMED = {CLASSES[key]: categories for key, categories in CATEGORIES.items()}


_RECOVERY_EVIDENCE = TableHead(
    "recovery_evidence",
    "wink",
    "Recovery with guidance and without, in all kinds of evidence (Wink, tables 3 and 4)",
    (
        "The paper has no row without guidance: what recovers by itself is known for generated sessions and for "
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
