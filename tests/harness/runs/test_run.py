"""The one runner, over a made-up kind with each of its flags: resumed, asked again, in order, never two at once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from misstep_harness.errors import MissingPrerequisite, UsageError
from misstep_harness.journal.records import Records, read_manifest, read_records
from misstep_harness.runs.run import NO_MODEL, Asking, carry_out
from tests.harness.runs.made_up_work import N, Numbers

FLAGS = [{}, {"in_order": True}, {"made_again": True, "in_order": True}, {"asks_again": True}]
"""The flags of judges, experiments without and with a script, and of judges that ask a model."""


class Measured(Struct, frozen=True):
    """The record of a unit."""

    item: str
    error: str | None = None


class Measuring(Numbers[Measured]):
    """Measures numbers; later units end before earlier ones."""

    records = Records(Measured, "measured.jsonl", "number")

    def __init__(self, *, size: int = 1, fails: frozenset[int] = frozenset(), **flags: Any) -> None:
        self.size, self.fails = size, fails
        self.stops_at: BaseException | None = None
        self.done: list[int] = []
        for name, value in flags.items():
            setattr(self, name, value)

    def settings(self) -> dict[str, Any]:
        return {"size": self.size}

    def recorded_id(self, record: Measured) -> str:
        return record.item

    def failure_of(self, record: Measured) -> str | None:
        return record.error

    async def do(self, unit: int, requests: object) -> tuple[Measured, None]:  # noqa: ARG002
        for _ in range(N - unit):
            await asyncio.sleep(0)
        if self.stops_at is not None and len(self.done) >= N // 2:
            raise self.stops_at
        self.done.append(unit)
        return Measured(str(unit), "too large" if unit in self.fails else None), None


def _recorded(folder: Path) -> list[str]:
    return [one.item for one in read_records(folder, Measuring.records, unfinished=True)]


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), MissingPrerequisite("the server is gone", "Start it.")])
@pytest.mark.parametrize("flags", FLAGS)
def test_a_stopped_run_goes_on_and_does_no_unit_twice(tmp_path, flags, stop) -> None:
    kind = Measuring(**flags)
    kind.stops_at = stop
    with pytest.raises(type(stop)):
        carry_out(kind, tmp_path / "run", Asking(at_once=3))
    assert 0 < len(_recorded(tmp_path / "run")) <= len(kind.done) < N
    kind.stops_at, before = None, set(_recorded(tmp_path / "run"))
    end = carry_out(kind, tmp_path / "run", Asking(at_once=3))
    assert (end.done, end.failed, end.finished) == (N, 0, True)
    assert before.isdisjoint(map(str, kind.done[N // 2 :]))
    assert sorted(map(int, _recorded(tmp_path / "run"))) == list(range(N))


@pytest.mark.parametrize(("in_order", "same"), [(True, True), (False, False)])
def test_records_are_in_the_order_of_their_units_only_for_a_kind_that_wants_it(tmp_path, in_order, same) -> None:
    carry_out(Measuring(in_order=in_order), tmp_path, Asking(at_once=4))
    assert (_recorded(tmp_path) == [str(number) for number in range(N)]) is same


@pytest.mark.parametrize("asks_again", [True, False])
def test_units_that_failed_are_done_again_only_by_a_kind_that_asks_again(tmp_path: Path, asks_again: bool) -> None:
    end = carry_out(Measuring(fails=frozenset({3, 5}), asks_again=asks_again), tmp_path)
    assert (end.failed, end.finished, end.last_failure) == (2, not asks_again, "too large")
    again = Measuring(asks_again=asks_again)
    end = carry_out(again, tmp_path)
    assert (sorted(again.done), end.failed) == (([3, 5], 0) if asks_again else ([], 2))


def test_a_finished_run_is_left_alone_and_one_with_other_settings_is_refused(tmp_path: Path) -> None:
    carry_out(Measuring(), tmp_path)
    finished = read_manifest(tmp_path)
    again = Measuring()
    assert carry_out(again, tmp_path).done == N
    assert not again.done
    with pytest.raises(UsageError, match="size"):
        carry_out(Measuring(size=2), tmp_path)
    assert read_manifest(tmp_path) == finished


def test_a_run_whose_renewable_settings_changed_begins_anew_and_the_earlier_one_is_set_aside(tmp_path, capsys) -> None:
    carry_out(Measuring(renewed=frozenset({"size"})), tmp_path / "run", NO_MODEL)
    anew = Measuring(renewed=frozenset({"size"}), size=2)
    assert carry_out(anew, tmp_path / "run").done == len(anew.done) == N
    assert "The earlier run is in" in capsys.readouterr().err
