"""The index of a report's items: what people and judges said, by place, and which items matter most."""

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.page import TIED, JudgedBy, item_index, rank
from misstep_analysis.judging.sample import majority
from misstep_analysis.pages.browser import NONE
from misstep_harness.verdict import Verdict

GOLD = majority(
    [
        GoldLabel("a", "ann", "fruit"),
        GoldLabel("b", "ann", "leaf"),
        GoldLabel("b", "ben", "leaf"),
        GoldLabel("c", "ann", "leaf"),
        GoldLabel("c", "ben", "fruit"),
    ]
)


def judged(name: str, *verdicts: Verdict) -> JudgedBy:
    return JudgedBy(name, {verdict.item: verdict for verdict in verdicts})


STRICT = judged(
    "strict",
    Verdict("a", "strict", "fruit", score=0.9, steps=(2, 4), rationale="It is sweet.", cost_usd=0.01, model="m-1"),
    Verdict("b", "strict", None, "refused", error="will not say", model="m-1"),
)
LENIENT = judged("lenient", Verdict("a", "lenient", "root", model="m-2", cached=True))


def index():
    return item_index(
        ["a", "b", "c"],
        ["fruit", "leaf"],
        GOLD,
        [STRICT, LENIENT],
        excerpts={"a": "an apple"},
        piece_of={"a": "text-0/0"},
        run_of={"b": "run-0"},
        absent={"c": "It did not fit."},
    )


def test_labels_models_and_prompts_are_said_once_and_then_counted():
    result = index()
    assert result["labels"] == ["fruit", "leaf", "root"]
    assert result["models"] == ["m-1", "m-2"]
    assert [run["label"] for run in result["runs"]] == [[0, NONE, NONE], [2, NONE, NONE]]
    assert result["runs"][1]["model"] == [1, NONE, NONE]


def test_a_tie_is_no_gold_label_and_an_item_that_was_not_asked_has_no_status():
    result = index()
    assert result["gold"] == [0, 1, TIED]
    assert result["ratings"] == [[0, 1, 1], [NONE, 1, 0]]
    assert [run["status"] for run in result["runs"]] == [[0, 3, NONE], [0, NONE, NONE]]
    assert result["statuses"][3] == "refused"


def test_what_is_unknown_stays_unknown():
    strict, _ = index()["runs"]
    assert strict["cost_usd"] == [0.01, None, None]
    assert strict["score"] == [0.9, None, None]
    assert strict["steps"] == [(2, 4), (), ()]


def test_parts_are_named_by_place():
    result = index()
    assert (result["piece_of"], result["run_of"]) == (["text-0/0", "", ""], ["", "run-0", ""])
    assert result["absent"] == {2: "It did not fit."}


def test_wrong_answers_matter_more_than_missing_ones_and_both_more_than_right_ones():
    assert rank("a", GOLD, [STRICT]) == 0
    assert rank("a", GOLD, [STRICT, LENIENT]) == 3
    assert rank("b", GOLD, [STRICT]) == 2
    assert rank("c", GOLD, [judged("x", Verdict("c", "x", "leaf"))]) == 1


def test_long_reasons_are_cut_where_there_are_many_and_say_by_how_much():
    many = {f"i{n}": Verdict(f"i{n}", "j", "fruit", rationale="word " * 1_000) for n in range(10_000)}
    result = item_index(list(many), [], GOLD, [JudgedBy("j", many)], excerpts={}, piece_of={}, run_of={}, absent={})
    assert len(result["runs"][0]["rationale"][0]) < 1_000
    assert result["runs"][0]["rationale"][0].endswith("more characters]")
