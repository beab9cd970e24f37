"""Shards on the workers of a Dask cluster: a dead worker and a stop on two processes, and what is refused."""

import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from misstep.harness.classifiers import chosen_categories, classify_all
from misstep.harness.errors import MissingPrerequisite, UsageError
from misstep.harness.runs.classify import ClassifyPlan, classify_paths
from misstep.harness.runs.shards.classify import plan_of_classify
from misstep.harness.runs.shards.cluster import Cluster, open_cluster
from misstep.harness.runs.shards.layout import shards_of
from misstep.harness.runs.shards.store import FolderStore
from misstep.harness.trajectory import Trajectory
from misstep.harness.verdict import Verdict
from misstep.studies.merged_runs import classified_on_cluster
from tests.misstep.made_up import atif

CATEGORIES = chosen_categories("infinite_loop,tool_call_failure")
SESSIONS = [f"s{number}" for number in range(8)]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Eight sessions, a file each."""
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in SESSIONS:
        (folder / f"{name}.jsonl").write_bytes(atif(name))
    return folder


def disturbing(session: Trajectory, categories: Sequence[str], notes: Path, main: int) -> list[Verdict]:
    """Verdicts as ever, and noted; the first time, s5 kills its own process and s7 stops the main one."""
    with (notes / session.id).open("a") as note:
        note.write("judged\n")
    if session.id in ("s5", "s7") and not (notes / f"{session.id} before").exists():
        (notes / f"{session.id} before").touch()
        os.kill(*((os.getpid(), signal.SIGKILL) if session.id == "s5" else (main, signal.SIGINT)))
    return classify_all(session, categories)


def test_a_run_that_loses_a_worker_and_is_stopped_goes_on_by_the_same_line_without_what_is_done(runs, tmp_path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    classify = partial(disturbing, notes=notes, main=os.getpid())
    out = tmp_path / "run"
    with open_cluster("local:2") as cluster:
        handlers = [handler for _, handler in cluster._everywhere(signal.getsignal, signal.SIGINT)]
        assert handlers == [signal.SIG_IGN] * 2, "Ctrl-C would make workers print how they were interrupted"
        again = partial(
            classified_on_cluster, (cluster.address, None), [str(runs)], ClassifyPlan(CATEGORIES, classify), str(out)
        )
        with pytest.raises(KeyboardInterrupt):
            again()
        done = [shard for shard in shards_of(4) if (out / shard.marker).exists()]
        before = times_judged(notes)
        assert again().complete
    after = times_judged(notes)
    # Of eight files each shard has two.
    for name in (SESSIONS[2 * shard.number - place] for shard in done for place in (1, 2)):
        assert after[name] == before[name]
    assert after["s4"] >= 2, "the shard whose worker was killed in its second session was done again"
    classify_paths([runs], ClassifyPlan(CATEGORIES, classify_all, workers=1), tmp_path / "whole")
    for name in ("verdicts.jsonl", "sessions.jsonl", "files.jsonl"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def times_judged(notes: Path) -> dict[str, int]:
    return {name: len((notes / name).read_text().splitlines()) for name in SESSIONS if (notes / name).exists()}


class OneWorker:
    """A client of a cluster of one worker with three threads, which is this process, and one that has just died."""

    def nthreads(self) -> dict[str, int]:
        return {"tcp://10.0.0.7:4000": 3}

    def __init__(self, version: object = None) -> None:
        self._version = version

    def run(self, function: Callable[..., object], *arguments: object, on_error: str) -> dict[str, object]:
        assert on_error == "return"
        result = function(*arguments) if self._version is None else self._version
        return {"tcp://10.0.0.6:4000": ConnectionResetError("it has just died"), "tcp://10.0.0.7:4000": result}


def test_a_path_that_a_worker_does_not_see_is_named(tmp_path: Path) -> None:
    cluster = Cluster(OneWorker())
    cluster.require_paths([str(tmp_path)])
    with pytest.raises(UsageError, match=r"nowhere is not there on the worker tcp://10.0.0.7:4000, which runs in "):
        cluster.require_paths([str(tmp_path), str(tmp_path / "nowhere")])


@pytest.mark.parametrize(
    ("version", "message"),
    [("0.0.1", "has Misstep 0.0.1, and this is"), (ModuleNotFoundError("harness"), "has no Misstep")],
)
def test_a_worker_with_another_misstep_or_none_is_named(version: object, message: str) -> None:
    Cluster(OneWorker()).require_misstep()
    with pytest.raises(MissingPrerequisite, match=f"the worker tcp://10.0.0.7:4000 {message}"):
        Cluster(OneWorker(version)).require_misstep()


def test_a_run_is_cut_as_asked_for_else_as_it_was_begun_else_by_the_threads(runs: Path, tmp_path: Path) -> None:
    cluster, store = Cluster(OneWorker()), FolderStore(tmp_path / "run")
    assert (cluster.shards_for(store, None), cluster.shards_for(store, 7)) == (6, 7)
    plan_of_classify(store, 5, [str(runs)], ClassifyPlan(CATEGORIES, classify_all))
    assert (cluster.shards_for(store, None), cluster.shards_for(store, 7)) == (5, 7)


@pytest.mark.parametrize("address", ["cluster-7", "local:0", "local:two", "http://host:8786", "tcp://host"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(UsageError), open_cluster(address):
        pass


def test_a_scheduler_that_does_not_answer_is_named_with_the_commands_that_start_one() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{closed.getsockname()[1]}"
        with pytest.raises(MissingPrerequisite, match="Start one: dask scheduler, "), open_cluster(address):
            pass


def test_without_dask_the_command_that_brings_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingPrerequisite, match=r"pip install 'misstep\[dask\]'"), open_cluster("local"):
        pass
