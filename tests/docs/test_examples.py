"""The examples run: a judge in Python that asks twice is killed in the middle, and the same command goes on with it."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from misstep_harness.journal.records import VERDICTS, read_verdicts
from misstep_harness.reflexive.records import CHANGES, Diagnosed, Failed, Restored
from misstep_harness.reflexive.runs.running import recorded_events
from tests.harness.clients.faulty_server import Play, answer, completion, serving, stall
from tests.misstep.as_a_user import in_a_thread, misstep
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
ENVIRONMENT = os.environ | {"OPENAI_API_KEY": "key", "PYTHONPATH": str(ROOT)}
ITEMS = [json.loads(line) for line in (EXAMPLES / "last_messages/items.jsonl").read_text().splitlines()]


class Model:
    """Says yes and quotes the message's first words; stops answering after so many requests."""

    def __init__(self, most: int) -> None:
        self.asked: Counter[str] = Counter()
        self.most = most

    def __call__(self, request: dict[str, Any]) -> Play:
        question = request["messages"][-1]["content"]
        item = next(item for item in ITEMS if item["text"][:40] in question)
        second = question.startswith("Copy")
        self.asked[f"{item['id']} {'second' if second else 'first'}"] += 1
        if self.asked.total() > self.most:
            return stall
        return answer(completion(item["text"][:20] if second else "Yes, it does."))


def test_a_judge_that_asks_twice_is_killed_and_asks_nothing_twice_that_was_answered(tmp_path: Path) -> None:
    model, verdicts = Model(most=5), tmp_path / "run" / VERDICTS
    with in_a_thread(serving(choose=model)) as server:
        line = [
            sys.executable, "-m", "misstep", "judge", "run", "examples.asks_twice:AsksTwice", "--benchmark",
            str(EXAMPLES / "last_messages"), "--out", str(tmp_path / "run"), "--model", "small-1",
            "--base-url", server.base_url, "--concurrency", "1", "--json",
        ]  # fmt: skip
        with subprocess.Popen(line, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            wait_until(lambda: model.asked.total() > model.most, process)
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        assert verdicts.read_bytes().count(b"\n") == 2
        unanswered = {name for name, count in model.asked.items() if count} - set(list(model.asked)[:5])
        model.most = 10**9
        done = subprocess.run(line, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    asked_again = {name for name, count in model.asked.items() if count > 1}
    assert asked_again == unanswered
    assert json.loads(done.stdout)["n"] == len(ITEMS)
    assert {verdict.judge for verdict in read_verdicts(tmp_path / "run")} == {"asks_twice"}


def test_a_triage_blames_agent_task_and_infrastructure(tmp_path: Path) -> None:
    cases, run = tmp_path / "failed-runs", tmp_path / "run"
    subprocess.run(["sh", EXAMPLES / "make_failed_runs.sh", cases], check=True)
    done = misstep("triage", cases, "--access", "sandbox", "--out", run, "--workers", "1", "--json")
    verdicts = json.loads(done.stdout)["verdicts"]
    labels = {"mean": "agent", "colours": "task", "words": "infrastructure"}
    assert {verdict["item"]: verdict["label"] for verdict in verdicts} == labels
    assert all(verdict["evidence"] for verdict in verdicts)


def test_the_skill_of_the_examples_is_broken_diagnosed_from_outside_and_restored_until_it_is_solved(tmp_path) -> None:
    line = [sys.executable, "-m", "misstep", "reflect", "run", "examples.settings_skill:settings"]
    line += ["--out", str(tmp_path / "run"), "--json"]
    done = subprocess.run(line, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    items = json.loads(done.stdout)["items"]
    assert [(item["id"], item["end"], item["attempts"]) for item in items] == [
        ("timeout", "solved", 2),
        ("retries", "solved", 2),
        ("logging", "solved", 2),
    ]
    happened = [event.happened for event in recorded_events(tmp_path / "run")]
    assert {one.channel for one in happened if isinstance(one, Diagnosed)} == {"out_of_band"}
    assert all(one.verified and one.reachable for one in happened if isinstance(one, Restored))


def test_lines_that_lock_the_administrator_out_or_change_a_check_are_put_back_until_the_rule_is_kept(tmp_path) -> None:
    line = [sys.executable, "-m", "misstep", "reflect", "run", "command", "--json", "--out", str(tmp_path / "run")]
    line += ["--target", str(EXAMPLES / "hardening/target.toml"), "--n", "5", "--seed", "3"]
    done = subprocess.run(line, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert {item["id"]: (item["end"], item["attempts"]) for item in json.loads(done.stdout)["items"]} == {
        "ssh_admin_key": ("solved", 1),
        "ssh_keys_only": ("solved", 2),
        "ssh_idle": ("solved", 2),
        "no_forwarding": ("solved", 3),
        "random_addresses": ("solved", 2),
    }
    happened = [event.happened for event in recorded_events(tmp_path / "run")]
    failures = Counter(one.kind for one in happened if isinstance(one, Failed))
    assert failures == {"unhealthy": 2, "check_failed": 2, "check_weakened": 1}
    changes = (tmp_path / "run" / CHANGES).read_text()
    assert "checks/" not in changes
    assert "+PasswordAuthentication no" in changes
