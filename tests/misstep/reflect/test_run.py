"""`misstep reflect run`, as a user gives it: with the skills' own agents, with a model, stopped and gone on with."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.errors import SandboxMissing
from misstep_harness.journal.records import read_manifest
from misstep_harness.reflexive.records import ItemEnded, TurnEnded
from misstep_harness.reflexive.runs.running import recorded_events
from misstep_harness.workspace import Sandbox
from tests.harness.clients.faulty_server import FaultyServer, Play, answer, completion, serving, stall
from tests.harness.repair.cases import price_case
from tests.harness.repair.conftest import sandbox as sandbox
from tests.local_model import stubbed_local_model
from tests.misstep.as_a_user import in_a_thread, in_this_process
from tests.waiting import wait_until

Reflect = Callable[..., tuple[int, str, str]]


@pytest.fixture
def reflect(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Reflect:
    return in_this_process("reflect", monkeypatch, capsys)


def _by_role(request: dict[str, Any]) -> Play:
    """A model that plans, enters the same command again and again, and gives up where it is asked to decide."""
    system = request["messages"][0]["content"]
    if "Your verdict is one of four" in system:
        return answer(completion("VERDICT: ESCALATE\nPLAN: It cannot be done."))
    if "You have one command" in system and request["messages"][-1]["role"] == "user":
        seen = request["messages"][-1]["content"].startswith("What the command showed")
        return answer(completion("It is set." if seen else "Thought: set\nCommand: configure changes='nothing=on'"))
    return answer(completion("Set what the task names."))


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    with in_a_thread(serving(choose=_by_role)) as server:
        yield server


def test_the_loop_runs_and_the_same_command_says_the_same_again(reflect: Reflect, tmp_path: Path) -> None:
    code, out, err = reflect("run", "--n", 4, "--out", tmp_path / "run")
    assert code == 0, err
    assert out.startswith("How the items ended\n")
    assert "never" not in err
    again = reflect("run", "--n", 4, "--out", tmp_path / "run", "--json")
    items = json.loads(again[1])["items"]
    assert len(items) == 4
    for item in items:
        assert item["end"] in ("solved", "time_budget", "attempt_cap", "escalated", "failed")
        assert {"id", "end", "attempts", "seconds", "reason"} <= item.keys()
    assert reflect("run", "--n", 4, "--out", tmp_path / "run")[1] == out


def test_the_options_reach_the_loop(reflect: Reflect, tmp_path: Path) -> None:
    options = ["--without", "memory,snapshots", "--without", "ordering", "--agents", "stubborn", "--seed", 3]
    limits = ["--item-seconds", 600, "--attempts", 2, "--tokens", 10**6, "--usd", 1, "--plateau", "exact"]
    limits += ["--strategist-seconds", 90]
    code, _, err = reflect("run", "--n", 2, "--time", "virtual", "--out", tmp_path / "run", *options, *limits)
    assert code == 0, err
    began = next(iter(recorded_events(tmp_path / "run"))).happened
    assert (began.agents, began.seed, began.without) == ("stubborn", 3, ("memory", "ordering", "snapshots"))
    manifest = read_manifest(tmp_path / "run")
    dials = manifest.settings["dials"]
    assert dials["item"] == {"seconds": 600.0, "attempts": 2, "tokens": 10**6, "usd": 1.0}
    assert dials["least_seconds_to_re_engage"] == 90.0
    assert (dials["plateau"], manifest.settings["virtual_time"]) == ("exact", True)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["dancing"], "'dancing' is not among the skills"),
        (["--without", "luck"], "unknown mechanism 'luck'"),
        (["--without", ""], "--without names nothing"),
        (["--items", " , "], "--items names nothing"),
        (["--replay", "gone.jsonl", "--model", "m"], "gone.jsonl: cannot open"),
        (["--replay", "gone.jsonl"], "Name the model that was recorded with --model."),
        (["--agents", "lucky"], "has no agents 'lucky'. Known: mixed, perfect"),
        (["--agents", "model"], "Name one with --model"),
        (["--agents", "mixed", "--model", "m"], "--agents mixed asks no model"),
        (["--plateau", "guess"], "'guess' is not among the plateau detectors. Known: cosine, embeddings, exact,"),
        (["--items", "nothing"], "has no item 'nothing'"),
        (["--lessons", "gone"], "Name the folder that `misstep reflect run` wrote."),
        (["--item-seconds", "120"], "Raise --item-seconds, lower --strategist-seconds"),
        (["--strategist-seconds", "1200"], "an item has 1200 seconds, and the strategist is asked while at least 1200"),
        (["command"], "Name its TOML file with --target"),
        (["command", "--target", "gone.toml"], "gone.toml: cannot be read"),
        (["repair"], "Name their folder with --cases."),
        (["repair", "--cases", "gone"], "no repair case"),
        (["--local", "--model", "m"], "--local has its own model"),
        (
            ["misstep_harness.reflexive.records:WorkItem"],
            "the skill's `misstep_harness.reflexive.records:WorkItem` raised TypeError",
        ),
    ],
)
def test_an_impossible_run_is_one_line(reflect: Reflect, tmp_path: Path, options: list[str], text: str) -> None:
    code, _, err = reflect("run", *options, "--out", tmp_path / "run")
    assert code == 2
    assert text in err
    assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("amount", ["nan", "inf", "0", "-3"])
def test_a_time_limit_is_a_positive_amount(reflect: Reflect, tmp_path: Path, amount: str) -> None:
    code, _, err = reflect("run", "--item-seconds", amount, "--out", tmp_path / "run")
    assert (code, "--item-seconds" in err, (tmp_path / "run").exists()) == (2, True, False)


def test_a_model_has_every_role_on_real_time_and_what_it_takes_is_counted(reflect, tmp_path, model) -> None:
    asked = ["--model", "small-1", "--base-url", model.base_url]
    code, out, err = reflect("run", "--n", 1, *asked, "--out", tmp_path / "run", "--json")
    assert code == 0, err
    [item] = json.loads(out)["items"]
    assert (item["end"], item["reason"], item["attempts"]) == ("escalated", "strategist_escalated", 3)
    turns = [event.happened for event in recorded_events(tmp_path / "run") if isinstance(event.happened, TurnEnded)]
    assert {turn.agent for turn in turns} == {"small-1"}
    assert {turn.role for turn in turns} == {"planner", "worker", "reflector", "strategist"}
    assert sum(turn.tokens_in for turn in turns) == 9 * len(model.received)
    manifest = read_manifest(tmp_path / "run")
    assert (manifest.settings["virtual_time"], manifest.settings["model"]) == (False, "small-1")


def test_a_run_whose_server_is_gone_is_kept_and_gone_on_with(reflect, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    calls = []

    def choose(request: dict[str, Any]) -> Play:
        calls.append(request)
        return answer({}, 401) if len(calls) == 3 else _by_role(request)

    with in_a_thread(serving(choose=choose)) as server:
        line = ["run", "--n", 1, "--attempts", 3, "--model", "small-1", "--base-url", server.base_url]
        code, _, err = reflect(*line, "--out", tmp_path / "run")
        assert code == 1
        assert "misstep: stopped: " in err
        code, out, err = reflect(*line, "--out", tmp_path / "run", "--json")
        assert code == 0, err
        assert [item["attempts"] for item in json.loads(out)["items"]] == [3]


def test_a_model_that_never_answers_costs_no_more_than_the_time_of_its_item(reflect, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    with in_a_thread(serving(stall)) as server:
        asked = ["--model", "m", "--base-url", server.base_url, "--item-seconds", 1, "--strategist-seconds", 0]
        code, out, err = reflect("run", "--n", 2, *asked, "--out", tmp_path / "run", "--json")
    assert code == 0, err
    items = json.loads(out)["items"]
    assert [item["end"] for item in items] == ["time_budget", "time_budget"]
    assert all(item["seconds"] < 1.5 for item in items)


def test_a_run_that_is_stopped_is_kept_and_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "misstep", "reflect", "run", "--n", "120", "--out", str(tmp_path / "run")]
    events = tmp_path / "run/events.jsonl"
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: events.is_file() and events.read_bytes().count(b"\n") > 8, process)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130
    assert "the same command goes on with it" in said
    before = events.read_bytes()
    assert subprocess.run(line, capture_output=True).returncode == 0
    assert events.read_bytes().startswith(before)
    whole = subprocess.run([*line[:-1], str(tmp_path / "whole")], capture_output=True)
    assert (whole.returncode, _ends(tmp_path / "run")) == (0, _ends(tmp_path / "whole"))


def _ends(run: Path) -> list[tuple[str, str, int]]:
    ended = [(one.item, one.happened) for one in recorded_events(run) if isinstance(one.happened, ItemEnded)]
    return [(item, happened.ending.reason, happened.attempts) for item, happened in ended]


def test_a_cost_limit_holds_over_all_parts_of_a_run(reflect, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    (tmp_path / "prices.toml").write_text(
        'checked = 2026-01-31\nsource = "made up"\n[[price]]\nmodels = ["dear"]\ninput_usd = 1000.0\noutput_usd = 0.0\n'
    )
    usage = {"prompt_tokens": 7900, "completion_tokens": 1, "total_tokens": 7901}
    with in_a_thread(serving(answer(completion("Plan.", usage=usage)))) as server:
        line = ["run", "--n", 1, "--model", "dear", "--base-url", server.base_url, "--max-cost", 8]
        line += ["--prices", tmp_path / "prices.toml", "--out", tmp_path / "run"]
        for _ in range(2):
            code, _, err = reflect(*line)
            assert (code, "misstep: stopped: " in err) == (1, True), err
            assert len(server.received) == 1
    turns = [event.happened for event in recorded_events(tmp_path / "run") if isinstance(event.happened, TurnEnded)]
    assert [turn.usd for turn in turns] == [pytest.approx(7.9)]


def test_repair_cases_are_worked_on_by_the_same_loop(reflect, tmp_path, sandbox) -> None:  # noqa: ARG001
    price_case(tmp_path / "cases/price")
    line = ["run", "repair", "--cases", tmp_path / "cases", "--agents", "golden", "--out", tmp_path / "run", "--json"]
    code, out, err = reflect(*line)
    assert code == 0, err
    [item] = json.loads(out)["items"]
    assert (item["id"], item["end"], item["attempts"]) == ("price", "solved", 1)


def test_a_model_works_on_a_project_of_the_users_by_several_commands_an_attempt(
    reflect: Reflect,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    sandbox: Sandbox,  # noqa: ARG001
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/price.txt").write_text("3\n")
    (tmp_path / "shop.toml").write_text(
        'checkout = "shop"\ncheck = "grep -qx 4 price.txt"\n[[item]]\nid = "price"\ndescription = "It is 4."\n'
    )
    commands = ["cat price.txt", "echo 4 > price.txt"]

    def choose(request: dict[str, Any]) -> Play:
        if "You have 8 commands" not in request["messages"][0]["content"]:
            return answer(completion("Set the price."))
        place = len(request["messages"]) // 2 - 1
        text = f"Thought: go on\nCommand: run line='{commands[place]}'" if place < 2 else "It is 4 now."
        return answer(completion(text))

    with in_a_thread(serving(choose=choose)) as server:
        line = ["run", "command", "--target", tmp_path / "shop.toml", "--model", "m", "--base-url", server.base_url]
        code, out, err = reflect(*line, "--out", tmp_path / "run", "--json")
    assert code == 0, err
    assert [(item["end"], item["attempts"]) for item in json.loads(out)["items"]] == [("solved", 1)]
    assert "git apply" in err
    assert "+4\n" in (tmp_path / "run/changes.diff").read_text()
    [worker] = [
        event.happened for event in recorded_events(tmp_path / "run") if getattr(event.happened, "role", "") == "worker"
    ]
    assert worker.calls == ("run line='cat price.txt'", "run line='echo 4 > price.txt'")


def test_repairs_need_a_sandbox(reflect: Reflect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> Sandbox:
        raise SandboxMissing(f"no sandbox works here: {name}", "Install bubblewrap.")

    monkeypatch.setattr("misstep.reflect.repair_skill.find_sandbox", none)
    price_case(tmp_path / "cases/price")
    code, _, err = reflect("run", "repair", "--cases", tmp_path / "cases", "--out", tmp_path / "run")
    assert (code, "Install bubblewrap." in err) == (3, True)


def test_the_local_model_tests_the_set_up(reflect: Reflect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with stubbed_local_model(monkeypatch, answer(completion("I will do my best."))):
        code, out, err = reflect("run", "--n", 1, "--attempts", 1, "--local", "--out", tmp_path / "run", "--json")
    assert code == 0, err
    [item] = json.loads(out)["items"]
    assert item["end"] in ("solved", "attempt_cap", "time_budget")
    turns = [event.happened for event in recorded_events(tmp_path / "run") if isinstance(event.happened, TurnEnded)]
    assert all(turn.tokens_in > 0 for turn in turns)
