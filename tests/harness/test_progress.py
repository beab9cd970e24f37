"""What a person sees on a terminal is safe to print, and how far something is and how long it takes is not made up."""

import io
import sys
from collections.abc import Callable, Iterable, Iterator
from random import Random

import pytest

from misstep_harness import progress
from misstep_harness.escaping import plain
from misstep_harness.progress import Pace, Progress


def test_text_from_outside_loses_its_control_codes_and_stays_on_one_line() -> None:
    assert plain("\x1b[31mred\x1b[0m\nnext\tcell\x07") == "red next cell"


def test_what_a_terminal_cannot_encode_or_would_turn_around_is_shown_instead() -> None:
    assert plain("a\ud800b").encode()
    assert plain("safe\u202egnp.exe") == "safe⟨U+202E⟩gnp.exe"


TIMES: dict[str, Callable[[Random], float]] = {
    "about even": lambda random: random.uniform(0.5, 1.5),
    "exponential": lambda random: random.expovariate(1),
    "one in ten is long": lambda random: 10.0 if random.random() < 0.1 else 0.5,
}


def _looks(times: str, n: int, seed: int) -> Iterator[tuple[int, float, float | None, float]]:
    """After each of n items: how many are done, the share of the time that has gone, the time told, the time left."""
    random, pace = Random(seed), Pace()  # noqa: S311
    each = [TIMES[times](random) for _ in range(n)]
    whole, gone = sum(each), 0.0
    for done, seconds in enumerate(each, start=1):
        pace.add(1, seconds)
        gone += seconds
        yield done, gone / whole, pace.left(n - done), whole - gone


@pytest.mark.parametrize("n", [40, 400, 4000])
@pytest.mark.parametrize("times", TIMES)
def test_the_time_left_is_told_where_it_is_right_to_a_fifth_and_not_elsewhere(times: str, n: int) -> None:
    looks = [look for seed in range(20) for look in _looks(times, n, seed)]
    told = [(left, truth) for _, _, left, truth in looks if left is not None]
    assert sum(abs(left - truth) > 0.2 * truth for left, truth in told) <= 0.02 * len(looks)


@pytest.mark.parametrize("times", ["about even", "exponential"])
def test_of_many_items_it_is_told_from_a_tenth_on_until_few_are_left_and_the_share_is_that_of_the_time(times) -> None:
    n = 4000
    for done, gone, left, _ in _looks(times, n, seed=7):
        assert (left is None) == (done < n / 10) or done > 0.9 * n
        assert done < n / 10 or abs(done / n - gone) <= 0.2 * gone


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _shown(
    monkeypatch: pytest.MonkeyPatch, line: Callable[[], Progress], steps: Iterable[tuple[float, int]]
) -> list[str]:
    """The lines that a terminal shows where after so many seconds so much more is done."""
    now, terminal = [0.0], _Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with line() as moving:
        for seconds, count in steps:
            now[0] += seconds
            moving.advance(count)
    return [shown.strip() for shown in terminal.getvalue().split("\r\x1b[K") if shown]


def test_what_was_done_before_counts_in_the_whole_and_says_nothing_of_the_time(monkeypatch) -> None:
    steps = [(2.5, 1), (1.5, 1)] * 250
    shown = _shown(monkeypatch, lambda: Progress("items", 1000, done=500), steps)
    assert shown[1] == "502 of 1,000 items, 0.5/s"
    assert shown[249] == "750 of 1,000 items, 0.5/s, 0:08:20 left"
    assert [int(one.split()[0].replace(",", "")) for one in shown] == list(range(501, 1001))


def test_the_line_ends_at_the_whole_also_where_something_is_done_again(monkeypatch) -> None:
    shown = _shown(monkeypatch, lambda: Progress("items", 12), [(0.04, count) for count in (4, 0, 4, 4, 4)])
    assert [one.split(",")[0] for one in shown] == ["8 of 12 items", "12 of 12 items", "12 of 12 items"]
