"""Judge triage cases by a judge that asks no model in several processes, which can be ended at any moment."""

import asyncio
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from misstep.harness.errors import MisstepError
from misstep.harness.items import Item, Kind, Question, Runs
from misstep.harness.journal.workers import available, open_pool
from misstep.harness.judges.answering import answered, unjudged
from misstep.harness.no_model import NO_MODEL
from misstep.harness.protocols import Ask, Judge
from misstep.harness.readers.misstep import inline_run
from misstep.harness.runs.judging.trajectories_by_id import runs_by_id
from misstep.harness.runs.triage.case_judge import CaseJudge
from misstep.harness.trajectory import Trajectory
from misstep.harness.verdict import Verdict

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor


REQUESTS = 16
_QUEUED = 4
"""Items that are begun for each process, so that none of them waits."""


class JudgeInProcesses:
    """A judge as it is run in a pool of processes; the runs of its items are read there."""

    kind: ClassVar[Kind] = "triage"
    uses_model: ClassVar[bool] = False
    reads_trajectories: ClassVar[bool] = False

    def __init__(self, judge: CaseJudge, pool: "ProcessPoolExecutor") -> None:
        self._judge, self._pool = judge, pool
        self._pickled = pickle.dumps(judge)

        self.name, self.labels = judge.name, judge.labels
        self.settings, self.skip_reason = judge.settings, judge.skip_reason

    def fitted(self, question: Question, folder: Path) -> "JudgeInProcesses":
        """Return the judge with the benchmark's folder; raises as the judge."""
        return JudgeInProcesses(self._judge.fitted(question, folder), self._pool)

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:  # noqa: ARG002 (asks nobody)
        """Return the verdict on an item, given in another process."""
        from concurrent.futures.process import BrokenProcessPool

        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._pool, _judged, self._pickled, item)
        except BrokenProcessPool as error:
            advice = "Run the same command again, with fewer --workers."
            raise MisstepError("a process died: it was killed or ran out of memory", advice) from error


@contextmanager
def at_once(judge: CaseJudge, workers: int | None) -> Iterator[tuple[Judge, int]]:
    """Return the judge as it judges several cases at once, and how many items a run begins."""
    if judge.uses_model:
        yield judge, workers or REQUESTS
        return
    processes = workers or available()
    with in_processes(judge, processes) as opened:
        yield opened, _QUEUED * processes


@contextmanager
def in_processes(judge: CaseJudge, workers: int) -> Iterator[JudgeInProcesses]:
    """Return the judge in so many processes, which end with the block."""
    pool = open_pool(workers)
    try:
        for started in [pool.submit(os.getpid) for _ in range(workers)]:  # now, while this process has one thread
            started.result()
        yield JudgeInProcesses(judge, pool)
    finally:
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
            process.join()


def _judged(pickled: bytes, item: Item) -> Verdict:
    judge, runs = _opened(pickled)
    try:
        trajectory = None if item.extra.get("case") else runs.of(item)
        return asyncio.run(answered(judge, item, trajectory, NO_MODEL))
    except MisstepError as error:
        return unjudged(judge, item, error.line())


@lru_cache(maxsize=1)
def _opened(pickled: bytes) -> tuple[CaseJudge, Runs]:
    judge: CaseJudge = pickle.loads(pickled)  # noqa: S301 -- our parent's
    return judge, Runs(judge.folder or Path(), runs_by_id, inline_run)
