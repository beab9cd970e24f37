"""The closed loop of filter and retrain: what follows from it by hand is what the simulation gives."""

import pytest

from misstep.analysis.measures.triage.closed_loop import (
    PERFECT,
    Assumption,
    Critic,
    assumptions,
    closed_loop,
    expected_loss,
)

SMALL = assumptions() | {"tasks": Assumption(400, ""), "rounds": Assumption(10, "")}
SONNET = Critic("weak", {"agent": (8, 8, 0)})


def test_with_a_critic_without_errors_nothing_drifts() -> None:
    rounds = closed_loop(PERFECT, SMALL, loops=50).rounds
    assert {one.lost.value for one in rounds} == {0.0}
    assert {one.noise.value for one in rounds} <= {0.0, None}
    abilities = [one.capability.value or 0.0 for one in rounds]
    assert abilities == sorted(abilities)
    seen = [one.perceived.value for one in rounds[1:]]
    assert seen == pytest.approx(abilities[:-1], abs=0.02)


@pytest.mark.parametrize("counts", [(8, 8, 0), (8, 1, 0), (7, 7, 2), (0, 5, 5)])
def test_the_loss_is_that_of_the_closed_form(counts: tuple[int, int, int]) -> None:
    critic = Critic("weak", {"agent": counts})
    quiet = SMALL | {"infrastructure": Assumption(0, ""), "broken": Assumption(0, "")}
    rounds = closed_loop(critic, quiet, loops=100, uncertain=False).rounds
    for one in rounds:
        assert one.lost.value == pytest.approx(expected_loss(critic, SMALL["mended"].value, one.number), abs=0.01)


def test_a_bias_to_the_task_loses_more_in_each_round_and_looks_better_than_it_is() -> None:
    rounds = closed_loop(SONNET, SMALL, loops=50).rounds
    lost = [one.lost.value or 0.0 for one in rounds]
    assert lost == sorted(lost)
    assert lost[-1] > 1.3 * lost[0]
    assert (rounds[-1].perceived.value or 0.0) > (rounds[-1].capability.value or 1.0) + 0.2
