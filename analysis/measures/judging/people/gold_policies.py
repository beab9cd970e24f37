"""Two rules for the gold label of an item, side by side, and what the choice changes in the figures of judges."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Literal

import numpy as np
from msgspec import Struct

from misstep.analysis.gold import GoldLabel
from misstep.analysis.measures.judging.rows import judging_table
from misstep.analysis.measures.judging.sample import majority
from misstep.analysis.measures.judging.scores import NOTHING_ASKED, Scores, score
from misstep.analysis.measures.judging.units import BoolArray, units_of
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.ranking import kendall_tau_b
from misstep.analysis.stats.raters.patterns import FloatArray
from misstep.analysis.tables import Fields, Table, estimate_row, made_by_this, rows_from
from misstep.analysis.tables.wording import counted_text, with_interval
from misstep.harness.errors import UsageError
from misstep.harness.verdict import Verdict

NO_SHARED_LABEL = "no item has a gold label under both"
ONE_JUDGE = "there is one judge: no order"
JUDGES_ALIKE = "all judges are equally often right under one of the two"

_CHANGES: Fields = (
    ("Labels that differ", "changed", "share"),
    ("Kendall's tau-b of the judges' orders", "tau", "coefficient"),
    ("Best judge changes, share of resamples", "first_changes", "share"),
)
_OF_JUDGE: Fields = (
    ("Difference of accuracy", "difference", "difference"),
    ("Difference on shared items", "difference_shared", "difference"),
)
_FORMS = "majority, unanimous, any:LABEL (LABEL where one rater gave it) or raters:NAME,NAME (the majority of these)"


class GoldPolicy(Struct, frozen=True):
    """A rule for the gold label of an item.

    `unanimous` is the label that two or more raters all gave, `any` the label `of` where one rater gave it, else the
    majority of the others, `raters` the majority of the raters `of`.
    """

    name: str
    kind: Literal["majority", "unanimous", "any", "raters"]
    of: tuple[str, ...] = ()


class JudgedUnderTwo(Struct, frozen=True):
    """A judge's figures under each of two policies, unanswered items as wrong, and the second less the first."""

    judge: str
    accuracy: tuple[Estimate, Estimate]
    cohen_kappa: tuple[Estimate, Estimate]
    difference: Estimate
    difference_shared: Estimate


class PoliciesCompared(Struct, frozen=True):
    """Judges under two policies for gold labels.

    - `first`: The judges with the highest accuracy under each.
    - `first_changes`: The share of resamples in which no judge is first under both.
    """

    policies: tuple[str, str]
    n: int
    labelled: tuple[int, int]
    shared: int
    changed: Estimate
    judges: tuple[JudgedUnderTwo, ...]
    tau: Estimate
    first: tuple[tuple[str, ...], tuple[str, ...]]
    first_changes: Estimate


def gold_policy(name: str, gold: Iterable[GoldLabel]) -> GoldPolicy:
    """Return the policy that is meant by a name such as `unanimous`, `any:unsafe` or `raters:Ann,Bea`."""
    kind, _, rest = name.partition(":")
    if name == "majority":
        return GoldPolicy(name, "majority")
    if name == "unanimous":
        return GoldPolicy(name, "unanimous")
    rows = list(gold)
    if kind == "any" and rest:
        labels = sorted({row.label for row in rows})
        if rest not in labels:
            raise UsageError(f"no rater gave the label {rest!r}", f"Labels: {', '.join(labels)}.")
        return GoldPolicy(name, "any", (rest,))
    if kind == "raters" and rest:
        raters = tuple(rater.strip() for rater in rest.split(","))
        known = sorted({row.rater for row in rows})
        unknown = [rater for rater in raters if rater not in known]
        if unknown:
            raise UsageError(f"no labels by {', '.join(unknown)}", f"Raters: {', '.join(known)}.")
        return GoldPolicy(name, "raters", raters)
    raise UsageError(f"{name!r} is not a policy for gold labels", f"Name {_FORMS}.")


def labels_under(policy: GoldPolicy, gold: Iterable[GoldLabel]) -> dict[str, str]:
    """Item → its gold label under a policy; an item on which the policy decides nothing is left out."""
    rows = list(gold)
    reference = majority(rows, policy.of if policy.kind == "raters" else ())
    if policy.kind in ("majority", "raters"):
        return reference.label_of
    votes_of: dict[str, Counter[str]] = {}
    for row in rows:
        votes_of.setdefault(row.item, Counter())[row.label] += 1
    if policy.kind == "unanimous":
        return {item: next(iter(votes)) for item, votes in votes_of.items() if len(votes) == 1 and votes.total() > 1}
    (label,) = policy.of
    return reference.label_of | {item: label for item, votes in votes_of.items() if label in votes}


def compare_policies(
    runs: Mapping[str, Sequence[Verdict]],
    gold: Sequence[GoldLabel],
    policies: tuple[GoldPolicy, GoldPolicy],
    labels: Sequence[str] = (),
    *,
    clusters: Mapping[str, str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> PoliciesCompared:
    """Judges under two policies for gold labels, on the items that all of them were asked about."""
    answers = {judge: {verdict.item: verdict.label for verdict in verdicts} for judge, verdicts in runs.items()}
    common = [item for item in next(iter(answers.values())) if all(item in of_judge for of_judge in answers.values())]
    under = [labels_under(policy, gold) for policy in policies]
    for policy, label_of in zip(policies, under, strict=True):
        if not any(item in label_of for item in common):
            problem = f"under the policy {policy.name} no item that was asked about has a gold label"
            raise UsageError(problem, f"Name another policy: {_FORMS}.")
    items = [item for item in common if any(item in label_of for label_of in under)]
    units = units_of(items, clusters)
    has = np.array([[item in label_of for label_of in under] for item in items])
    shared = has[:, 0] & has[:, 1]
    differ = np.array([under[0].get(item) != under[1].get(item) for item in items]) & shared
    right = np.array(
        [
            [[of_judge[item] == label_of.get(item, ...) for label_of in under] for of_judge in answers.values()]
            for item in items
        ]
    )
    over_both = _sums(right & shared[:, None, None], has & shared[:, None])

    def resampled(sums: FloatArray, undefined: str) -> list[Estimate]:
        reasons = [undefined] * len(answers) + [JUDGES_ALIKE, ""]
        return units.resampled(partial(_figures, judges=len(answers)), sums, reasons, resamples, seed)

    *differences, tau, changes = resampled(_sums(right, has), NOTHING_ASKED)
    on_shared = resampled(over_both, NO_SHARED_LABEL)
    before, after = (_scored(runs, common, label_of, labels, clusters, resamples, seed) for label_of in under)
    one = len(answers) == 1
    return PoliciesCompared(
        policies=(policies[0].name, policies[1].name),
        n=len(common),
        labelled=(int(has[:, 0].sum()), int(has[:, 1].sum())),
        shared=int(shared.sum()),
        changed=units.share(differ, shared, NO_SHARED_LABEL),
        judges=tuple(
            JudgedUnderTwo(
                judge,
                (before[judge].accuracy_all, after[judge].accuracy_all),
                (before[judge].cohen_kappa_all, after[judge].cohen_kappa_all),
                differences[place],
                on_shared[place],
            )
            for place, judge in enumerate(answers)
        ),
        tau=Estimate(None, reason=ONE_JUDGE) if one else tau,
        first=(_first(before), _first(after)),
        first_changes=Estimate(None, reason=ONE_JUDGE) if one else changes,
    )


def _sums(right: BoolArray, has: BoolArray) -> FloatArray:
    """Items x sums: right under each policy for each judge, then labelled under each."""
    return np.concatenate([right.reshape(len(right), -1), has], axis=1).astype(np.float64)


def _figures(sums: FloatArray, judges: int) -> FloatArray:
    """Sets x figures: each judge's difference, tau-b of the two orders, and whether no judge is first in both."""
    counts = sums.reshape(len(sums), judges + 1, 2)
    right, labelled = counts[:, :-1, :], counts[:, -1:, :]
    share = np.where(labelled > 0, right / np.maximum(labelled, 1), np.nan)
    before, after = share[:, :, 0], share[:, :, 1]
    first = [one == one.max(axis=1, keepdims=True) for one in (before, after)]
    changes = ~(first[0] & first[1]).any(axis=1)
    return np.column_stack([after - before, kendall_tau_b(before, after), changes]).astype(np.float64)


def _scored(
    runs: Mapping[str, Sequence[Verdict]],
    common: Sequence[str],
    label_of: Mapping[str, str],
    labels: Sequence[str],
    clusters: Mapping[str, str] | None,
    resamples: int,
    seed: int,
) -> dict[str, Scores]:
    among, decided = set(common), [GoldLabel(item, "policy", label) for item, label in label_of.items()]
    return {
        judge: score(
            [verdict for verdict in verdicts if verdict.item in among],
            decided,
            labels,
            clusters=clusters,
            resamples=resamples,
            seed=seed,
        )
        for judge, verdicts in runs.items()
    }


def _first(scores: Mapping[str, Scores]) -> tuple[str, ...]:
    accuracies = {judge: one.accuracy_all.value or 0.0 for judge, one in scores.items()}
    return tuple(judge for judge, accuracy in accuracies.items() if accuracy == max(accuracies.values()))


def policies_finding(policies: PoliciesCompared) -> str:
    """Return whether the policy changes who is best, and the judge that it moves most."""
    a, b = policies.policies
    moved = max(policies.judges, key=lambda one: abs(one.difference.value or 0.0))
    change = f"the difference of {moved.judge} is {with_interval(moved.difference, 'difference')}"
    if len(policies.judges) == 1:
        return f"From {a} to {b}, {change}."
    same = set(policies.first[0]) & set(policies.first[1])
    if same:
        verb = "is" if len(same) == 1 else "are"
        opening = f"{' and '.join(sorted(same))} {verb} most accurate under both {a} and {b}"
    else:
        first = zip(policies.first, policies.policies, strict=True)
        named = "; ".join(f"{' and '.join(judges)} under {policy}" for judges, policy in first)
        opening = f"The best judge depends on the policy: {named}"
    return f"{opening}; from {a} to {b}, {change}; none is larger."


@made_by_this
def policies_table(policies: PoliciesCompared, source: str) -> Table:
    """Return each judge's figures under both policies, and what the choice changes."""
    (a, b), n = policies.policies, policies.n
    counts = ", ".join(f"{each:,} of {n:,} under {name}" for each, name in zip(policies.labelled, (a, b), strict=True))
    rows = rows_from(policies, _CHANGES, "The gold labels", source)
    for one in policies.judges:
        for policy, accuracy, kappa in zip(policies.policies, one.accuracy, one.cohen_kappa, strict=True):
            rows.append(estimate_row(f"Accuracy under {policy}", accuracy, "share", one.judge, source))
            rows.append(estimate_row(f"Cohen's kappa under {policy}", kappa, "coefficient", one.judge, source))
        rows += rows_from(one, _OF_JUDGE, one.judge, source)
    return judging_table(
        "gold_policies",
        f"Gold labels by two policies: {a} and {b}",
        policies_finding(policies),
        rows,
        (
            f"Items with a gold label: {counts}; {counted_text(policies.shared, 'item')} under both, of which "
            "the share that differs is given.",
            f"A difference is the accuracy under {b} less that under {a}; an item without an answer counts as wrong. "
            "“On shared items” leaves out items that have a label under one policy alone: an easier choice of items "
            "makes any judge look better.",
        ),
    )
