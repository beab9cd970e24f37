"""What is done with runs before they become training data, how right that is, and what a reward of 1 is worth.

Without gold labels, how right the kept are follows from the judge's errors on labelled cases (Rogan and Gladen), which
supposes that it errs on these runs as on those.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.judging.sample import majority
from misstep_analysis.judging.units import BoolArray, JudgedUnits, units_of
from misstep_analysis.sessions.prevalence import summed
from misstep_analysis.stats.correction import rogan_gladen
from misstep_analysis.stats.estimate import Estimate, informative
from misstep_analysis.stats.proportions import clopper_pearson, wilson
from misstep_analysis.tables import Evidence, Row, Table, TableHead, estimate_row, made_by_this, of_evidence, rows_in
from misstep_analysis.tables.wording import FEWEST_UNITS, counted_text, number_text, with_interval
from misstep_analysis.triage.comparison import GENERATOR, JudgedCases
from misstep_harness.fault_mappings import FAULTS, Action, taxonomy
from misstep_harness.triage.records import OUTCOME_FORM, TriageVerdict

IN_TRUTH = "By construction"
_SLUG = "autotriage"


Outcome = Literal["passed", "failed"]


class Decision(Struct, frozen=True):
    """What is done with one run, and why."""

    item: str
    outcome: Outcome | None
    label: str | None
    action: str
    reason: str

    @property
    def solved(self) -> bool:
        """Return whether the run counts as a solution: an earned pass, or a failure that is the task's fault."""
        return self.label == ("pass" if self.outcome == "passed" else "task")


class Rate(Struct, frozen=True):
    """How a judge's yes or no errs on labelled cases: those that it found of the yes, and left alone of the no."""

    found: tuple[int, int]
    left_alone: tuple[int, int]


class ErrorRates(Struct, frozen=True):
    """A judge's errors on labelled cases.

    - `right`: How the run ended and the judge's label → how many such verdicts were right, and how many there were.
    """

    source: str
    keep: Rate
    right: Mapping[tuple[Outcome | None, str | None], tuple[int, int]] = MappingProxyType({})

    def confidence(self, decision: Decision) -> float | None:
        """Return the share of verdicts such as this one that were right; `None` without any."""
        right, n = self.right.get((decision.outcome, decision.label), (0, 0))
        return right / n if n else None


class _Worth(Struct, frozen=True):
    """What the recorded rewards are worth.

    `earned` is the share of runs with an earned pass; `put_back` adds the failures that are given to the task.
    """

    recorded: Estimate
    earned: Estimate
    put_back: Estimate
    lowest: float | None
    highest: float | None


class Curation(Struct, frozen=True):
    """What became of the runs of one judge's verdicts; precision and recall are by gold labels."""

    n: int
    counts: dict[str, int]
    shares: dict[str, Estimate]
    precision: Estimate
    bound: Estimate
    precision_lowest: float | None
    precision_highest: float | None
    corrected_precision: Estimate
    recall: Estimate
    worth: _Worth
    rates: ErrorRates | None = None


def curated_runs(cases: JudgedCases) -> dict[str, Curation]:
    """Return the curation of generated cases by each run of a judge: name of the run → curation."""
    outcomes, gold = generated_outcomes(cases), majority(cases.gold).label_of
    return {
        name: curation([decide(verdict, outcomes.get(verdict.item)) for verdict in verdicts], gold, cases.clusters)
        for name, verdicts in cases.runs.items()
    }


def known_errors(cases: JudgedCases) -> dict[str, ErrorRates]:
    """Return the errors of each judge on labelled generated cases: name of the run → rates."""
    outcomes, gold = generated_outcomes(cases), majority(cases.gold).label_of
    return {
        name: error_rates([decide(verdict, outcomes.get(verdict.item)) for verdict in verdicts], gold, cases.source)
        for name, verdicts in cases.runs.items()
    }


_CURATION = TableHead("curation", _SLUG, "Reward curation by judges on generated cases", generator=GENERATOR)


@made_by_this
def curation_of_judges_table(cases: JudgedCases, curated: Mapping[str, Curation]) -> Table:
    """Return what each judge's curation keeps of the same generated cases, and the solve rate that it leaves."""
    rows: list[Row] = [estimate_row("Solutions", true_solve_rate(cases), "share", IN_TRUTH, cases.source)]
    for name, one in curated.items():
        rows += [*action_rows(one, cases.source, name), *figure_rows(one, cases.source, name)]
    table = _CURATION.table(
        _best_judge_sentence(cases, curated),
        rows,
        (
            *NOTES,
            "Solutions by construction are earned passes and failures that are the task's fault, over all cases.",
            "How often each cause occurs was set by the generator: precision elsewhere depends on how often it does "
            "there.",
        ),
    )
    return of_evidence(table, "generated")


def true_solve_rate(cases: JudgedCases) -> Estimate:
    """Return the share of generated cases that are solutions, as earned passes and failures of the task are."""
    outcomes, gold = generated_outcomes(cases), majority(cases.gold).label_of
    solved = [label == ("pass" if outcomes[item] == "passed" else "task") for item, label in gold.items()]
    return wilson(sum(solved), len(solved))


def _best_judge_sentence(cases: JudgedCases, curated: Mapping[str, Curation]) -> str:
    known = {name: one for name, one in curated.items() if one.precision.value is not None}
    if not known:
        return "No judge keeps a case."
    best = max(known, key=lambda name: (known[name].precision.value or 0.0, known[name].counts["keep"]))
    one = known[best]
    recorded = number_text(one.worth.recorded.value, "share")
    truth = number_text(true_solve_rate(cases).value, "share")
    return (
        f"{best} keeps {one.counts['keep']:,} of {one.n:,} generated runs, and {with_interval(one.precision, 'share')} "
        f"of them rightly. Of these runs {recorded} are recorded as solved, and {truth} are solutions by construction."
    )


UNDECIDED = "undecided"
ACTIONS: tuple[str, ...] = (*get_args(Action), UNDECIDED)

NO_OUTCOME = f"Nobody recorded whether the run passed. {OUTCOME_FORM}"
NO_STEP = "No record shows a step of the agent, so that there is nothing to keep."
NOTHING_KEPT = "no run is kept"
NO_GOLD = "no kept run has a gold label"
NO_RATES = "the judge's errors are not known: no labelled cases were judged by it"
NO_RUN = "no such run"
ACTION_WORDS = {
    "keep": "kept",
    "filter": "filtered",
    "rerun": "sent for a rerun",
    "repair_task": "waiting for a repair of their task",
    "undecided": "undecided",
}

RECORDED = "Solve rate as recorded"
EARNED = "Passes that are not earned taken out"
PUT_BACK = "And false failures put back"
NOTES = (
    "What is done with a run follows from its label and its outcome, as table 1 of AutoTriage says. Undecided runs are "
    "not kept: they have no verdict, no recorded outcome, or a label that no run of their outcome can have.",
    "Precision is over the kept runs with a gold label; both bounds count every other kept run as wrong, and as right.",
    "A failure that is the task's fault may be a right result that was rejected. Put back, all of them count as "
    "solved, the most that they can be. Runs for a rerun count as not solved until they are run again.",
)


def decide(verdict: TriageVerdict, outcome: Outcome | None, *, acted: bool = True) -> Decision:
    """What table 1 does with a run; one in which the agent `acted` not at all is never kept, whatever its label."""
    label, action = verdict.label, UNDECIDED
    if label is None:
        reason = f"The judge gave no label ({verdict.status}{f': {verdict.error}' if verdict.error else ''})."
    elif outcome is None:
        reason = NO_OUTCOME
    elif (cell := _cell(label, outcome)) is None:
        reason = f"The run {outcome}, and the taxonomy has no such run with the label {label!r}."
    elif cell[0] == "keep" and not acted:
        reason = NO_STEP
    else:
        action, reason = cell
    return Decision(verdict.item, outcome, label, action, reason)


def _cell(label: str, outcome: Outcome) -> tuple[Action, str] | None:
    category = {str(name): one for name, one in taxonomy().items()}.get(label)
    cell = category and (category.success if outcome == "passed" else category.failure)
    return (cell.action, cell.meaning) if cell else None


def curation(
    decisions: Sequence[Decision],
    gold: Mapping[str, str],
    clusters: Mapping[str, str] | None = None,
    rates: ErrorRates | None = None,
) -> Curation:
    """Return what became of the runs, how right it is, and what their rewards are worth."""
    units = units_of([one.item for one in decisions], clusters)
    by_gold = [_gold_action(one, gold) for one in decisions]
    actions = {action: _mask(one.action == action for one in decisions) for action in ACTIONS}
    to_keep, known, right = actions["keep"], _mask(map(bool, by_gold)), _mask(one == "keep" for one in by_gold)
    n_kept, n_known, n_right = (int(mask.sum()) for mask in (to_keep, to_keep & known, to_keep & right))
    return Curation(
        n=len(decisions),
        counts={action: int(mask.sum()) for action, mask in actions.items()},
        shares={action: units.share(mask, None, NO_RUN) for action, mask in actions.items()},
        precision=units.share(right, to_keep & known, NO_GOLD if n_kept else NOTHING_KEPT),
        bound=clopper_pearson(n_right, n_known, side="lower") if n_known else Estimate(None, n=0, reason=NO_GOLD),
        precision_lowest=n_right / n_kept if n_kept else None,
        precision_highest=(n_right + n_kept - n_known) / n_kept if n_kept else None,
        corrected_precision=_corrected_precision(decisions, rates),
        recall=units.share(to_keep, right, "no run is to be kept by its gold label"),
        worth=_worth(decisions, units),
        rates=rates,
    )


def _gold_action(decision: Decision, gold: Mapping[str, str]) -> str | None:
    label = gold.get(decision.item)
    if label is None or decision.outcome is None:
        return None
    cell = _cell(label, decision.outcome)
    return cell[0] if cell is not None else UNDECIDED


def _mask(holds: Iterable[bool]) -> BoolArray:
    return np.array(list(holds), dtype=np.bool_)


def _worth(decisions: Sequence[Decision], units: JudgedUnits) -> _Worth:
    ended = _mask(one.outcome is not None for one in decisions)
    passed = _mask(one.outcome == "passed" for one in decisions)
    solved = _mask(one.solved for one in decisions)
    n, n_earned, n_back = (int(mask.sum()) for mask in (ended, passed & solved, ended & solved))
    n_open = sum(one.outcome is not None and one.label is None for one in decisions)
    reason = "no run has a recorded outcome"
    return _Worth(
        recorded=units.share(passed, ended, reason),
        earned=units.share(passed & solved, ended, reason),
        put_back=units.share(solved, ended, reason),
        lowest=n_earned / n if n else None,
        highest=(n_back + n_open) / n if n else None,
    )


def _corrected_precision(decisions: Sequence[Decision], rates: ErrorRates | None) -> Estimate:
    """Prevalence of what is to be kept times the share of it that is found, over the share kept."""
    answered = [one for one in decisions if one.label is not None]
    to_keep = sum(one.action == "keep" for one in answered)
    if not to_keep:
        return Estimate(None, n=0, reason=NOTHING_KEPT)
    if rates is None:
        return Estimate(None, n=to_keep, reason=NO_RATES)
    # The error of 5% is halved, as two ends are joined.
    true = informative(rogan_gladen((to_keep, len(answered)), rates.keep.found, rates.keep.left_alone, 0.975).estimate)
    if true.value is None or true.low is None:
        return Estimate(None, n=to_keep, reason=true.reason)
    sensitivity = wilson(*rates.keep.found, 0.975)
    share = to_keep / len(answered)
    value, low, high = (
        None if prevalence is None or sensitive is None else min(1.0, prevalence * sensitive / share)
        for prevalence, sensitive in zip(structs.astuple(true)[:3], structs.astuple(sensitivity)[:3], strict=True)
    )
    method = "Rogan-Gladen prevalence × sensitivity / share kept, ends joined, 95%"
    return informative(Estimate(value, low, high, to_keep, method))


def error_rates(decisions: Sequence[Decision], gold: Mapping[str, str], source: str) -> ErrorRates:
    """Return a judge's errors on labelled cases, over those that it answered."""
    known = [one for one in decisions if one.label is not None and _gold_action(one, gold) is not None]
    right = summed(((one.outcome, one.label), int(gold[one.item] == one.label), 1) for one in known)
    return ErrorRates(
        source,
        _rate((one.action == "keep", _gold_action(one, gold) == "keep") for one in known),
        right,
    )


def _rate(pairs: Iterable[tuple[bool, bool]]) -> Rate:
    cells = Counter(pairs)
    hits, missed, false, left_alone = (
        cells[pair] for pair in ((True, True), (False, True), (True, False), (False, False))
    )
    return Rate((hits, hits + missed), (left_alone, left_alone + false))


def generated_outcomes(cases: JudgedCases) -> dict[str, Outcome]:
    """Case → how its run ended, as its construction says: the subcategory tells it, or that there is none."""
    finer = {one.item: one.label for one in cases.subcategories}
    book = taxonomy()
    observed = {name: cell.observed for label in FAULTS for name, cell in book[label].subcategories.items()}
    return {
        one.item: "failed" if observed.get(finer.get(one.item, "")) == "failure" else "passed" for one in cases.gold
    }


def curation_sentence(runs: Curation) -> str:
    """Return what became of the runs, in one line: what is kept with the bound on its precision, then what is not."""
    others = [f"{runs.counts[action]:,} {ACTION_WORDS[action]}" for action in ACTIONS[1:] if runs.counts[action]]
    shares = "; ".join(
        filter(None, (f"{runs.counts['keep']:,} of {counted_text(runs.n, 'run')} kept", ", ".join(others)))
    )
    return f"{shares}. {precision_sentence(runs)}"


def precision_sentence(runs: Curation) -> str:
    """Return how right the kept are."""
    precision, corrected = runs.precision, runs.corrected_precision
    if precision.value is not None:
        bound = number_text(runs.bound.low, "share")
        share = with_interval(precision, "share")
        right = f"{round(precision.value * (precision.n or 0)):,} of {precision.n:,}"
        least = "" if precision.low is None else f", at least {bound} with 95% confidence"
        return f"By gold labels {right} of those kept, {share}, are rightly kept{least}."
    if corrected.value is not None and runs.rates is not None:
        share = with_interval(corrected, "share")
        return f"By the judge's errors on other cases ({runs.rates.source}), {share} of those kept are rightly kept."
    return f"How many of those kept are rightly kept is not known: {corrected.reason or precision.reason}."


def worth_sentence(runs: Curation) -> str:
    """Return what a reward of 1 is worth, beside the solve rate."""
    worth = runs.worth
    if worth.recorded.value is None:
        return f"What the rewards are worth is not known: {worth.recorded.reason}."
    n = worth.recorded.n or 0
    passed = f"{round(worth.recorded.value * n):,} of {counted_text(n, 'run')} with an outcome passed"
    if n < FEWEST_UNITS or worth.earned.low is None or worth.put_back.high is None:
        return f"{passed}. Too few tasks to correct the solve rate."
    left = f"{number_text(worth.earned.low, 'share')} to {number_text(worth.put_back.high, 'share')}"
    return f"{passed}. Corrected for unearned passes and false failures, the solve rate is {left}."


@made_by_this
def curation_table(runs: Curation, judge: str, source: str, evidence: Evidence = "real") -> Table:
    """Return what became of the runs, how right it is, and what their rewards are worth."""
    notes = list(NOTES)
    if runs.rates is not None:
        notes.append(
            f"The judge's errors are those on {runs.rates.source}. The correction supposes that it errs here as there."
        )
    finding, title = f"{curation_sentence(runs)} {worth_sentence(runs)}", f"What becomes of the runs, by {judge}"
    rows = (*action_rows(runs, source), *figure_rows(runs, source))
    return of_evidence(Table("curation", "judging", title, finding, rows, tuple(notes)), evidence)


def action_rows(runs: Curation, source: str, group: str = "") -> list[Row]:
    """Return each action with its share of the runs."""
    shares = {ACTION_WORDS[action].capitalize(): runs.shares[action] for action in ACTIONS}
    return rows_in("share", shares, group or "Runs", source)


def figure_rows(runs: Curation, source: str, group: str = "") -> list[Row]:
    """Return how right the kept are, and what the rewards are worth."""
    worth, to_keep = runs.worth, runs.counts["keep"]
    bound = Estimate(runs.bound.low, n=runs.bound.n, method=runs.bound.method, reason=runs.bound.reason)
    precision = {
        "Precision by gold labels": runs.precision,
        "Its exact lower bound": bound,
        "Precision if the kept without a gold label are wrong": _end(runs.precision_lowest, to_keep),
        "Precision if the kept without a gold label are right": _end(runs.precision_highest, to_keep),
        "Precision by the judge's errors on other cases": runs.corrected_precision,
        "Share of the runs to be kept that are kept": runs.recall,
    }
    rewards = {
        RECORDED: worth.recorded,
        EARNED: worth.earned,
        PUT_BACK: worth.put_back,
        "The first, if no undecided run is a solution": _end(worth.lowest, runs.n),
        "The second, if every undecided run is one": _end(worth.highest, runs.n),
    }
    return [
        *rows_in("share", precision, group or "What is kept", source),
        *rows_in("share", rewards, group or "What a reward of 1 is worth", source),
    ]


def _end(value: float | None, n: int) -> Estimate:
    return Estimate(value, n=n, reason="" if value is not None else "no such runs")
