"""Judges that answer with probabilities, from the first request to the threshold: kept, resumed, limited in cost."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.clients.faulty_server import FaultyServer, Play, answer, completion, serving
from tests.misstep.as_a_user import in_a_thread, misstep
from tests.misstep.made_up_judges import benchmark, judge_file

TEXTS = [f"{'apple' if n % 2 else 'carrot'} number {n}" for n in range(40)]
KEYS = {"decisions": 'api = "decisions"', "systemone": 'api = "systemone"', "logprobs": 'scores = "logprobs"'}


def _sure(text: str) -> dict[str, float]:
    """An apple is fruit with a probability that falls with its number."""
    fruit = 0.95 - int(text.split()[-1]) / 100 if "apple" in text else 0.2
    return {"fruit": round(fruit, 3), "vegetable": round(1 - fruit, 3)}


def _answers(request: dict[str, Any]) -> Play:
    shown = request.get("input") or request.get("state") or request["messages"][-1]["content"]
    probabilities = _sure(next(text for text in reversed(TEXTS) if text in shown))
    if "messages" in request:
        import math

        tokens = [{"token": name[:3], "logprob": math.log(one * 0.9)} for name, one in probabilities.items()]
        places = [{"token": "fru", "logprob": -0.1, "top_logprobs": tokens}]
        return answer(completion("fruit", choice={"logprobs": {"content": places}}))
    one: dict[str, Any] = {
        "type": "choice",
        "name": "label",
        "choice": max(probabilities, key=probabilities.__getitem__),
    }
    usage = {"input_tokens": 1_000, "output_tokens": 0}
    if "state" in request:
        return answer({"answers": {"label": one | {"probabilities": probabilities}}, "usage": usage})
    listed = [{"value": name, "probability": one} for name, one in probabilities.items()]
    return answer({"model": "small-1", "answers": [one | {"probabilities": listed}], "usage": usage})


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with in_a_thread(serving(choose=_answers)) as running:
        yield running


def line(folder: Path, key: str, out: str, *more: str | Path) -> list[str | Path]:
    """The command line of a judge of one protocol on the plants."""
    if not (folder / "plants").is_dir():
        benchmark(folder / "plants", TEXTS)
    file = judge_file(folder)
    file.write_text(f"{file.read_text()}{KEYS[key]}\n")
    return ["judge", "run", file, "--benchmark", folder / "plants", "--out", folder / out, *more]


def verdicts(run: Path) -> dict[str, dict[str, Any]]:
    return {one["item"]: one for one in map(json.loads, (run / "verdicts.jsonl").read_text().splitlines())}


@pytest.mark.parametrize("key", KEYS)
def test_the_likeliest_label_is_the_verdict_and_its_probability_the_score_and_both_are_recorded(key, tmp_path, server):
    done = misstep(*line(tmp_path, key, "run", "--base-url", server.base_url, "--record", tmp_path / "kept.jsonl"))
    assert done.returncode == 0, done.stderr
    first, second = verdicts(tmp_path / "run")["i1"], verdicts(tmp_path / "run")["i2"]
    assert (first["label"], first["score"]) == ("fruit", pytest.approx(0.94))
    assert (second["label"], second["score"]) == ("vegetable", pytest.approx(0.8))
    outside = "; 0.100 on other tokens" if key == "logprobs" else ""
    assert first["rationale"] == f"fruit 0.940, vegetable 0.060{outside}"
    asked = len(server.received)
    replayed = misstep(*line(tmp_path, key, "again", "--replay", tmp_path / "kept.jsonl"), OPENAI_API_KEY="")
    assert replayed.returncode == 0, replayed.stderr
    assert len(server.received) == asked == 40
    assert {item: one["score"] for item, one in verdicts(tmp_path / "again").items()} == {
        item: one["score"] for item, one in verdicts(tmp_path / "run").items()
    }


@pytest.mark.parametrize("key", ["decisions", "systemone"])
def test_a_cost_limit_stops_it_the_same_line_goes_on_and_a_cache_answers_the_next_run(key, tmp_path, server) -> None:
    asking = ("--base-url", server.base_url, "--cache", tmp_path / "cache.sqlite", "--concurrency", "1")
    price = ("--price-in", "1", "--price-out", "1")  # a thousandth of a dollar an item
    stopped = misstep(*line(tmp_path, key, "run", *asking, *price, "--max-cost", "0.0105"))
    assert stopped.returncode == 1
    asked = len(server.received)
    assert 0 < asked < 40
    assert misstep(*line(tmp_path, key, "run", *asking, *price, "--max-cost", "1")).returncode == 0
    assert len(server.received) == 40
    assert misstep(*line(tmp_path, key, "next", *asking)).returncode == 0
    assert len(server.received) == 40
    assert all(one["cached"] for one in verdicts(tmp_path / "next").values())


def test_a_server_of_chat_alone_ends_the_run_with_the_key_to_change(tmp_path: Path) -> None:
    with in_a_thread(serving(answer({"error": {"message": "Not Found"}}, 404))) as chat:
        done = misstep(*line(tmp_path, "decisions", "run", "--base-url", chat.base_url, "--concurrency", "1"))
    assert done.returncode != 0
    assert '`api = "chat"` and `scores = "logprobs"` under [model]' in done.stderr


@pytest.mark.parametrize("limit", ["acuracy=0.8", "fruit.specificity=0.8", "meat.recall=0.8", "accuracy=80"])
def test_a_limit_that_cannot_be_held_is_told_before_the_first_request(server, tmp_path, limit: str) -> None:
    asked = line(tmp_path, "logprobs", "run", "--base-url", server.base_url, "--fail-under", limit)
    done = misstep(*asked, OPENAI_API_KEY="made-up")
    assert (done.returncode, done.stdout, len(server.received)) == (2, "", 0)
    assert ("Did you mean accuracy=80%?" if limit == "accuracy=80" else "Known: accuracy, kappa, ") in done.stderr
