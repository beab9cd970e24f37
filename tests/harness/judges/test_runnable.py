"""A judge fits a benchmark by kind and labels, or takes its labels from it; what an item may get follows from both."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from misstep_harness.errors import InputError, UsageError
from misstep_harness.items import Item, Question
from misstep_harness.judges import read_known
from misstep_harness.judges.judge_file import Example, JudgeSpec, read_judge
from misstep_harness.judges.prompted import DEFAULT_QUESTION, prompted_judge, requests_of
from misstep_harness.judges.runnable import GENERAL, fitted, offered

FOLDER = Path("plants")
FRUIT = Question("plants", "text", {"fruit": "it has seeds", "vegetable": ""}, asks="Is it a fruit?", shown=("colour",))
OPEN = Question("who", "triage", asks="Who was it?")


def general(**changed: object) -> JudgeSpec:
    spec = read_known(GENERAL)
    return replace(spec, model=replace(spec.model, name="small-1"), **changed)


def asked(question: Question, **changed: object) -> JudgeSpec:
    """The general judge as it is asked what a benchmark asks."""
    spec = fitted(prompted_judge(general(**changed)), question, FOLDER).spec
    assert spec is not None
    return spec


def test_a_judge_without_labels_takes_labels_question_and_what_is_shown_from_the_benchmark() -> None:
    spec = asked(FRUIT)
    assert (spec.labels, spec.asks, spec.shown) == (FRUIT.labels, "Is it a fruit?", ("colour",))
    assert asked(Question("q", "patch", {"a": "", "b": ""})).asks == DEFAULT_QUESTION


def test_a_judge_keeps_the_meanings_that_it_gives_its_labels() -> None:
    own = {"vegetable": "anything else", "fruit": "sweet"}
    assert asked(FRUIT, labels=own).labels == own


@pytest.mark.parametrize(
    ("labels", "advice"),
    [
        ({"Fruit": "", "Vegetable": ""}, "They differ in letter case alone: spell them in the judge's file"),
        ({"yes": "", "no": ""}, "leave `labels` out of it, or ask the judge benchmark_question"),
        ({"fruit": "", "vegetable": "", "fish": ""}, "leave `labels` out of it"),
    ],
)
def test_a_judge_with_other_labels_is_refused_with_what_to_do(labels: dict[str, str], advice: str) -> None:
    with pytest.raises(UsageError, match=f"other labels: judge .+{advice}"):
        asked(FRUIT, labels=labels)


def test_a_judge_for_other_items_is_refused_and_one_for_any_is_not() -> None:
    with pytest.raises(UsageError, match="is for items of kind patch, benchmark plants has text"):
        asked(FRUIT, kind="patch")
    assert general().kind == "any"


def test_an_example_with_a_label_that_the_benchmark_does_not_know_is_refused() -> None:
    with pytest.raises(UsageError, match="an example with the label 'fish'"):
        asked(FRUIT, examples=(Example({"item": "a carp"}, "fish", "r"),))


def test_where_labels_are_open_each_item_names_its_own() -> None:
    spec = asked(OPEN)
    assert offered(spec.labels, Item("i", "triage", text="t", labels=("Ann", "Bo"))) == {"Ann": "", "Bo": ""}
    with pytest.raises(InputError, match="neither the benchmark nor item 'i' names a label"):
        offered(spec.labels, Item("i", "triage", text="t"))


def test_an_item_may_name_some_of_the_labels_and_no_other() -> None:
    spec = asked(FRUIT)
    assert offered(spec.labels, Item("i", "text", text="t", labels=("fruit",))) == {"fruit": "it has seeds"}
    with pytest.raises(InputError, match="item 'i' names the label 'fish'"):
        offered(spec.labels, Item("i", "text", text="t", labels=("fruit", "fish")))


def test_an_example_whose_label_an_item_may_not_get_is_left_out_for_it() -> None:
    examples = (Example({"item": "a pear"}, "fruit", "r"), Example({"item": "a leek"}, "vegetable", "r"))
    spec = asked(FRUIT, examples=examples)
    (request,) = requests_of(spec, Item("i", "text", text="t", labels=("vegetable",)), None).requests
    text = "\n".join(message.content for message in request.messages)
    assert "a leek" in text
    assert "a pear" not in text


@pytest.mark.parametrize("labels", ["", "labels = []\n"])
def test_a_judge_file_may_leave_its_labels_out_and_be_for_any_kind(tmp_path: Path, labels: str) -> None:
    (tmp_path / "j.toml").write_text(f'name = "j"\nkind = "any"\n{labels}prompt = "judges/benchmark_question"\n')
    spec = read_judge(tmp_path / "j.toml")
    assert (spec.labels, spec.kind) == ({}, "any")


def test_one_label_is_no_choice(tmp_path: Path) -> None:
    (tmp_path / "j.toml").write_text('name = "j"\nkind = "any"\nlabels = ["a"]\nprompt = "judges/benchmark_question"\n')
    with pytest.raises(InputError, match="labels: a label is empty"):
        read_judge(tmp_path / "j.toml")
