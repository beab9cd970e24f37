"""A run against a server with faults of every way: each item ends in a verdict, none lost, none mislabelled."""

import json
from collections import Counter
from typing import Any

from misstep_harness.clients import ClientSettings
from misstep_harness.journal.records import read_verdicts
from misstep_harness.judges import prompted
from misstep_harness.judges.prompted import prompted_judge
from misstep_harness.runs.judging.judge import run_judge
from tests.harness.clients.faulty_server import Play, answer, completion, reset, serving
from tests.misstep.as_a_user import in_a_thread
from tests.misstep.made_up_judges import benchmark

FRUIT = '{"reasoning": "r", "label": "fruit"}'

PASSING: dict[str, Play] = {
    "500": answer({"error": {"message": "oops"}}, 500),
    "reset": reset,
    "no JSON under 200": answer(b'{"choices": [{"mess'),
}
"""What is not an answer, one of each way: the item fails, and the same command asks it again."""

SAID: dict[str, tuple[Play, str, str | None]] = {
    "refusal": (answer(completion(None, message={"refusal": "I will not."})), "refused", None),
    "cut off": (answer(completion('{"reasoning": "be', choice={"finish_reason": "length"})), "unreadable", None),
    "fenced": (answer(completion(f"```json\n{FRUIT}\n```")), "answered", "fruit"),
}
"""What is an answer, whatever it says: it is never asked again."""


class Model:
    """Answers each item soundly, but for a fault the first time."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, request: dict[str, Any]) -> Play:
        text = request["messages"][-1]["content"]
        name = next((name for name in (*PASSING, *SAID) if f"[{name}]" in text), "")
        self.asked[name] += 1
        if name in SAID:
            return SAID[name][0]
        if name in PASSING and self.asked[name] == 1:
            return PASSING[name]
        label = "fruit" if "apple" in text else "vegetable"
        return answer(completion(json.dumps({"reasoning": "r", "label": label})))


NAMES = (*PASSING, *SAID)
TEXTS = [f"[{name}] {fruit}" for name, fruit in zip(NAMES, ["apple", "carrot"] * len(NAMES), strict=False)]


def test_every_item_is_accounted_for_and_what_failed_is_mended_by_the_same_command(tmp_path, spec) -> None:
    folder, out, model = benchmark(tmp_path / "plants", [*TEXTS, "apple", "leek"]), tmp_path / "run", Model()
    with in_a_thread(serving(choose=model)) as server:
        settings = ClientSettings(
            base_url=server.base_url, attempts=1, attempt_seconds=3.0, total_seconds=3.0, failures_to_stop=1000
        )
        first = run_judge(prompted_judge(spec), folder, out, settings, concurrency=8)
        assert (first.done, first.failed, first.stopped) == (len(TEXTS) + 2, len(PASSING), "")
        verdicts = {verdict.item: verdict for verdict in read_verdicts(out, unfinished=True)}
        for number, name in enumerate(NAMES):
            expected = ("failed", None) if name in PASSING else SAID[name][1:]
            assert (verdicts[f"i{number}"].status, verdicts[f"i{number}"].label) == expected, name

        second = run_judge(prompted_judge(spec), folder, out, settings, concurrency=8)
        assert (second.done, second.failed) == (len(TEXTS) + 2, 0)
    assert all(model.asked[name] == 2 for name in PASSING)
    assert all(model.asked[name] == 1 for name in SAID)
    last = {verdict.item: verdict.label for verdict in read_verdicts(out)}
    for number, name in enumerate(NAMES):
        if name in PASSING:
            assert last[f"i{number}"] == ("fruit" if "apple" in TEXTS[number] else "vegetable"), name


def test_what_making_a_question_or_reading_a_reply_raises_is_the_items_own_failure(tmp_path, spec, monkeypatch) -> None:
    """A fault of ours, or of a reader, costs its item; the others are asked, and the run can be finished."""

    def raising(real: Any, word: str) -> Any:
        def raises(*given: Any) -> Any:
            if word in str(given[1]):
                raise RecursionError(f"too deep in {word}")
            return real(*given)

        return raises

    folder, out = benchmark(tmp_path / "plants", ["apple one", "leek two", "apple three"]), tmp_path / "run"
    with in_a_thread(serving(choose=Model())) as server:
        settings = ClientSettings(base_url=server.base_url)
        with monkeypatch.context() as broken:
            broken.setattr(prompted, "requests_of", raising(prompted.requests_of, "apple one"))
            broken.setattr(prompted, "verdict", raising(prompted.verdict, "leek two"))
            assert run_judge(prompted_judge(spec), folder, out, settings).failed == 2
        errors = {verdict.item: verdict.error for verdict in read_verdicts(out, unfinished=True)}
        assert errors == {
            "i0": "judging it raised RecursionError: too deep in apple one",
            "i1": "judging it raised RecursionError: too deep in leek two",
            "i2": None,
        }
        assert run_judge(prompted_judge(spec), folder, out, settings).failed == 0
