"""A run that is killed in the middle, then the same command: nothing lost, nothing that was answered asked twice."""

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from misstep.harness.journal.records import VERDICTS, read_verdicts
from tests.harness.clients.faulty_server import Play, answer, completion, serving, stall
from tests.misstep.as_a_user import in_a_thread
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
        """What is played for a request."""
        text = next(text for text in TEXTS if f"{text}\n" in request["messages"][-1]["content"])
        self.asked[text] += 1
        if self.asked.total() > self.most:
            return stall
        label = "fruit" if "apple" in text else "vegetable"
        return answer(completion(json.dumps({"reasoning": "r", "label": label})))


def command(folder: Path, out: str, address: str) -> list[str]:
    asked = [sys.executable, "-m", "misstep", "judge", "run", str(folder / "judge.toml")]
    return [*asked, "--benchmark", str(folder / "plants"), "--out", str(folder / out), "--base-url", address, "--json"]


def _lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


@pytest.mark.parametrize("killed_by", [signal.SIGKILL, signal.SIGINT])
def test_the_same_command_asks_the_rest_and_scores_as_if_it_was_never_killed(tmp_path, killed_by) -> None:
    judge_file(tmp_path)
    benchmark(tmp_path / "plants", TEXTS)
    model, verdicts = Model(), tmp_path / "killed" / VERDICTS
    with in_a_thread(serving(choose=model)) as server:
        line = command(tmp_path, "killed", server.base_url)
        with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            wait_until(lambda: _lines(verdicts) >= ANSWERED and len(model.asked) == len(TEXTS), process)
            process.send_signal(killed_by)
            code = process.wait()
        assert code == (130 if killed_by == signal.SIGINT else -signal.SIGKILL)
        first = {verdict.item for verdict in read_verdicts(tmp_path / "killed", unfinished=True)}
        assert len(first) == ANSWERED
        model.most, asked_before = 10**9, Counter(model.asked)
        resumed = subprocess.run(line, capture_output=True, text=True, check=True)
        again = model.asked - asked_before
        assert sorted(again.values()) == [1] * (len(TEXTS) - ANSWERED)
        assert not {f"i{TEXTS.index(text)}" for text in again} & first
        whole = subprocess.run(command(tmp_path, "whole", server.base_url), capture_output=True, text=True, check=True)
    spent = {"seconds", "reported", "cost"}
    scores, undisturbed = (
        {name: value for name, value in json.loads(done.stdout).items() if name not in spent}
        for done in (resumed, whole)
    )
    assert scores == undisturbed
    assert len(list(read_verdicts(tmp_path / "killed"))) == len(TEXTS)
