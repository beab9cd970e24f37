"""A longer latency is a sign of load only where less load costs no answers."""

from misstep.harness.clients.rates.latency import LatencyWatch, Overload


def answers(watch: LatencyWatch, begun: float, load: int, seconds: float, apart: float) -> list[Overload | float]:
    results = (watch.answered(begun + number * apart, begun + number * apart + seconds, load) for number in range(16))
    return [one for one in results if one is not None]


def overloaded() -> LatencyWatch:
    watch = LatencyWatch()
    assert answers(watch, 0, load=4, seconds=0.125, apart=0.03125) == []
    assert answers(watch, 16, load=16, seconds=0.5, apart=0.03125) == [Overload(16, 4)]
    return watch


def test_a_decrease_that_costs_no_answers_stands() -> None:
    assert answers(overloaded(), 32, load=4, seconds=0.125, apart=0.03125) == []


def test_a_decrease_that_costs_as_many_answers_as_it_takes_away_load_is_taken_back() -> None:
    assert answers(overloaded(), 32, load=4, seconds=0.5, apart=0.125) == [16]


def test_it_is_not_taken_back_after_the_server_has_refused_a_request() -> None:
    watch = overloaded()
    watch.refused()
    assert 16 not in answers(watch, 32, load=4, seconds=0.5, apart=0.125)


def test_a_latency_no_longer_than_twice_that_of_a_smaller_load_is_none_of_an_overload() -> None:
    watch = LatencyWatch()
    assert answers(watch, 0, load=4, seconds=0.1, apart=0.025) == []
    assert answers(watch, 10, load=16, seconds=0.19, apart=0.025) == []
