"""Two processes that are given the same line at once: one writes the run, no answer is lost, none is paid for twice."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from misstep.harness.journal.records import read_manifest, read_verdicts
from tests.harness.clients.faulty_server import Play, answer, completion, serving
from tests.misstep.as_a_user import in_a_thread
from tests.misstep.made_up_judges import benchmark, judge_file

TEXTS = [f"apple {number}" for number in range(20)]


def test_one_of_them_asks_and_the_other_waits_its_turn_or_finds_it_done(tmp_path: Path) -> None:
    judge_file(tmp_path)
    benchmark(tmp_path / "plants", TEXTS)
    asked: Counter[str] = Counter()

    def model(request: dict[str, Any]) -> Play:
        asked[next(text for text in TEXTS if f"{text}\n" in request["messages"][-1]["content"])] += 1
        return answer(completion(json.dumps({"reasoning": "r", "label": "fruit"})))

    with in_a_thread(serving(choose=model)) as server:
        line = [sys.executable, "-m", "misstep", "judge", "run", str(tmp_path / "judge.toml"), "--benchmark"]
        line += [str(tmp_path / "plants"), "--out", str(tmp_path / "run"), "--base-url", server.base_url, "--json"]
        started = [
            subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)
        ]
        ended = [(process.communicate()[1], process.returncode) for process in started]
    for said, code in ended:
        assert code == 0 or (code == 2 and "another process is writing" in said), said
    assert 0 in [code for _, code in ended]
    assert set(asked.values()) == {1}
    assert len(list(read_verdicts(tmp_path / "run"))) == len(TEXTS)
    manifest = read_manifest(tmp_path / "run")
    assert manifest is not None
    assert manifest.finished
