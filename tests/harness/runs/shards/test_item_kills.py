"""A shard that is killed, then the same command: what was answered is not asked again, in it or in any other."""

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from misstep.harness.journal.records import VERDICTS, read_verdicts
from misstep.harness.runs.shards.layout import Shard
from tests.harness.clients.faulty_server import Play, answer, completion, serving, stall
from tests.misstep.as_a_user import in_a_thread, in_this_process
from tests.misstep.made_up_judges import benchmark, judge_file
from tests.waiting import wait_until

TEXTS = [f"apple {number}" if number % 3 else f"leek {number}" for number in range(12)]
ANSWERED = 5


class Model:
    """Answers so many items and then none, until it is told to go on."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.most = ANSWERED

    def __call__(self, request: dict[str, Any]) -> Play:
        text = next(text for text in TEXTS if f"{text}\n" in request["messages"][-1]["content"])
        self.asked[text] += 1
        if self.asked.total() > self.most:
            return stall
        label = "fruit" if "apple" in text else "vegetable"
        return answer(completion(json.dumps({"reasoning": "r", "label": label})))


def test_a_killed_shard_goes_on_and_no_answered_item_is_asked_again_in_any(tmp_path, monkeypatch, capsys) -> None:
    judge = judge_file(tmp_path)
    plants, out, model = benchmark(tmp_path / "plants", TEXTS), tmp_path / "run", Model()
    killed = out / Shard(1, 2).folder
    with in_a_thread(serving(choose=model)) as server:
        line = ["run", judge, "--benchmark", plants, "--out", out, "--base-url", server.base_url, "--shard"]
        command = [sys.executable, "-m", "misstep", "judge", *map(str, line), "1/2"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            wait_until(lambda: _lines(killed) == ANSWERED and len(model.asked) == len(TEXTS) // 2, process)
            process.send_signal(signal.SIGKILL)
            process.wait()
        answered = [TEXTS[int(verdict.item[1:])] for verdict in read_verdicts(killed, unfinished=True)]
        model.most, before = 10**9, Counter(model.asked)
        for shard in ("1/2", "2/2", "1/2"):
            assert in_this_process("judge", monkeypatch, capsys)(*line, shard)[0] == 0
    assert in_this_process("merge", monkeypatch, capsys)(out)[0] == 0
    assert model.asked - before == Counter(TEXTS) - Counter(answered)
    assert [verdict.item for verdict in read_verdicts(out)] == [f"i{number}" for number in range(len(TEXTS))]


def _lines(run: Path) -> int:
    file = run / VERDICTS
    return file.read_bytes().count(b"\n") if file.exists() else 0
