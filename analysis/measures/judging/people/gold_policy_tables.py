"""Judges under two policies for gold labels, as a sentence and a table."""

from collections.abc import Iterator

from misstep.analysis.measures.judging.people.gold_policies import JudgedUnderTwo, PoliciesCompared
from misstep.analysis.tables import Row, Table, estimate_row, made_by_this
from misstep.analysis.tables.wording import counted_text, with_interval


def policies_finding(found: PoliciesCompared) -> str:
    """Return whether the policy changes who is best, and the judge that it moves most."""
    a, b = found.policies
    moved = max(found.judges, key=lambda one: abs(one.difference.value or 0.0))
    told = f"the difference of {moved.judge} is {with_interval(moved.difference, 'difference')}"
    if len(found.judges) == 1:
        return f"From {a} to {b}, {told}."
    same = set(found.first[0]) & set(found.first[1])
    if same:
        verb = "is" if len(same) == 1 else "are"
        opening = f"{' and '.join(sorted(same))} {verb} most accurate under both {a} and {b}"
    else:
        opening = f"The best judge depends on the policy: {_named(found, 0)}; {_named(found, 1)}"
    return f"{opening}; from {a} to {b}, {told}; none is larger."


def _named(found: PoliciesCompared, place: int) -> str:
    return f"{' and '.join(found.first[place])} under {found.policies[place]}"


@made_by_this
def policies_table(found: PoliciesCompared, source: str) -> Table:
    """Return each judge's figures under both policies, and what the choice changes."""
    a, b = found.policies
    counts = ", ".join(
        f"{n:,} of {found.n:,} under {name}" for n, name in zip(found.labelled, found.policies, strict=True)
    )
    return Table(
        name="gold_policies",
        paper="judging",
        title=f"Gold labels by two policies: {a} and {b}",
        finding=policies_finding(found),
        rows=(
            estimate_row("Labels that differ", found.changed, "share", "The gold labels", source),
            estimate_row("Kendall's tau-b of the judges' orders", found.tau, "coefficient", "The gold labels", source),
            estimate_row(
                "Best judge changes, share of resamples", found.first_changes, "share", "The gold labels", source
            ),
            *(row for one in found.judges for row in _rows(one, found.policies, source)),
        ),
        notes=(
            f"Items with a gold label: {counts}; {counted_text(found.shared, 'item')} under both, of which the share "
            "that differs is given.",
            f"A difference is the accuracy under {b} less that under {a}; an item without an answer counts as wrong. "
            "“On shared items” leaves out items that have a label under one policy alone: an easier choice of items "
            "makes any judge look better.",
        ),
    )


def _rows(one: JudgedUnderTwo, policies: tuple[str, str], source: str) -> Iterator[Row]:
    for place, policy in enumerate(policies):
        yield estimate_row(f"Accuracy under {policy}", one.accuracy[place], "share", one.judge, source)
        yield estimate_row(f"Cohen's kappa under {policy}", one.cohen_kappa[place], "coefficient", one.judge, source)
    yield estimate_row("Difference of accuracy", one.difference, "difference", one.judge, source)
    yield estimate_row("Difference on shared items", one.difference_shared, "difference", one.judge, source)
