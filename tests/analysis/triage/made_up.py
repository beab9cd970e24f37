"""Made-up triage cases and judges: an answer a case, written as `label` or `label/subcategory`."""

from collections.abc import Mapping, Sequence

from misstep_analysis.gold import Construction, GoldLabel
from misstep_analysis.triage.comparison import JudgedCases
from misstep_harness.triage.records import Evidence, TriageVerdict
from misstep_harness.verdict import Status

SHOWN = Evidence("log", "logs/tests.log:3", "AssertionError: 2 != <b>3</b>")


def verdict(item: str, judge: str, answer: str, access: str = "sandbox") -> TriageVerdict:
    """A verdict; an empty answer is an item left open."""
    label, _, subcategory = answer.partition("/")
    status: Status = "answered" if label else "abstained"
    return TriageVerdict(
        item, judge, label or None, status, seconds=0.5, subcategory=subcategory, evidence=(SHOWN,), access=access
    )


def judged_cases(
    gold: Sequence[str], answers: Mapping[str, Sequence[str]], families: Sequence[str] = (), sets: Sequence[str] = ()
) -> JudgedCases:
    """Cases `c0`, `c1` and so on with gold as `label/subcategory`, and what judges say of each."""
    items = [f"c{place}" for place in range(len(gold))]
    halves = [one.partition("/") for one in gold]
    made = zip(items, families, sets or [""] * len(items), strict=True) if families else ()
    return JudgedCases(
        on="made-up cases",
        source="made up",
        runs={
            judge: tuple(verdict(item, judge, one) for item, one in zip(items, given, strict=True))
            for judge, given in answers.items()
        },
        gold=tuple(GoldLabel(item, "construction", label) for item, (label, _, _) in zip(items, halves, strict=True)),
        subcategories=tuple(
            GoldLabel(item, "construction", name) for item, (_, _, name) in zip(items, halves, strict=True) if name
        ),
        constructions={item: Construction(item, family, name) for item, family, name in made},
        evidence="generated",
    )
