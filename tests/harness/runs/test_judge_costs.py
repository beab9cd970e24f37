"""A run with a limit on its cost: the limit is that of the whole run, and nothing that was paid for is lost."""

import asyncio
from pathlib import Path

import pytest

from misstep_harness.clients import CLIENTS, ClientSettings
from misstep_harness.exchange import Outcome, Reply, Request
from misstep_harness.journal.records import read_verdicts
from misstep_harness.judges.judge_file import JudgeSpec
from misstep_harness.judges.prompted import prompted_judge
from misstep_harness.runs.judging.judge import run_judge
from misstep_harness.runs.run import SPENDING_LOG
from tests.misstep.made_up_judges import benchmark

TEXTS = [f"apple {number}" for number in range(20)]
PRICES = """
checked = 2026-01-31
source = "made up"
[[price]]
models = ["small-1"]
input_usd = 1.0
output_usd = 1000.0
"""
SAID = '{"reasoning": "r", "label": "fruit"}'


class Model:
    """Uses 100 tokens of the 1,024 that it may, and does not always say so; answers shorter questions later."""

    def __init__(self) -> None:
        self.says_usage = True
        self.asked: list[str] = []

    async def ask(self, request: Request) -> Outcome:
        """A reply that costs a tenth of what it could."""
        text = request.messages[-1].content
        self.asked.append(text)
        for _ in range(50 if "short" in text else 1):
            await asyncio.sleep(0)
        tokens, cost = (100, 0.1) if self.says_usage else (None, None)
        return Reply(SAID, None, "stop", "small-1", 0 if tokens else None, tokens, 0.0, cost)

    async def close(self) -> None:
        """Nothing is held."""


model = Model()


def opened(_: ClientSettings) -> Model:
    return model


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    model.__init__()  # type: ignore[misc]
    monkeypatch.setitem(CLIENTS, "made_up", "tests.harness.runs.test_judge_costs:opened")


def settings(tmp_path: Path, limit: float, cache: Path | None = None) -> ClientSettings:
    (tmp_path / "prices.toml").write_text(PRICES)
    return ClientSettings(client="made_up", prices=tmp_path / "prices.toml", max_cost_usd=limit, cache=cache)


def test_answers_of_unknown_cost_count_in_full_for_the_next_command_too(tmp_path: Path, spec: JudgeSpec) -> None:
    model.says_usage = False
    folder, out = benchmark(tmp_path / "plants", TEXTS), tmp_path / "run"
    for _ in range(3):
        ended = run_judge(prompted_judge(spec), folder, out, settings(tmp_path, 3.5), concurrency=1)
        assert "are left" in ended.stopped
    assert len(model.asked) == 3
    ended = run_judge(prompted_judge(spec), folder, out, settings(tmp_path, 5.5), concurrency=4)
    assert (ended.done, len(model.asked)) == (5, 5)


def test_answers_of_a_cache_cost_nothing(tmp_path: Path, spec: JudgeSpec) -> None:
    cache = tmp_path / "answers.sqlite"
    some = benchmark(tmp_path / "some", TEXTS[:15])
    run_judge(prompted_judge(spec), some, tmp_path / "first", settings(tmp_path, 9.0, cache))
    folder, out = benchmark(tmp_path / "plants", TEXTS), tmp_path / "run"
    first = run_judge(prompted_judge(spec), folder, out, settings(tmp_path, 0.0, cache), concurrency=1)
    assert first.stopped
    assert first.done == 15
    ended = run_judge(prompted_judge(spec), folder, out, settings(tmp_path, 1.6, cache), concurrency=1)
    assert (ended.done, ended.stopped) == (20, "")
    assert not (out / SPENDING_LOG).exists()


def test_what_is_with_the_server_when_the_money_is_used_is_waited_for(tmp_path: Path, spec: JudgeSpec) -> None:
    """A long question is refused where a short one is still answered, and that one is paid for."""
    texts = ["apple " * 60_000, "apple short", *["leek " * 60_000] * 8]
    folder, out = benchmark(tmp_path / "plants", texts), tmp_path / "run"
    ended = run_judge(prompted_judge(spec), folder, out, settings(tmp_path, 1.1), concurrency=10)
    assert ended.stopped
    assert len(model.asked) == ended.done == 1
    assert [verdict.status for verdict in read_verdicts(out, unfinished=True)] == ["answered"]
