"""The judges that come with Misstep: their examples, reasoning before the label, and how a user replaces examples."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.errors import InputError
from misstep_harness.items import Item
from misstep_harness.judges import read_known, shipped_judges
from misstep_harness.judges.judge_file import read_judge
from misstep_harness.judges.prompted import requests_of
from misstep_harness.judges.replies import schema_of
from misstep_harness.prompting import load_prompt
from misstep_harness.trajectory import Source, Step, Trajectory

WINK = ("did_not_follow_instructions", "infinite_loop", "tool_call_failure", "unrequested_changes")
RUN = Trajectory("r", Source("made up"), "mend the gate", (Step("agent", "I look."),))


@pytest.mark.parametrize("name", WINK)
def test_each_of_winks_four_judges_has_an_example_of_either_label(name: str) -> None:
    assert {example.label for example in read_known(name).examples} == {"yes", "no"}


def test_one_judge_asks_for_all_four_at_once() -> None:
    assert set(read_known("misbehaviour").labels) == {*WINK, "none"}


@pytest.mark.parametrize("name", ["triage_text", "recovery", "benchmark_question", "misbehaviour"])
def test_the_others_are_asked_without_examples(name: str) -> None:
    assert read_known(name).examples == ()


@pytest.mark.parametrize("name", shipped_judges())
def test_reasoning_is_asked_for_before_the_label(name: str) -> None:
    spec = read_known(name)
    assert list(schema_of(tuple(spec.labels))["properties"])[:2] == ["reasoning", "label"]
    rules = load_prompt("judges/data_and_reply").user
    assert rules.index('"reasoning"') < rules.index('"label"')
    assert all(example.reasoning for example in spec.examples)


def own_judge(folder: Path, **example: str) -> Path:
    (folder / "mine.jsonl").write_text(json.dumps(example) + "\n")
    (folder / "mine.toml").write_text(
        'name = "mine"\nkind = "misbehaviour"\nlabels = ["yes", "no"]\n'
        'prompt = "judges/infinite_loop"\nexamples = "mine.jsonl"\n'
    )
    return folder / "mine.toml"


def test_a_users_file_replaces_the_examples_and_keeps_the_shipped_prompt(tmp_path: Path) -> None:
    file = own_judge(
        tmp_path, task="t", trajectory="[step 0] agent\nround and round", label="yes", reasoning="it turns"
    )
    spec = read_judge(file)
    assert spec.prompt == read_known("infinite_loop").prompt
    (request,) = requests_of(spec, Item("i", "misbehaviour"), RUN).requests
    assert [message.role for message in request.messages] == ["system", "user", "assistant", "user"]
    assert "round and round" in request.messages[1].content
    document: Any = json.loads(request.messages[2].content)
    assert list(document) == ["reasoning", "label", "score", "steps"]
    assert (document["label"], document["reasoning"]) == ("yes", "it turns")


def test_an_example_that_lacks_what_the_prompt_shows_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"mine\.jsonl:1: trajectory: the example has no text for \{trajectory\}"):
        read_judge(own_judge(tmp_path, task="t", label="yes", reasoning="r"))


def test_examples_may_open_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = own_judge(tmp_path, task="t", trajectory="a", label="no", reasoning="r")
    lines = (tmp_path / "mine.jsonl").read_bytes()
    (tmp_path / "mine.jsonl").write_bytes(b"\xef\xbb\xbf" + lines.replace(b"\n", b"\r\n"))
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert [example.label for example in read_judge(file).examples] == ["no"]
