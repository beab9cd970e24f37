"""The disagreements of an annotation study as tables."""

from collections.abc import Iterator

from misstep.analysis.measures.triage.annotated import AnnotatedStudy, disputed
from misstep.analysis.measures.triage.disagreement import Disagreement, Lean
from misstep.analysis.measures.triage.rater_agreement import agreement_rows, rater_agreement
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.significance import Significance
from misstep.analysis.tables import Evidence, Row, Table, estimate_row, made_by_this
from misstep.analysis.tables.wording import counted_text, number_text, with_interval
from misstep.harness.records.annotation import RaterAnswer

_PAPER = "annotation"
_MOST_ITEMS = 200
_CANNOT_TELL = "cannot tell"
_WORDS = {"unanimous": "all alike", "majority": "most", "reconciled": "together", "tied": "tied", "open": "open"}


def annotation_tables(found: Disagreement, source: str, evidence: Evidence = "real") -> Iterator[Table]:
    """Return all tables of a study; `source` is what it was measured on."""
    yield rater_agreement_table(found, source, evidence)
    yield boundary_table(found, source, evidence)
    yield lean_table(found, source, evidence)
    yield rater_effects_table(found, source, evidence)
    yield subcategory_table(found, source, evidence)
    yield phases_table(found, source, evidence)
    if any(one.value is not None for one in found.seconds.values()):
        yield time_table(found, source, evidence)
    yield reconciliation_table(found, source, evidence)
    yield consensus_table(found, source, evidence)


@made_by_this
def rater_agreement_table(found: Disagreement, source: str, evidence: Evidence = "real") -> Table:
    """Raw agreement and kappa of all raters and of each pair, on the blind labels of the independent phase."""
    rows = agreement_rows(rater_agreement(found.labels, found.report), source, evidence)
    return Table("agreement", _PAPER, "Agreement of the raters on blind labels", agreement_finding(found), rows)


def agreement_finding(found: Disagreement) -> str:
    """Return how far the raters agree, in one sentence."""
    kappa, raters = found.report.fleiss_kappa, counted_text(len(found.report.raters), "rater")
    if kappa.value is None:
        return f"Fleiss' kappa is undefined: {kappa.reason or 'there are no labels'}."
    told = f"Fleiss' kappa is {with_interval(kappa, 'coefficient')}: {raters}, {counted_text(found.n, 'case')}"
    return f"{told}; {len(found.disputed):,} of them are in dispute."


@made_by_this
def boundary_table(found: Disagreement, source: str, evidence: Evidence = "real") -> Table:
    """Between which labels the raters differ."""
    rows = tuple(
        estimate_row(" / ".join(one.labels), one.share, "share", "Share of the cases in dispute", source, evidence)
        for one in found.boundaries
    )
    finding = "The raters differ on no case."
    if found.boundaries:
        first = found.boundaries[0]
        finding = (
            f"Most disputes are between {first.labels[0]} and {first.labels[1]}: {first.n} of "
            f"{len(found.disputed)} cases, {with_interval(first.share, 'share')}."
        )
    note = "A case with three labels counts under each pair of them; who cannot tell counts under none."
    return Table("boundaries", _PAPER, "Where the raters differ", finding, rows, (note,))


@made_by_this
def lean_table(found: Disagreement, source: str, evidence: Evidence = "real") -> Table:
    """Which way raters lean who stand apart at the border of agent and task, with tests that they lean neither way."""
    lean = found.lean
    rates, signs = "Cases on which somebody stands apart", "Of the cases apart at this border"
    rows = (
        estimate_row("Most say agent, somebody says task", lean.to_task, "share", rates, source, evidence),
        estimate_row("Most say task, somebody says agent", lean.to_agent, "share", rates, source, evidence),
        estimate_row("Difference", lean.difference, "difference", rates, source, evidence),
        _p_row(lean.rates_test, rates, source, evidence),
        estimate_row("Lean to task", lean.share, "share", signs, source, evidence),
        _p_row(lean.sign_test, signs, source, evidence),
    )
    notes = (
        "The first test asks whether an agent's failure is as likely to be called a task's fault as the other way "
        "round. The second asks whether as many cases lean either way, which depends on how many there are of both.",
    )
    return Table("lean", _PAPER, "Which way the raters lean", lean_finding(lean), rows, notes)


def lean_finding(lean: Lean) -> str:
    """Return which way raters lean who stand apart, in one sentence."""
    if lean.share.value is None:
        return f"Which way the raters lean cannot be told: {lean.share.reason}."
    either, p_value = lean.n_to_task + lean.n_to_agent, lean.sign_test.p_value
    told = (
        f"Of {counted_text(either, 'case')} on which somebody stands apart at the border of agent and task, "
        f"{lean.n_to_task} lean to task, {with_interval(lean.share, 'share')}: "
    )
    shown = p_value is not None and p_value <= 0.05
    return f"{told}a lean {'is' if shown else 'is not'} shown (sign test, p {number_text(p_value, 'p')})."


@made_by_this
def rater_effects_table(found: Disagreement, source: str, evidence: Evidence = "real") -> Table:
    """Return each rater: how often apart, how much more often at task, and how often changed by reconciliation."""
    rows = [
        row
        for one in found.raters
        for row in (
            estimate_row("Apart from the others' majority", one.apart, "share", one.rater, source, evidence),
            estimate_row("Says task, less the others", one.task_use, "difference", one.rater, source, evidence),
            estimate_row("Changed in reconciliation", one.changed, "share", one.rater, source, evidence),
        )
    ]
    rows.append(_p_row(found.raters_alike, "All raters stand apart as often", source, evidence))
    leaning = [one for one in found.raters if _off_zero(one.task_use)]
    finding = "No rater is shown to say task more or less often than the others."
    if leaning:
        parts = (f"{one.rater} by {with_interval(one.task_use, 'difference')}" for one in leaning)
        finding = f"On the same cases, raters say task more or less often than the others: {', '.join(parts)}."
    return Table("raters", _PAPER, "Who differs", finding, tuple(rows))


@made_by_this
def subcategory_table(found: Disagreement, source: str, evidence: Evidence = "real") -> Table:
    """Agreement on the subcategory where all raters agree on the label."""
    rows = tuple(
        row
        for one in found.subcategories
        for row in (
            Row("Agreement", one.agreement, n=one.n, unit="share", group=one.label or "all labels", source=source,
                evidence=evidence),
            estimate_row("Fleiss' kappa", one.fleiss_kappa, "coefficient", one.label or "all labels", source, evidence),
        )
    )  # fmt: skip
    finding = "No case has one label and a subcategory from two raters."
    if found.subcategories:
        whole = found.subcategories[0]
        finding = (
            f"On {counted_text(whole.n, 'case')} whose label all agree on, {number_text(whole.agreement, 'share')} of "
            "paired subcategories agree"
        )
        kappa = whole.fleiss_kappa
        finding += "." if kappa.value is None else f"; Fleiss' kappa is {with_interval(kappa, 'coefficient')}."
    return Table("subcategories", _PAPER, "Subcategories within agreed labels", finding, rows)


@made_by_this
def phases_table(found: Disagreement, source: str, evidence: Evidence = "real") -> Table:
    """Agreement on the calibration set and after it, and how often labels of each certainty stand apart."""
    rows = [
        row
        for one in found.phases
        for row in (
            estimate_row("All raters alike", one.unanimous, "share", one.phase, source, evidence),
            estimate_row("Fleiss' kappa", one.fleiss_kappa, "coefficient", one.phase, source, evidence),
        )
    ]
    rows.append(
        estimate_row("Independent less calibration", found.phases_difference, "difference", "all", source, evidence)
    )
    apart = "Labels apart from the majority, by certainty"
    rows += [estimate_row(one.certainty, one.apart, "share", apart, source, evidence) for one in found.certainties]
    difference = found.phases_difference
    finding = f"Calibration cannot be compared with what followed: {difference.reason}."
    if difference.value is not None:
        first, second = (number_text(one.unanimous.value, "share") for one in found.phases)
        finding = (
            f"All raters agree on {first} of the calibration set and on {second} of what they then label alone: a "
            f"difference of {with_interval(difference, 'difference')}."
        )
    return Table("phases", _PAPER, "Before and after calibration, and by certainty", finding, tuple(rows))


@made_by_this
def time_table(found: Disagreement, source: str, evidence: Evidence = "real") -> Table:
    """Return how long each rater took for a case."""
    rows = tuple(
        estimate_row(rater, one, "seconds", "Median time for a case", source, evidence)
        for rater, one in found.seconds.items()
    )
    known = sorted((one.value, rater) for rater, one in found.seconds.items() if one.value is not None)
    (low, first), (high, last) = known[0], known[-1]
    finding = f"The median time for a case is {number_text(low, 'seconds')} ({first})."
    if len(known) > 1:
        finding = (
            f"The median time for a case runs from {number_text(low, 'seconds')} ({first}) to "
            f"{number_text(high, 'seconds')} ({last})."
        )
    note = "The time for which the page of a case stood open and visible until its blind label was saved."
    return Table("seconds", _PAPER, "Time for a case", finding, rows, (note,))


@made_by_this
def reconciliation_table(found: Disagreement, source: str, evidence: Evidence = "real") -> Table:
    """Return what reconciliation changed, and which way."""
    again, group = found.reconciled, "Cases decided again"
    rows = [
        estimate_row("All raters then agree", again.settled, "share", group, source, evidence),
        _count_row("Another label leads", again.majority_changed, again.n, group, source, evidence),
        _p_row(again.sign_test, group, source, evidence, "p, from agent to task as often as back"),
    ]
    rows += [
        _count_row(f"{_named(before)} → {_named(after)}", count, None, "Labels of raters", source, evidence)
        for (before, after), count in sorted(again.flows.items(), key=_most_first)
    ]
    finding = "No case in dispute was decided again by all raters."
    if again.n:
        finding = (
            f"Of {counted_text(again.n, 'case')} decided again, all raters then agree on "
            f"{with_interval(again.settled, 'share')}; {again.to_task} labels change from agent to task and "
            f"{again.to_agent} from task to agent."
        )
    return Table("reconciliation", _PAPER, "What reconciliation changed", finding, tuple(rows))


@made_by_this
def consensus_table(found: Disagreement, source: str, evidence: Evidence = "real") -> Table:
    """Return how the cases came to their labels, and those that have none."""
    counts = {how: sum(one.how == how for one in found.consensus) for how in _WORDS}
    total = len(found.consensus)
    rows = [
        _count_row(words, counts[how], total, "Cases", source, evidence) for how, words in _WORDS.items() if counts[how]
    ]
    without = [one for one in found.consensus if one.label is None]
    rows += [
        Row(one.item, " / ".join(one.candidates) or "missing labels", unit="text", group="Cases without a label",
            source=source, evidence=evidence)
        for one in without[:_MOST_ITEMS]
    ]  # fmt: skip
    finding = f"{total - len(without):,} of {counted_text(total, 'case')} have a label."
    if tied := counts["tied"]:
        finding += f" {counted_text(tied, 'case')} {'is' if tied == 1 else 'are'} tied."
    return Table("consensus", _PAPER, "The consensus", finding, tuple(rows))


@made_by_this
def disputes_table(study: AnnotatedStudy, source: str, evidence: Evidence = "real") -> Table:
    """Return the cases in dispute with every rater's blind answer and note, and what each said in reconciliation."""
    blind, after, items = study.blind(), study.reconciled(), disputed(study)
    rows = [
        Row(f"{item}, {rater}{words}", said_text(given[item, rater]), unit="text", source=source, evidence=evidence)
        for item in items[:_MOST_ITEMS]
        for given, words in ((blind, ""), (after, ", together"))
        for rater in study.raters
        if (item, rater) in given
    ]
    rest = len(items) - _MOST_ITEMS
    notes = (f"The first {_MOST_ITEMS} cases; history.csv of the export has all.",) if rest > 0 else ()
    finding = f"{counted_text(len(items), 'case')} {'is' if len(items) == 1 else 'are'} in dispute."
    return Table("disputes", _PAPER, "Cases in dispute", finding, tuple(rows), notes)


def said_text(one: RaterAnswer) -> str:
    """Return an answer in one line: label, subcategory, certainty, and the note."""
    sure = f"{one.certainty} certainty" if one.certainty else ""
    said = ", ".join(filter(None, (_named(one.label), one.subcategory.replace("_", " "), sure)))
    return f"{said}: {one.note}" if one.note else said


def _count_row(name: str, count: int, n: int | None, group: str, source: str, evidence: Evidence) -> Row:
    return Row(name, count, n=n, unit="count", group=group, source=source, evidence=evidence)


def _p_row(test: Significance, group: str, source: str, evidence: Evidence, name: str = "p") -> Row:
    found = Estimate(test.p_value, n=test.n, method=test.test, reason=test.reason)
    return estimate_row(name, found, "p", group, source, evidence)


def _off_zero(estimate: Estimate) -> bool:
    return estimate.low is not None and estimate.high is not None and (estimate.low > 0 or estimate.high < 0)


def _named(label: str | None) -> str:
    return label or _CANNOT_TELL


def _most_first(flow: tuple[tuple[str | None, str | None], int]) -> tuple[int, str, str]:
    (before, after), count = flow
    return -count, _named(before), _named(after)
