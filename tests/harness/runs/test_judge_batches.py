"""A judge's run by the Batch API: uploaded together, gone on with after a stop, scored like any other."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from misstep_analysis.judging.judged_runs import open_run
from misstep_analysis.judging.report import assessed
from misstep_harness.clients import ClientSettings
from misstep_harness.errors import MissingPrerequisite
from misstep_harness.journal.records import read_verdicts
from misstep_harness.judges.judge_file import JudgeSpec
from misstep_harness.judges.prompted import prompted_judge
from misstep_harness.runs.judging.judge import run_judge
from misstep_harness.runs.run import BATCHES
from tests.harness.clients.batch_server import BatchServer, answered, batch_server
from tests.harness.clients.faulty_server import completion
from tests.misstep.as_a_user import in_a_thread
from tests.misstep.made_up_judges import benchmark

TEXTS = ["apple", "carrot", "apple pie", "leek"]


def judged(line: dict[str, Any]) -> dict[str, Any]:
    """The line that answers one request: fruit if there is an apple."""
    text = "fruit" if "apple" in line["body"]["messages"][-1]["content"] else "vegetable"
    return answered(line, body=completion(json.dumps({"reasoning": "r", "label": text})))


@asynccontextmanager
async def judging_server(prepare: Callable[[BatchServer], None] = lambda _: None) -> AsyncIterator[BatchServer]:
    """A batch server whose model knows fruit."""
    async with batch_server() as server:
        server.output = lambda lines: [judged(line) for line in lines]
        prepare(server)
        yield server


def accuracy(run: Path) -> float | None:
    return assessed(open_run(run)).scores.accuracy_all.value


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-a-test")
    return benchmark(tmp_path / "plants", TEXTS)


def test_every_item_is_answered_and_scored(tmp_path: Path, folder: Path, spec: JudgeSpec) -> None:
    with in_a_thread(judging_server()) as server:
        ended = run_judge(
            prompted_judge(spec), folder, tmp_path / "run", ClientSettings(base_url=server.base_url), batch=True
        )
        assert len(server.batches) == 1
    assert (ended.done, ended.failed) == (4, 0)
    assert accuracy(tmp_path / "run") == 1.0
    assert not (tmp_path / "run" / BATCHES).exists()


def test_a_run_that_was_stopped_while_it_waited_takes_the_same_batch(tmp_path, folder, spec) -> None:
    def unreachable(server: BatchServer) -> None:
        server.broken = lambda method, path: (
            web.json_response({"error": {"message": "gone"}}, status=404)
            if method == "GET" and path.startswith("/batches/")
            else None
        )

    with in_a_thread(judging_server(unreachable)) as server:
        settings = ClientSettings(base_url=server.base_url)
        with pytest.raises(MissingPrerequisite):
            run_judge(prompted_judge(spec), folder, tmp_path / "run", settings, batch=True)
        assert not list(read_verdicts(tmp_path / "run", unfinished=True))
        server.broken = lambda *_: None
        ended = run_judge(prompted_judge(spec), folder, tmp_path / "run", settings, batch=True)
        assert (ended.done, len(server.batches)) == (4, 1)


def test_what_a_batch_lacks_fails_and_only_that_is_handed_in_again(tmp_path, folder, spec) -> None:
    def incomplete(server: BatchServer) -> None:
        server.output = lambda lines: [judged(line) for line in lines[1:]]

    with in_a_thread(judging_server(incomplete)) as server:
        settings = ClientSettings(base_url=server.base_url)
        ended = run_judge(prompted_judge(spec), folder, tmp_path / "run", settings, batch=True)
        assert (ended.done, ended.failed) == (4, 1)
        server.output = lambda lines: [judged(line) for line in lines]
        ended = run_judge(prompted_judge(spec), folder, tmp_path / "run", settings, batch=True)
        assert (ended.done, ended.failed) == (4, 0)
        assert min(content.count("\n") for content in server.files.values() if "custom_id" in content) == 1
    assert accuracy(tmp_path / "run") == 1.0
