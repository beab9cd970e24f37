"""What a server does not take: asked in another form where that asks the same, and said where it does not."""

import asyncio
from typing import Any

import pytest

from misstep_harness.clients.around_client import ParameterFallbackClient
from misstep_harness.clients.parse_response import ParsedAnswer, advice_on, parse_response, rejected_parameter
from misstep_harness.clients.recording import ScriptedClient, text_reply
from misstep_harness.exchange import Failure, Message, Outcome, Reply, Request

QUESTION = Request(
    "small-1", (Message("user", "Is it?"),), temperature=0.0, max_tokens=50, seed=1, schema={"type": "object"}
)
NO_SCHEMA = Failure("bad_request", "no", raw='{"error": {"message": "This response_format type is unavailable now"}}')
RENAMED = Failure(
    "bad_request",
    "no",
    raw='{"error": {"message": "Unsupported parameter: \'max_tokens\' is not supported with this model. '
    'Use \'max_completion_tokens\' instead.", "param": "max_tokens"}}',
)


def asked_of(server: Any, *requests: Request) -> tuple[list[Outcome], list[Request]]:
    sent: list[Request] = []

    def script(request: Request) -> Outcome:
        sent.append(request)
        refusal: Failure | None = server(request)
        return refusal or text_reply("yes", request.model)

    async def run() -> list[Outcome]:
        client = ParameterFallbackClient(ScriptedClient(script))
        return [await client.ask(request) for request in requests]

    return asyncio.run(run()), sent


def test_a_server_that_knows_no_schema_is_asked_without_one_and_never_with_one_again() -> None:
    outcomes, sent = asked_of(lambda request: NO_SCHEMA if request.schema else None, *[QUESTION] * 3)
    assert [isinstance(outcome, Reply) and outcome.unstructured for outcome in outcomes] == [True] * 3
    assert [request.schema is None for request in sent] == [False, True, True, True]


def test_a_limit_that_goes_by_another_name_is_the_same_limit() -> None:
    def server(request: Request) -> Failure | None:
        return NO_SCHEMA if request.schema else RENAMED if request.max_tokens else None

    outcomes, sent = asked_of(server, QUESTION, QUESTION)
    assert all(isinstance(outcome, Reply) for outcome in outcomes)
    assert (len(sent), {request.most_tokens_out() for request in sent}) == (4, {50})
    assert sent[-1].body()["max_completion_tokens"] == 50


@pytest.mark.parametrize(
    "raw",
    [
        '{"error": {"message": "temperature does not support 0.0", "param": "temperature"}}',
        '{"error": {"message": "seed: extra inputs are not permitted"}}',
        '{"error": {"message": "max_tokens or max_completion_tokens is too large: the context length is 40"}}',
        "it does not say why",
    ],
)
def test_what_would_change_the_answers_is_sent_as_it_is(raw: str) -> None:
    outcomes, sent = asked_of(lambda _: Failure("bad_request", "no", raw=raw), QUESTION)
    assert (len(sent), isinstance(outcomes[0], Failure)) == (1, True)


def test_a_server_that_refuses_every_form_is_asked_in_each_once() -> None:
    outcomes, sent = asked_of(lambda request: NO_SCHEMA if request.schema else RENAMED, QUESTION)
    assert (len(sent), outcomes) == (3, [RENAMED])


@pytest.mark.parametrize(
    ("body", "refused", "text"),
    [
        (b'{"error": {"message": "unknown", "param": "seed"}}', "seed", 'omit = ["seed"]'),
        (b'{"error": {"message": "\'temperature\' does not support 0"}}', "temperature", 'omit = ["temperature"]'),
        (b'{"detail": [{"loc": ["body", "max_tokens"], "msg": "extra"}]}', "max_tokens", "max_completion_tokens"),
        (b'{"error": "json_schema is not known here"}', "response_format", "structured = false"),
        (b'{"error": {"message": "the maximum context length is 8192; max_tokens is 1024"}}', None, "budget"),
    ],
)
def test_the_failure_says_what_to_put_into_the_judges_file(body: bytes, refused: str | None, text: str) -> None:
    outcome = parse_response(ParsedAnswer(400, {}, body), "small-1", 0.1)
    assert text in outcome.sentence
    assert rejected_parameter(body.decode()) == refused


def test_no_advice_is_made_up() -> None:
    assert advice_on({"message": "no such model"}) == ""
