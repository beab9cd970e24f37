"""Endpoints for decisions: what is sent in either form, and what comes back, however odd it is."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from misstep_harness.clients import ClientSettings, open_client
from misstep_harness.clients.batches import request_lines
from misstep_harness.errors import UsageError
from misstep_harness.exchange import DecisionApi, DecisionQuestion, Failure, Message, Outcome, Reply, Request
from misstep_harness.judges.prompted import read_decision
from tests.harness.clients.faulty_server import Play, answer, serving

NAMES = {"yes": "yes", "no": "no"}
USAGE = {"input_tokens": 90, "output_tokens": 0}


def _request(api: DecisionApi) -> Request:
    options = {"yes": "it holds", "no": ""}
    messages = (Message("system", "Does it hold?"), Message("user", "The text."))
    return Request("m-1", messages, temperature=0.0, decision=DecisionQuestion(api, options))


def _ask(api: DecisionApi, play: Play) -> tuple[Outcome, list[dict[str, Any]]]:
    async def run() -> tuple[Outcome, list[dict[str, Any]]]:
        async with serving(play) as server:
            client = open_client(ClientSettings(base_url=server.base_url, attempts=1))
            outcome = await client.ask(_request(api))
            await client.close()
            return outcome, server.received

    return asyncio.run(run())


def _decision(given: Any, choice: Any = "yes", **more: Any) -> dict[str, Any]:
    listed = [{"value": name, "probability": one} for name, one in given.items()]
    return {
        "model": "m-1",
        "usage": USAGE,
        "answers": [{"type": "choice", "name": "label", "choice": choice, "probabilities": listed} | more],
    }


def _systemone(probabilities: Any, choice: Any = "yes") -> dict[str, Any]:
    one = {"type": "choice", "choice": choice, "confidence": 0.5, "probabilities": probabilities}
    return {"model": "m-1", "usage": USAGE, "answers": {"label": one}}


def test_the_question_its_options_and_the_text_are_sent_in_the_form_of_the_endpoint() -> None:
    _, (sent,) = _ask("decisions", answer(_decision({"yes": 0.8, "no": 0.2})))
    assert sent == {
        "model": "m-1",
        "input": "The text.",
        "questions": [
            {
                "type": "choice",
                "name": "label",
                "instructions": "Does it hold?",
                "choices": [{"value": "yes", "description": "it holds"}, {"value": "no"}],
            }
        ],
    }
    _, (sent,) = _ask("systemone", answer(_systemone({"yes": 0.8, "no": 0.2})))
    question = {"type": "choice", "instructions": "Does it hold?", "criteria": {"yes": "it holds", "no": None}}
    assert sent == {"model": "m-1", "state": "The text.", "questions": {"label": question}}


@pytest.mark.parametrize(
    ("api", "body"),
    [("decisions", _decision({"yes": 0.8, "no": 0.2})), ("systemone", _systemone({"yes": 0.8, "no": 0.2}))],
)
def test_both_forms_give_label_probability_and_tokens(api: DecisionApi, body: dict[str, Any]) -> None:
    outcome, _ = _ask(api, answer(body))
    assert (outcome.input_tokens, outcome.output_tokens) == (90, 0)
    given = read_decision(outcome, NAMES)
    assert (given.label, given.score, given.rationale) == ("yes", 0.8, "yes 0.800, no 0.200")


SURE = {"yes": 1, "no": 0}


def _odd_number(value: str) -> bytes:
    return json.dumps(_systemone({"yes": 0.25, "no": 0.75})).replace("0.25", value).encode()


ODD: Mapping[str, tuple[DecisionApi, Any, str, str]] = {
    "add up to too little": ("decisions", _decision({"yes": 0.5, "no": 0.2}), "unreadable", "add up to 0.7"),
    "add up to too much": ("systemone", _systemone({"yes": 0.9, "no": 0.9}), "unreadable", "add up to 1.8"),
    "all zero": ("decisions", _decision({"yes": 0.0, "no": 0.0}), "unreadable", "add up to 0"),
    "a missing option": ("decisions", _decision({"yes": 1.0}), "unreadable", "no probability of 'no'"),
    "a missing option in a table": ("systemone", _systemone({"no": 1.0}, "no"), "unreadable", "of 'yes'"),
    "an option not offered": ("decisions", _decision({"yes": 0.5, "maybe": 0.5}), "unreadable", "not offered"),
    "an option of no name": ("systemone", _systemone({"": 1.0}), "unreadable", "not offered"),
    "an option twice": ("systemone", _systemone({"yes": 0.5, "YES": 0.5}), "unreadable", "two probabilities"),
    "a list of nothing": ("decisions", _decision({}), "unreadable", "no probability"),
    "no list": ("decisions", _decision(SURE, probabilities=None), "unreadable", "no probability"),
    "a text as a list": ("decisions", _decision(SURE, probabilities="1"), "unreadable", "no probability"),
    "not a number": ("systemone", _odd_number("NaN"), "unreadable", "not a number from 0 to 1"),
    "infinite": ("systemone", _odd_number("Infinity"), "unreadable", "not a number from 0 to 1"),
    "negative": ("systemone", _odd_number("-0.25"), "unreadable", "not a number from 0 to 1"),
    "above one": ("systemone", _odd_number("1.25"), "unreadable", "not a number from 0 to 1"),
    "a text for a number": ("systemone", _odd_number('"0.25"'), "unreadable", "not a number from 0 to 1"),
    "true for a number": ("systemone", _odd_number("true"), "unreadable", "not a number from 0 to 1"),
    "null for a number": ("systemone", _odd_number("null"), "unreadable", "not a number from 0 to 1"),
    "a choice that is not the likeliest": ("decisions", _decision({"yes": 0.2, "no": 0.8}), "unreadable", "likeliest"),
    "a tie": ("decisions", _decision({"yes": 0.5, "no": 0.5}), "abstained", "a tie"),
    "a refusal": ("decisions", _decision({}, type="refusal", refusal="No."), "refused", "refused"),
    "no answer to the question": ("systemone", {"answers": {}}, "unreadable", "unanswered"),
    "an answer of another name": ("decisions", _decision(SURE, name="other"), "unreadable", "unanswered"),
    "two answers": ("decisions", {"answers": _decision(SURE)["answers"] * 2}, "unreadable", "unanswered"),
    "an answer that is a text": ("systemone", {"answers": {"label": "yes"}}, "unreadable", "unanswered"),
    "no answers": ("decisions", {"model": "m-1"}, "malformed", "no list of answers"),
    "a chat completion": ("decisions", {"choices": [{"message": {"content": "yes"}}]}, "malformed", "no list"),
    "not JSON": ("systemone", b"<html>", "malformed", "not JSON"),
    "a list": ("systemone", b"[]", "malformed", "no list of answers"),
    "nothing": ("decisions", b"", "malformed", "not JSON"),
    "JSON that is cut off": ("decisions", json.dumps(_decision(SURE)).encode()[:-9], "malformed", "not JSON"),
    "an error under status 200": ("systemone", {"error": {"message": "no"}}, "malformed", "no list of answers"),
    "a number as answers": ("decisions", {"answers": 1}, "malformed", "no list of answers"),
    "answers without a question": ("decisions", {"answers": []}, "unreadable", "unanswered"),
    "probabilities of nothing but names": ("systemone", _systemone(["yes", "no"]), "unreadable", "no probability"),
    "no choice is no fault, but half the mass is": (
        "systemone",
        _systemone({"yes": 0.5, "no": 0.0}, None),
        "unreadable",
        "0.5",
    ),
}


@pytest.mark.parametrize(("api", "body", "status", "error"), ODD.values(), ids=ODD)
def test_bad_probabilities_give_no_label(api: DecisionApi, body: Any, status: str, error: str) -> None:
    outcome, _ = _ask(api, answer(body))
    if isinstance(outcome, Failure):
        assert (outcome.kind, error in outcome.sentence) == (status, True)
        return
    given = read_decision(outcome, NAMES)
    assert (given.label, given.status) == (None, status)
    assert error in (given.error or "")


def test_a_server_that_knows_chat_alone_names_the_key_to_change() -> None:
    outcome, _ = _ask("decisions", answer({"error": {"message": "Not Found"}}, 404))
    assert "the server has no /decisions (status 404)" in outcome.sentence
    assert '`api = "chat"`' in outcome.sentence
    unknown, _ = _ask("decisions", answer({"error": {"message": "the model m-1 does not exist"}}, 404))
    assert "m-1" in unknown.sentence
    assert "api" not in unknown.sentence


@pytest.mark.parametrize("status", [405, 501])
def test_other_words_for_an_unknown_address_name_the_key_too(status: int) -> None:
    outcome, _ = _ask("systemone", answer(b"<html>", status, "text/html"))
    assert isinstance(outcome, Failure)
    assert outcome.kind == "bad_request"
    assert f"no /systemone (status {status})" in outcome.sentence


def test_the_type_of_the_content_is_not_asked_for_but_what_it_is() -> None:
    outcome, _ = _ask("decisions", answer(_decision(SURE), kind="text/plain"))
    assert read_decision(outcome, NAMES).label == "yes"


def test_small_errors_of_rounding_are_taken_out() -> None:
    outcome, _ = _ask("decisions", answer(_decision({"yes": 0.66, "no": 0.33})))
    assert isinstance(outcome, Reply)
    assert read_decision(outcome, NAMES).score == pytest.approx(2 / 3)


def test_the_batch_api_takes_log_probabilities_and_no_decision() -> None:
    chat = Request("m-1", (Message("user", "The text."),), logprobs=True, top_logprobs=20)
    [(_, line)] = request_lines([chat])
    assert json.loads(line)["body"]["top_logprobs"] == 20
    with pytest.raises(UsageError, match="chat completions alone"):
        list(request_lines([_request("decisions")]))
