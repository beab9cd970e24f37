"""Work that is spread: in order whatever the number of workers, none lost with a worker, and never a hang."""

import multiprocessing
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from misstep_harness.clients import ClientSettings
from misstep_harness.errors import CannotWrite, MissingPrerequisite, MisstepError, UnknownFormat, UsageError
from misstep_harness.prices import Price
from misstep_harness.runs.run import Asking, carry_out
from misstep_harness.runs.spread import Spread, WorkerDied, in_order, open_workers
from tests.harness.runs.made_up_work import (
    Measuring,
    N,
    die_at_three,
    die_once,
    fail_at_three,
    slow_first,
    square,
)

ROOT = Path(__file__).parents[3]
PRICE = Price(("small-1",), 1.0, 1000.0)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_results_are_those_of_map(workers: int) -> None:
    assert list(in_order(square, range(20), Spread(workers))) == [number * number for number in range(20)]
    assert list(in_order(square, [], Spread(workers))) == []


def test_a_slow_piece_is_waited_for() -> None:
    assert list(in_order(slow_first, range(6), Spread(2))) == list(range(6))


@pytest.mark.parametrize("workers", [1, 2])
def test_work_is_taken_as_it_is_needed_and_not_all_at_once(workers: int) -> None:
    taken: list[int] = []

    def pieces() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    results = in_order(square, pieces(), Spread(workers))
    next(results)
    assert len(taken) < 20
    results.close()  # type: ignore[attr-defined]


def test_processes_start_before_the_pieces_are_looked_for() -> None:
    def pieces() -> Iterator[int]:
        yield len(multiprocessing.active_children())

    (running,) = in_order(abs, pieces(), Spread(2))
    assert running > 0


def test_a_worker_that_is_killed_costs_what_it_was_at(tmp_path: Path) -> None:
    pieces = [(tmp_path, number) for number in range(12)]
    assert list(in_order(die_once, pieces, Spread(2))) == list(range(12))
    tried = [int(file.name.partition("-")[0]) for file in tmp_path.iterdir()]
    assert tried.count(3) == 2
    assert tried.count(11) == 1


def test_what_kills_each_worker_is_named_and_all_before_it_is_kept() -> None:
    results, kept = in_order(die_at_three, range(6), Spread(2), describe=lambda number: f"piece {number}"), []
    with pytest.raises(WorkerDied, match=r"^piece 3: each worker that was at it died.*fewer --workers"):
        kept.extend(results)
    assert kept == [0, 1, 2]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_the_function_is_the_callers(workers: int) -> None:
    with pytest.raises(KeyError):
        list(in_order(fail_at_three, range(10), Spread(workers)))


def test_workers_end_when_their_parent_is_killed() -> None:
    script = (
        "from itertools import count\n"
        "from misstep_harness.runs.spread import Spread, in_order\n"
        "for number in in_order(abs, count(), Spread(2)): print(number, flush=True)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE)
    parent.stdout.readline()
    workers = [int(word) for word in Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()]
    parent.kill()
    parent.communicate(timeout=30)
    assert len(workers) == 2
    deadline = time.monotonic() + 30
    while any(map(_runs, workers)) and time.monotonic() < deadline:
        pass
    assert not any(map(_runs, workers))


def _runs(process: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


@pytest.mark.parametrize("error", [CannotWrite("run", "full"), UnknownFormat("file", {"a": "no"}, "a")])
def test_an_error_comes_back_from_a_worker_as_it_was_raised(error: MisstepError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (type(again), again.line(), again.__dict__) == (type(error), error.line(), error.__dict__)


def _carried_out(out: Path, kind: Measuring, spread: Spread) -> bytes:
    with open_workers(spread) as workers:
        assert carry_out(kind, out, workers=workers).finished
    return (out / "measured.jsonl").read_bytes()


def test_a_run_that_workers_carry_out_has_the_bytes_of_one_without(tmp_path: Path) -> None:
    here, spread = (_carried_out(tmp_path / str(n), Measuring(), Spread(n)) for n in (None, 2))
    assert here == spread


def test_a_unit_that_kills_its_workers_is_named_at_the_end_and_the_same_run_goes_on(tmp_path: Path) -> None:
    with pytest.raises(WorkerDied, match=r"^5: each worker"):
        _carried_out(tmp_path / "run", Measuring(frozenset({5})), Spread(2))
    assert (tmp_path / "run" / "measured.jsonl").read_bytes().count(b"\n") == N - 1
    assert _carried_out(tmp_path / "run", Measuring(), Spread(2)).count(b"\n") == N


def test_a_cost_limit_is_passed_at_most_by_what_is_under_way(tmp_path: Path) -> None:
    client = ClientSettings(
        client="scripted", script="tests.harness.runs.made_up_work:dear_answer", price=PRICE, max_cost_usd=0.45
    )
    for _ in range(2):
        with open_workers(Spread(2)) as workers:
            ended = carry_out(Measuring(asks=True), tmp_path / "run", Asking(client), workers=workers)
        assert 4 <= ended.done <= 6
        assert ended.stopped
        assert not ended.finished


@contextmanager
def opened_cluster() -> Iterator[str]:
    distributed = pytest.importorskip("distributed")
    quiet = {"dashboard_address": "127.0.0.1:0", "scheduler_kwargs": {"dashboard": False}, "silence_logs": 50}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", **quiet) as local:
        yield local.scheduler_address


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with opened_cluster() as address:
        yield address


def test_a_cluster_gives_the_same_results_and_the_same_run(cluster: str, tmp_path: Path) -> None:
    assert list(in_order(square, range(20), Spread(dask=cluster))) == [number * number for number in range(20)]
    here = _carried_out(tmp_path / "here", Measuring(), Spread())
    assert _carried_out(tmp_path / "there", Measuring(), Spread(dask=cluster)) == here


def test_what_kills_the_workers_of_a_cluster_is_named() -> None:
    with opened_cluster() as cluster, pytest.raises(WorkerDied, match=r"^3: each worker that was at it died.*logs"):
        list(in_order(die_at_three, range(6), Spread(dask=cluster)))


def test_a_path_that_the_workers_do_not_see_is_refused(cluster: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere is not there on the worker"):
        list(in_order(square, range(6), Spread(dask=cluster, paths=(str(tmp_path / "nowhere"),))))


def test_another_version_on_the_workers_is_refused(cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("misstep_harness.runs.spread.__version__", "0.0.1")
    with pytest.raises(MissingPrerequisite, match=r"has Misstep .*, and this is 0\.0\.1"):
        list(in_order(square, range(6), Spread(dask=cluster)))


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        ("local:2", UsageError, "is not an address"),
        ("tcp://127.0.0.1:9", MissingPrerequisite, "no Dask cluster with workers answers"),
        ("tls://127.0.0.1:9", MissingPrerequisite, "needs certificates"),
    ],
)
def test_an_address_where_no_cluster_can_be_is_one_sentence(address: str, error: type[Exception], message: str) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(error, match=message):
        list(in_order(square, range(6), Spread(dask=address)))
