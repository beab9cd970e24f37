"""What became of a case follows from the round of the stop and the rounds between which it is right."""

import pytest

from misstep.analysis.measures.reflexive.reported import OUTCOMES, BreakerDescription, Trial, scores_of_breakers
from misstep.analysis.stats.proportions import wilson

ONE, OTHER = (BreakerDescription(name, "says", "owner/repository", ours=False) for name in ("one", "other"))


def trial(stopped: int | None, first: int | None = 3, last: int | None = 5, breaker: BreakerDescription = ONE) -> Trial:
    return Trial(breaker, "case", "owner/repository#1", first, last, stopped)


@pytest.mark.parametrize(
    ("stopped", "outcome"),
    [(2, "stopped wrongly"), (3, "stopped rightly"), (5, "stopped rightly"), (6, "stopped late"), (None, "missed")],
)
def test_a_run_to_be_stopped_is_stopped_in_time_or_too_early_or_too_late_or_not(stopped, outcome) -> None:
    assert trial(stopped).outcome == outcome


@pytest.mark.parametrize(("stopped", "outcome"), [(None, "left alone rightly"), (9, "stopped wrongly")])
def test_any_stop_of_a_run_that_should_go_on_is_wrong(stopped: int | None, outcome: str) -> None:
    assert trial(stopped, None, None).outcome == outcome


def test_each_share_is_of_the_runs_that_it_can_happen_to() -> None:
    (score,) = scores_of_breakers([trial(4), trial(9), trial(1), trial(None), trial(None, None, None)])
    assert {name: share.n for name, share in score.shares.items()} == {
        "stopped rightly": 4,
        "stopped late": 4,
        "missed": 4,
        "left alone rightly": 1,
        "stopped wrongly": 5,
    }
    assert score.shares["stopped late"] == wilson(1, 4)
    assert score.right == wilson(2, 5)
    assert sum(len(score.having(name)) for name in OUTCOMES) == 5
