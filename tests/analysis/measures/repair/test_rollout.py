"""A rollout's shares lie in each other, and each has the funnel of its own cases."""

from misstep.analysis.measures.repair.reviews import rollout_stages, rollout_table
from misstep.harness.records.repair_attempt import RepairAttempt, ReviewEvent, in_share

NAMES = [f"task-{number}" for number in range(400)]
ATTEMPTS = [RepairAttempt(name, "p", "react", "f", solved=True, patched=True) for name in NAMES]


def test_a_share_holds_about_so_many_cases_and_every_smaller_one() -> None:
    few, half = ({name for name in NAMES if in_share(name, share)} for share in (0.1, 0.5))
    assert few < half
    assert (abs(len(few) - 40), abs(len(half) - 200)) < (20, 40)
    assert {name for name in NAMES if in_share(name, 0.1, seed=1)} != few


def test_a_review_counts_at_the_shares_that_its_case_is_in() -> None:
    late = next(one for one in ATTEMPTS if not in_share(one.case, 0.5))
    early = next(one for one in ATTEMPTS if in_share(one.case, 0.1))
    events = [ReviewEvent(one.id, event) for one in (late, early) for event in ("published", "accepted", "landed")]  # type: ignore[arg-type]
    stages = rollout_stages(ATTEMPTS, [*events, ReviewEvent(early.id, "published")])
    assert [(one.name, one.funnel.count("landed"), one.funnel.count("generated") == one.cases) for one in stages] == [
        ("10%", 1, True),
        ("50%", 1, True),
        ("100%", 2, True),
    ]
    assert rollout_table(stages).finding.startswith("At 10% 100.0%")
