"""The probabilities of a label's first token: normalised over the labels, and refused where tokens cannot tell them."""

import json
import math

import pytest

from misstep_harness.clients.parse_response import ParsedAnswer, parse_response
from misstep_harness.exchange import Reply
from misstep_harness.judges.prompted import read_first_token
from tests.harness.clients.faulty_server import completion


def _reply(tokens: dict[str, float], text: str = "yes") -> Reply:
    first = tuple((token, math.log(one)) for token, one in tokens.items())
    return Reply(text, None, "stop", "m", 9, 1, 0.1, None, first_tokens=first)


def test_mass_is_normalised_over_the_labels_and_the_rest_is_told() -> None:
    given = read_first_token(_reply({"yes": 0.5, " Yes": 0.1, "no": 0.2, "The": 0.2}), {"yes": "bad", "no": "good"})
    assert (given.label, given.status) == ("bad", "answered")
    assert given.score == pytest.approx(0.6 / 0.8)
    assert given.rationale == "bad 0.750, good 0.250; 0.200 on other tokens"


def test_a_label_of_several_tokens_is_known_by_its_first() -> None:
    assert read_first_token(_reply({"un": 0.7, "re": 0.3}), {"unsolved": "u", "recovered": "r"}).label == "u"


@pytest.mark.parametrize(
    ("tokens", "status", "error"),
    [
        ({"f": 0.9, "p": 0.1}, "unreadable", "several labels begin with the token 'f'"),
        ({"The": 0.6, "I": 0.4}, "unreadable", "no label begins with a likely token: 'The', 'I'"),
        ({"fail": 0.5, "pass": 0.5}, "unreadable", "several labels begin"),
        ({}, "unreadable", "the server sent no log-probabilities"),
        ({"pass": 3.0}, "unreadable", "above 0"),
    ],
)
def test_tokens_that_do_not_tell_labels_apart_give_none(tokens: dict[str, float], status: str, error: str) -> None:
    given = read_first_token(_reply(tokens), {"fail": "fail", "failed late": "failed late", "pass": "pass"})
    assert (given.label, given.status) == (None, status)
    assert error in (given.error or "")


NAMES = {"yes": "bad", "no": "good"}


@pytest.mark.parametrize(
    ("tokens", "least"),
    [
        ({"yes": 0.90, "Yes": 0.04, "maybe": 0.03}, 0.94 / 0.97),
        ({"yes": 0.60, "The": 0.10}, 0.60 / 0.90),
        ({"yes": 0.999, "Well": 0.0005}, 0.999 / 0.9995),
        ({"yes": 1.0, "Yes": 0.0001}, 1.0001 / 1.0002),
    ],
)
def test_where_the_other_label_is_not_listed_the_score_is_the_least_that_it_can_be(tokens, least) -> None:
    given = read_first_token(_reply(tokens), NAMES)
    assert (given.label, given.status) == ("bad", "answered")
    assert given.score == pytest.approx(least)
    assert given.score < 1
    assert f"'good' not among the {len(tokens)} tokens that the server listed" in (given.error or "")
    assert given.rationale.startswith(f"at least bad {least:.3f}")


@pytest.mark.parametrize(
    ("tokens", "error"),
    [
        ({"yes": 0.4, "The": 0.1}, "'good' not among the 2 tokens that the server listed, which may be the likeliest"),
        ({"yes": 0.4999, "The": 0.0001}, "2 tokens that the server listed"),
        ({"yes": 0.999}, "the server listed one token"),
        ({"yes": 1.0}, "the server listed one token"),
    ],
)
def test_where_the_rest_may_be_of_a_label_that_is_not_listed_there_is_no_answer(tokens, error) -> None:
    given = read_first_token(_reply(tokens), NAMES)
    assert (given.label, given.status, given.score) == (None, "unreadable", None)
    assert error in (given.error or "")


@pytest.mark.parametrize("top", [[], None, [{"token": "yes", "logprob": -0.01}], "none"])
def test_a_server_that_lists_no_alternatives_gives_no_probability(top: object) -> None:
    places = [{"token": "yes", "logprob": -0.01, "top_logprobs": top}]
    body = json.dumps(completion(choice={"logprobs": {"content": places}})).encode()
    outcome = parse_response(ParsedAnswer(200, {}, body), "m", 0.1)
    assert isinstance(outcome, Reply)
    assert read_first_token(outcome, NAMES).status == "unreadable"


def test_one_of_three_labels_that_is_not_listed_shares_the_rest() -> None:
    given = read_first_token(_reply({"agent": 0.6, "task": 0.3}), {"agent": "agent", "task": "task", "infra": "infra"})
    assert (given.label, given.score) == ("agent", pytest.approx(0.6))


def test_a_tie_is_no_answer() -> None:
    assert read_first_token(_reply({"yes": 0.5, "no": 0.5}), {"yes": "yes", "no": "no"}).status == "abstained"


def test_unlikely_tokens_that_several_labels_share_count_as_mass_outside() -> None:
    given = read_first_token(_reply({"none": 0.9, "no": 0.09, "n": 0.005}), {"none": "none", "yes": "yes"})
    assert given.label == "none"


def test_tokens_of_white_space_before_the_answer_are_passed_over() -> None:
    places = [
        {"token": "\n", "logprob": -0.1, "top_logprobs": [{"token": "\n", "logprob": -0.1}]},
        {"token": "yes", "logprob": -0.2, "top_logprobs": [{"token": "no", "logprob": -1.8}, {"token": 7}]},
    ]
    body = json.dumps(completion(choice={"logprobs": {"content": places}})).encode()
    outcome = parse_response(ParsedAnswer(200, {}, body), "m", 0.1)
    assert isinstance(outcome, Reply)
    assert outcome.first_tokens == (("no", -1.8), ("yes", -0.2))
