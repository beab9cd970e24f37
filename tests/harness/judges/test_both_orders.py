"""A judge of pairs sees both orders; its answers are by the outputs' own names, and only agreement is a label."""

import asyncio

import pytest

from misstep_harness.items import Item
from misstep_harness.judges.both_orders import in_orders, turned
from misstep_harness.judges.python_judge import PythonJudge
from misstep_harness.verdict import Orders, PairVerdict, Verdict
from tests.harness.agent.folders import NoModel

PAIR = Item("p", "pair", output_a="long one", output_b="short", extra={"system_a": "x", "system_b": "y", "n_a": 1})


class Compares:
    """Prefers an output by a rule on both."""

    name = "compares"
    kind = "pair"
    labels = ("a", "b", "tie")

    def __init__(self, rule) -> None:
        self.rule = rule

    async def judge(self, item, trajectory, ask) -> Verdict:  # noqa: ARG002
        label = self.rule(item.output_a, item.output_b)
        return Verdict(item.id, self.name, label, score=0.5, input_tokens=3)


def asked(rule, orders: Orders = "both", item: Item = PAIR) -> PairVerdict:
    return asyncio.run(in_orders(PythonJudge(Compares(rule), ""), item, None, NoModel(), orders))


def longer(a: str, b: str) -> str:
    return "a" if len(a) > len(b) else "b"


def test_a_judge_of_the_outputs_gives_one_label_in_both_orders() -> None:
    verdict = asked(longer)
    assert (verdict.label, verdict.status, verdict.score, verdict.input_tokens) == ("a", "answered", 0.5, 6)
    assert [(one.first, one.label, one.place) for one in verdict.orders] == [("a", "a", "first"), ("b", "a", "second")]
    assert not verdict.undecided


@pytest.mark.parametrize("rule", [lambda *_: "a", lambda *_: "b", lambda a, _: "tie" if a == "short" else "a"])
def test_answers_that_differ_are_no_label(rule) -> None:
    verdict = asked(rule)
    assert (verdict.label, verdict.status, verdict.score, verdict.undecided) == (None, "abstained", None, True)
    assert verdict.error.startswith("undecided: it says ")


def test_ties_in_both_orders_are_a_tie() -> None:
    assert asked(lambda *_: "tie").label == "tie"


def test_an_error_in_one_order_leaves_the_pair_without_a_label() -> None:
    verdict = asked(lambda a, _: 1 / 0 if a == "short" else "a")
    assert (verdict.label, verdict.status, verdict.undecided) == (None, "failed", False)
    assert [one.label for one in verdict.orders] == ["a", None]


def test_random_orders_depend_on_the_id_alone_and_halve_the_pairs() -> None:
    items = [Item(str(number), "pair", output_a="x", output_b="y") for number in range(400)]
    firsts = [asked(longer, "random", item).orders for item in items]
    assert firsts == [asked(longer, "random", item).orders for item in items]
    assert 160 < sum(one.first == "a" for (one,) in firsts) < 240


def test_turning_a_pair_turns_all_that_is_said_of_each_output() -> None:
    other = turned(PAIR)
    assert (other.output_a, other.output_b) == ("short", "long one")
    assert other.extra == {"system_a": "y", "system_b": "x", "n_a": 1}
    assert turned(other) == PAIR
