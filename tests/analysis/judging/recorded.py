"""Made-up judges of items that come in runs, for the tables on recorded judges."""

from collections.abc import Sequence

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.judged import JudgedItems
from misstep_harness.verdict import Verdict

Answered = tuple[str, str | None]
"""People's label and the judge's answer; `None` where it gave none."""


def judged(judge: str, runs: Sequence[Sequence[Answered]], dataset: str = "trail", on: str = "") -> JudgedItems:
    """A judge of items in runs: the item `r-i` is the i-th of run r."""
    items = {f"{run}-{place}": pair for run, pairs in enumerate(runs) for place, pair in enumerate(pairs)}
    return JudgedItems(
        judge=judge,
        dataset=dataset,
        source=f"{dataset}@0",
        verdicts=tuple(
            Verdict(item, judge, said, "answered" if said else "unreadable") for item, (_, said) in items.items()
        ),
        gold=tuple(GoldLabel(item, "people", label) for item, (label, _) in items.items()),
        clusters={item: f"run {item.partition('-')[0]}" for item in items},
        labels=("yes", "no"),
        positive="yes",
        on=on,
    )


def alone(judge: str, pairs: Sequence[Answered], on: str = "") -> JudgedItems:
    """A judge of items that stand for themselves."""
    return judged(judge, [[pair] for pair in pairs], on=on)
