"""Table V's funnel from a review log."""

from pathlib import Path

import pytest

from misstep.analysis.measures.repair.reviews import review_funnel
from misstep.analysis.stats.proportions import wilson
from misstep.harness.records.repair_attempt import EVENTS, read_reviews

LOG = """\
attempt,event,when,by,comment
a,published,2026-03-01,ann,
a,accepted,2026-03-02,ben,"thanks, that is it"
a,landed,2026-03-02,ben,
b,published,2026-03-01,ann,
b,rejected,2026-03-04,ben,already fixed
c,published,2026-03-01,ann,
d,landed,2026-03-05,ann,
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "reviews.csv"
    file.write_text(LOG)
    return file


def test_answers_imply_a_review_and_what_landed_was_published_and_generated(log: Path) -> None:
    funnel = review_funnel(read_reviews(log), generated=["e"])
    counts = {event: funnel.count(event) for event in EVENTS}
    assert counts == {
        "generated": 5,
        "published": 4,
        "reviewed": 2,
        "accepted": 1,
        "changes_requested": 0,
        "rejected": 1,
        "landed": 2,
    }


def test_a_rate_is_of_those_in_its_base(log: Path) -> None:
    funnel = review_funnel(read_reviews(log))
    assert funnel.rate("landed", "published") == wilson(2, 4)
    assert funnel.rate("landed", "reviewed") == wilson(1, 2)
