"""Tables II to V with this software's figures beside the printed ones: a column a kind of evidence.

A measured figure is of other cases and another agent than the paper's, and confirms nothing. If no run is recorded,
the printed and recomputed figures are shown alone, and a note says so.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product

from msgspec import structs

from misstep_analysis.audit.tables import checked_figure, checked_rows, finding
from misstep_analysis.passing.paired_systems import pair_rows
from misstep_analysis.published import Figure, load_paper, published_row
from misstep_analysis.repair.attempts import RepairArm, ReviewFunnel, judge_against_oracle, review_finding
from misstep_analysis.repair.comparison import REPAIRS, compare_repairs
from misstep_analysis.repair.paper.tables import (
    SETTINGS,
    SOLVE_RATES,
    formats_table,
    judge_confusion,
    solve_rate_table,
)
from misstep_analysis.repair.scores import NOTES, RepairScores, repairs_finding, score_repairs
from misstep_analysis.stats.diagnostic import Confusion
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.audit import value_prints_as
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import (
    Evidence,
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

SETTING_KEYS = {"react": "react", "react+static": "static", "react+tests": "tests", "react+static+tests": "both"}
"""Name of a setting in a run → its key in the published figures."""

_STATIC = "+static"

FORMATS = {
    "unified_diff": "Unified diff",
    "line_diff": "Line diff",
    "search_replace": "Srch-Repl",
    "patch_envelope": "Patch envelope",
}

PATCHED = "Patch generated, mean of five runs"
ERRORS = "Error, mean of five runs"
MEDIAN = "Iterations, as a median of whole counts"

NONE_RECORDED = (
    "No run of this software is recorded for this table: `misstep repair run`, then `misstep repair report RUN "
    "--record data/recordings/repair/NAME` records one."
)
ATTEMPTS_MADE = "Measured rates are of one attempt a case, or of five if there is a measured rate of five runs."
OTHER_CASES = (
    "Generated and real figures are this software's own runs on other cases than the paper's, with another policy: "
    "they confirm nothing that is printed."
)

_SLUG = "engineering_agent"
_GENERATOR = "misstep_harness.repair.build.sets.write_planted"
_FUNNEL_COUNTS = {"production.published": "published", "production.reviewed": "reviewed", "production.landed": "landed"}
_FUNNEL_RATES = {
    "production.reviewed.share": ("reviewed", "published"),
    "production.landed.share": ("landed", "published"),
    "production.landed.of_reviewed": ("landed", "reviewed"),
}
_CLASSES = ("unacceptable", "acceptable")
_READINGS = {"Class 0 is the first row, as printed": _CLASSES, "Class 0 is the second row": _CLASSES[::-1]}
"""A reading of the rows of table IV → the class that each is printed as."""
_MEASURES = ("precision", "recall")


def of_ablation(arms: Iterable[RepairArm]) -> list[RepairArm]:
    """Return the arms of table III: those whose cases have one kind of instructions, and that can show something."""
    chosen = _of_settings(arms)
    return [arm for arm in chosen if not _changes_nothing(arm, chosen)]


def _of_settings(arms: Iterable[RepairArm]) -> list[RepairArm]:
    return [arm for arm in arms if not arm.instructions and arm.setting in SETTING_KEYS]


def _changes_nothing(arm: RepairArm, arms: Iterable[RepairArm]) -> bool:
    """Return whether static analysis left every attempt of an arm as it is in the arm without it."""
    without = arm.setting.replace(_STATIC, "")
    others = (one for one in arms if _cases(one) == _cases(arm) and one.setting == without != arm.setting)
    outcomes = _outcomes(arm)
    return any(outcomes.items() <= _outcomes(other).items() for other in others)


def _outcomes(arm: RepairArm) -> dict[tuple[str, int], tuple[bool | None, bool, int]]:
    return {
        (attempt.case, attempt.sample): (attempt.solved, attempt.patched, attempt.iterations)
        for attempt in arm.attempts
    }


def _cases(arm: RepairArm) -> tuple[str, ...]:
    """Return what the arms that are compared with each other have in common."""
    return arm.policy, arm.model, arm.format, arm.benchmark, arm.version


def _left_out(arms: Sequence[RepairArm]) -> tuple[str, ...]:
    chosen = _of_settings(arms)
    texts = sorted({_arm_text(arm) for arm in chosen if _changes_nothing(arm, chosen)})
    if not texts:
        return ()
    return (
        f"Left out are settings with static analysis of {'; '.join(texts)}: case by case they give what the setting "
        "without it gives, so that this policy cannot show what static analysis adds.",
    )


def of_formats(arms: Iterable[RepairArm]) -> list[RepairArm]:
    """Return the arms of table II: those whose cases come with high-level or detailed instructions."""
    return [arm for arm in arms if arm.instructions and arm.format in FORMATS]


_ABLATION = TableHead(
    "ablation", _SLUG, "Four settings, printed and measured (Engineering Agent, table III)", generator=_GENERATOR
)


@made_by_this
def ablation_table(arms: Sequence[RepairArm] = (), seed: int = 0) -> Table:
    """Return table III: four settings, printed, recomputed, and measured."""
    scored = [score_repairs(arm, seed) for arm in _in_order(of_ablation(arms))]
    printed = solve_rate_table()
    rows = [row for one in scored for row in measured_on_arm(one.arm, _ablation_rows(one))]
    return _ABLATION.table(
        _best_settings(scored) if scored else printed.finding,
        (*printed.rows, *rows),
        (*printed.notes, *((*_left_out(arms), OTHER_CASES, ATTEMPTS_MADE, *NOTES) if scored else (NONE_RECORDED,))),
        datasets=datasets_of(one.arm for one in scored),
        drawn=(*printed.drawn, *map(_drawn_row, scored)),
    )


_ABLATION_PAIRS = TableHead(
    "ablation_pairs",
    _SLUG,
    "Settings compared in pairs on the same cases",
    (
        "With one attempt a case the test is McNemar's (mid-p) with Tango's interval; with more each case goes "
        "either way as a whole. Holm's adjustment is for the pairs on one set of cases.",
    ),
    generator=_GENERATOR,
)


@made_by_this
def ablation_pairs_table(arms: Sequence[RepairArm] = ()) -> Table:
    """Return the settings of recorded runs compared in pairs on the same cases, which the paper does not print."""
    compared = [
        (same, compare_repairs([structs.replace(arm, name=_setting(arm)) for arm in same]))
        for same in _on_the_same_cases(of_ablation(arms))
    ]
    pairs = [pair for _, comparisons in compared for pair in comparisons]
    apart = sum(pair.apart for pair in pairs)
    rows = [
        structs.replace(row, evidence=same[0].evidence, source=_arm_text(same[0]))
        for same, comparisons in compared
        for pair in comparisons
        for row in measured_on_arm(same[0], pair_rows(pair, REPAIRS, alone=False))
    ]
    sentence = f"{apart} of {len(pairs)} pairs of measured settings differ at the level 0.05 after Holm's adjustment."
    return _ABLATION_PAIRS.table(
        sentence if pairs else "No two settings were measured on the same cases.",
        rows,
        () if pairs else (NONE_RECORDED,),
        datasets=datasets_of(same[0] for same, _ in compared),
    )


def _best_settings(scored: Sequence[RepairScores]) -> str:
    """Return what the best setting solves, a sentence for each policy on each set of cases."""
    named: dict[str, list[RepairScores]] = {}
    for one in scored:
        named.setdefault(_arm_text(one.arm), []).append(_called(one, _setting(one.arm)))
    return " ".join(repairs_finding(same) for same in named.values())


def _in_order(arms: Iterable[RepairArm]) -> list[RepairArm]:
    return sorted(arms, key=lambda arm: (_arm_text(arm), list(SETTING_KEYS).index(arm.setting)))


def _drawn_row(scores: RepairScores) -> Row:
    arm = scores.arm
    return estimate_row(_setting(arm), scores.solve_rate, "share", _arm_text(arm), _arm_text(arm), arm.evidence)


def _called(scores: RepairScores, name: str) -> RepairScores:
    return structs.replace(scores, arm=structs.replace(scores.arm, name=f"{name} ({_arm_text(scores.arm)})"))


def _format_of(arm: RepairArm) -> str:
    return f"{FORMATS[arm.format]}, {arm.instructions} instructions"


def _setting(arm: RepairArm) -> str:
    return SETTINGS[SETTING_KEYS[arm.setting]]


def _arm_text(arm: RepairArm) -> str:
    return f"{arm.author} on {arm.benchmark}"


def _ablation_rows(scores: RepairScores) -> list[Row]:
    first, several = SOLVE_RATES.values()
    rates = {first: scores.solve_rate}
    if 5 in scores.solve_rate_at:
        rates[several] = scores.solve_rate_at[5]
    rates |= {PATCHED: scores.patch_generation_rate, ERRORS: scores.error_rate}
    seconds = scores.spent["seconds"]
    took = Estimate(seconds.each, n=seconds.recorded, method="mean over attempts on record")
    figures: list[tuple[str, Estimate, Unit]] = [
        *((name, rate, "share") for name, rate in rates.items()),
        (MEDIAN, scores.iterations.median, "number"),
        ("Iterations, mean", scores.iterations.mean, "number"),
        ("Seconds an attempt", took, "seconds"),
    ]
    return rows_of(figures, _setting(scores.arm), _arm_text(scores.arm), scores.arm.evidence)


def _on_the_same_cases(arms: Sequence[RepairArm]) -> list[list[RepairArm]]:
    groups: dict[tuple[str, ...], list[RepairArm]] = {}
    for arm in _in_order(arms):
        groups.setdefault(_cases(arm), []).append(arm)
    return [same for same in groups.values() if len({arm.setting for arm in same}) == len(same) > 1]


_MEASURED_FORMATS = TableHead(
    "measured_formats",
    _SLUG,
    "Edit formats by instructions, printed and measured (Engineering Agent, table II)",
    generator=_GENERATOR,
)


@made_by_this
def measured_formats_table(arms: Sequence[RepairArm] = (), seed: int = 0) -> Table:
    """Return table II: edit formats by instructions, the paper's two models and below them the recorded policies."""
    scored = [score_repairs(arm, seed) for arm in of_formats(arms)]
    printed = formats_table()
    rows = []
    for one in scored:
        arm = one.arm
        group = f"{arm.author}, instructions by {arm.instructions_author}"
        rates = {_format_of(arm): one.solve_rate}
        rows += measured_on_arm(arm, rows_in("share", rates, group, f"{arm.benchmark}, {arm.setting}", arm.evidence))
    return _MEASURED_FORMATS.table(
        repairs_finding([_called(one, f"{_format_of(one.arm)} by {one.arm.instructions_author}") for one in scored])
        if scored
        else printed.finding,
        (*printed.rows, *rows),
        (*printed.notes, OTHER_CASES if scored else NONE_RECORDED),
        datasets=datasets_of(one.arm for one in scored),
    )


_JUDGE_READINGS = TableHead(
    "judge_readings",
    _SLUG,
    "Both readings of the rows of the judge's table (Engineering Agent, table IV)",
    generator=_GENERATOR,
)


@made_by_this
def judge_readings_table(arms: Sequence[RepairArm] = ()) -> Table:
    """Return table IV with both readings of its rows beside the text's counts, and a measured judge of patches."""
    cells = judge_confusion()
    paper = load_paper(_SLUG)
    rows: list[Row] = []
    fitting = []
    for reading, classes in _READINGS.items():
        figures = {
            (measure, name): paper[f"judge.table.{printed}.{measure}"]
            for measure, (name, printed) in product(_MEASURES, zip(_CLASSES, classes, strict=True))
        }
        shares = {place: Fraction(*_counts(cells, place[1], place[0])) for place in figures}
        fits = {place: value_prints_as(shares[place], figure.digits) for place, figure in figures.items()}
        fitting.append(sum(fits.values()))
        for (measure, name), figure in figures.items():
            place = measure, name
            rows += _reading_rows(figure, f"{measure.capitalize()}, {name}", reading, shares[place], fits=fits[place])
    as_printed, swapped = fitting
    measured = [
        row for arm in arms for row in measured_on_arm(arm, _judge_rows(judge_against_oracle(arm.attempts), arm))
    ]
    notes = (
        "In the measured figures a patch that the oracle's tests refuse is unacceptable; people ask for more.",
        OTHER_CASES,
    )
    return _JUDGE_READINGS.table(
        (
            f"With the rows as printed {as_printed} of 4 figures of table IV follow from the counts in the text, with "
            f"the two rows swapped {swapped} of 4."
        ),
        (*rows, *measured),
        (
            f"The text's counts: {cells.tp} unacceptable patches called so, {cells.fn} not; {cells.fp} acceptable "
            f"ones called unacceptable, {cells.tn} not.",
            *(notes if measured else ("No recorded run has a judge of patches among its validators.",)),
        ),
        datasets=datasets_of(arm for arm in arms if measured),
    )


def _counts(cells: Confusion, name: str, measure: str) -> tuple[int, int]:
    """Return numerator and denominator of a precision or recall of the unacceptable or the acceptable class."""
    right, other, missed = (cells.tp, cells.fp, cells.fn) if name == "unacceptable" else (cells.tn, cells.fn, cells.fp)
    return right, right + (other if measure == "precision" else missed)


def _reading_rows(figure: Figure, quantity: str, reading: str, share: Fraction, *, fits: bool) -> list[Row]:
    recomputed = Row(
        quantity,
        float(share),
        evidence="recomputed",
        source="counts in Section 8.3",
        status="reproduced" if fits else "differs",
        reason="" if fits else f"The counts give {float(share):.3f}, not {figure.printed}.",
        unit="coefficient",
        group=reading,
        figures=figure.named,
    )
    return [published_row(figure, quantity, group=reading), recomputed]


def _judge_rows(cells: Confusion, arm: RepairArm) -> list[Row]:
    if not cells.tp + cells.fp + cells.fn + cells.tn:
        return []
    source = f"{arm.name}, {arm.benchmark}"
    rates = {
        f"{measure.capitalize()}, {name}": wilson(*_counts(cells, name, measure))
        for measure, name in product(_MEASURES, _CLASSES)
    }
    group = f"A judge of patches against the oracle's tests ({source})"
    return rows_in("coefficient", rates, group, source, arm.evidence)


_REVIEW_FUNNEL = TableHead(
    "review_funnel",
    _SLUG,
    "From published to landed, printed and logged (Engineering Agent, table V)",
    ("A rate of landed patches has two bases, those published and those reviewed: both are given.",),
)


@made_by_this
def review_funnel_table(funnel: ReviewFunnel | None = None, source: str = "", evidence: Evidence = "real") -> Table:
    """Return table V: from published to landed, printed, and from a review log of this software's patches."""
    paper = load_paper(_SLUG)
    figures = [paper[id_] for id_ in (*_FUNNEL_COUNTS, *_FUNNEL_RATES)]
    checked = [checked_figure(paper, figure, _named(figure), "") for figure in figures]
    measured = [] if funnel is None else _funnel_rows(funnel, source, evidence)
    sentences = finding(checked, "table V")
    if funnel is not None:
        sentences = f"{review_finding(funnel)} {sentences}"
    return _REVIEW_FUNNEL.table(
        sentences,
        (*checked_rows(checked), *measured),
        (OTHER_CASES if measured else "No review log is recorded for this table.",),
    )


def _funnel_rows(funnel: ReviewFunnel, source: str, evidence: Evidence) -> list[Row]:
    paper = load_paper(_SLUG)
    counts = {_named(paper[id_]): funnel.count(event) for id_, event in _FUNNEL_COUNTS.items()}
    rates = {_named(paper[id_]): funnel.rate(*of) for id_, of in _FUNNEL_RATES.items()}
    return [
        *rows_in("count", counts, source=source, evidence=evidence),
        *rows_in("share", rates, source=source, evidence=evidence),
    ]


def _named(figure: Figure) -> str:
    return figure.row if figure.column == "3 Month Total" else f"{figure.row} ({figure.column})"


def measured_on_arm(arm: RepairArm, rows: Iterable[Row]) -> list[Row]:
    """Return rows with the data set of the arm's cases, if they are one."""
    return measured_on(arm.dataset, rows) if arm.dataset else list(rows)


def datasets_of(arms: Iterable[RepairArm]) -> tuple[str, ...]:
    """Return the public data sets among the cases of some arms, each once."""
    return tuple(dict.fromkeys(arm.dataset for arm in arms if arm.dataset))
