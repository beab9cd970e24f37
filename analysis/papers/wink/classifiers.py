"""Wink's classifiers of misbehaviour (section 2.2.1): a rule, a few-shot prompted judge and both, on the same labels.

The paper's own classifiers are prompts to a frontier model, calibrated to a precision of 80%; their precision and
recall are not printed. The table is of this software's rules and judges, on generated and on real labels.
"""

from collections.abc import Sequence

from misstep.analysis.measures.validity import (
    CLASSIFIERS,
    FLOOR,
    LabelledRuns,
    by_kind,
    figures,
    kept_precision,
    with_prompted,
)
from misstep.analysis.papers.wink.generated_prevalence import NAMES
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Row, Table, TableHead, estimate_row, made_by_this, measured_on, rows_in
from misstep.analysis.tables.wording import number_text

_ONE_SIDED = (
    f"Tested: all runs first test the label alone, with a one-sided bound that has to reach a precision of "
    f"{number_text(FLOOR, 'share')}. If it falls short and there are scores, one half of the runs chooses a threshold, "
    "and the other half tests it."
)


_CLASSIFIERS = TableHead(
    "classifiers",
    "wink",
    "A rule, a prompted judge and both, on the same labels (Wink, section 2.2.1)",
    (
        "Recall is over all runs with the category: one that a classifier did not answer counts as missed.",
        _ONE_SIDED,
        "Both: what either flags.",
    ),
)


@made_by_this
def classifiers_table(sets: Sequence[LabelledRuns], seed: int = 0) -> Table:
    """Return precision and recall of the rule, the prompted judge and both, by category and set of labels."""
    rows: list[Row] = []
    above = 0
    for runs in sets:
        shares: dict[str, Estimate] = {}
        for classifier in CLASSIFIERS:
            own = figures(runs, classifier)
            shares |= {f"Precision, {classifier}": own.precision, f"Recall, {classifier}": own.recall}
            result = kept_precision(runs, classifier, seed) if any(runs.gold.values()) else None
            tested = None if result is None or result.tried is None else result.precision
            if tested is not None:
                shares[f"Precision tested, {classifier}"] = tested
                above += tested.low is not None and tested.low >= FLOOR
        of_set = rows_in("share", shares, f"{NAMES[runs.category]}, {runs.dataset}", runs.source, runs.evidence)
        rows += of_set if runs.evidence == "generated" else measured_on(runs.dataset, of_set)
    model = "" if with_prompted(sets) else " No answers of a prompted judge are available: its columns are empty."
    return _CLASSIFIERS.table(
        (
            f"In {above} of {len(sets)} sets and categories a classifier is shown to be right in "
            f"{number_text(FLOOR, 'share')} or more of what it flags.{model}"
        ),
        rows,
        datasets=(runs.dataset for runs in sets if runs.evidence != "generated"),
    )


_CLASSIFIER_KINDS = TableHead(
    "classifier_kinds",
    "wink",
    "Recall by kind of limit and of misbehaviour, on generated labels",
    ("The words of these sessions are drawn from the set that nobody reads who writes rules or prompts.",),
    generator="misstep.harness.generate.sessions.generate_sessions",
)


@made_by_this
def kinds_table(sets: Sequence[LabelledRuns]) -> Table:
    """Return recall by the kind of limit or misbehaviour, on generated labels."""
    recalls = {
        (f"{NAMES[runs.category]}: {kind}", classifier): (runs.source, estimate)
        for runs in sets
        if runs.kinds
        for classifier in CLASSIFIERS
        for kind, estimate in by_kind(runs, classifier).items()
    }
    of_rule = {kind: recall for (kind, classifier), (_, recall) in recalls.items() if classifier == "rule" and recall.n}
    never = [kind for kind, recall in of_rule.items() if recall.value == 0]
    return _CLASSIFIER_KINDS.table(
        (
            f"Of {len(of_rule)} kinds of planted misbehaviour, the rules never find {len(never)}"
            f"{': ' if never else ''}{'; '.join(never)}."
        ),
        (
            estimate_row(f"Recall, {classifier}", recall, "share", kind, source, "generated")
            for (kind, classifier), (source, recall) in sorted(recalls.items(), key=lambda one: one[0][0])
        ),
    )
