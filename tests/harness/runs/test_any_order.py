"""Properties of the runner: kills and lost bytes in any order lead to the run that nothing disturbed."""

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.errors import InputError
from misstep_harness.journal.records import Records, read_manifest, read_records
from misstep_harness.journal.run_folder import PROGRESS
from misstep_harness.runs.run import Asking, carry_out
from tests.harness.runs.made_up_work import Measured, N, Numbers

MEASURED = "measured.jsonl"


class Stopped(Exception):
    """The process is gone."""


class Measuring(Numbers[Measured]):
    """Squares numbers in their order until it is stopped."""

    records = Records(Measured, MEASURED)
    in_order = True

    def __init__(self, stops_after: int, *, made_again: bool) -> None:
        self.made_again, self._left = made_again, stops_after
        self.done: list[int] = []

    async def do(self, unit: int, requests: object) -> tuple[Measured, None]:  # noqa: ARG002
        if self._left == 0:
            raise Stopped
        self._left -= 1
        self.done.append(unit)
        return Measured(str(unit), unit * unit), None


STEPS = st.lists(
    st.tuples(st.integers(0, N), st.sampled_from((MEASURED, PROGRESS)), st.integers(0, 40), st.integers(1, 3)),
    max_size=4,
)


@given(steps=STEPS)
def test_a_run_whose_units_cost_nothing_ends_with_the_same_bytes_after_any_kills_and_losses(steps: Any) -> None:
    with TemporaryDirectory() as name:
        whole, run = Path(name, "whole"), Path(name, "run")
        carry_out(Measuring(-1, made_again=True), whole)
        for stops_after, file, lost, at_once in (*steps, (-1, PROGRESS, 0, 1)):
            kind = Measuring(stops_after, made_again=True)
            with suppress(Stopped):
                carry_out(kind, run, Asking(at_once=at_once))
            if (run / file).exists():
                (run / file).write_bytes((run / file).read_bytes()[: -lost or None])
        carry_out(Measuring(-1, made_again=True), run)
        assert (run / MEASURED).read_bytes() == (whole / MEASURED).read_bytes()


@given(steps=STEPS)
def test_a_unit_that_was_paid_for_and_is_on_file_is_never_done_again(steps: Any) -> None:
    with TemporaryDirectory() as name:
        run = Path(name, "run")
        for stops_after, _, lost, at_once in (*steps, (-1, PROGRESS, 0, 1)):
            known = _units(run)
            kind = Measuring(stops_after, made_again=False)
            with suppress(Stopped):
                carry_out(kind, run, Asking(at_once=at_once))
            assert known.isdisjoint(kind.done)
            if (run / PROGRESS).exists():
                (run / PROGRESS).write_bytes((run / PROGRESS).read_bytes()[: -lost or None])
        assert _units(run) == set(range(N))


def _units(run: Path) -> set[int]:
    if not (run / MEASURED).exists():
        return set()
    return {int(one.item) for one in read_records(run, Measuring.records, unfinished=True)}


@pytest.mark.parametrize("lost", [1, 7, 10_000])
def test_a_finished_run_that_lost_bytes_is_made_again_only_if_its_records_cost_nothing(
    tmp_path: Path, lost: int, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, made_again in (("free", True), ("paid", False)):
        carry_out(Measuring(-1, made_again=made_again), tmp_path / name)
        file = tmp_path / name / MEASURED
        whole = file.read_bytes()
        file.write_bytes(whole[:-lost])
        if made_again:
            assert carry_out(Measuring(-1, made_again=True), tmp_path / name).finished
            assert file.read_bytes() == whole
            assert "lost bytes: what is missing is done again" in capsys.readouterr().err
            manifest = read_manifest(tmp_path / name)
            assert manifest is not None
            assert manifest.finished
        else:
            with pytest.raises(InputError, match="the finished run had 12 lines"):
                carry_out(Measuring(-1, made_again=False), tmp_path / name)
