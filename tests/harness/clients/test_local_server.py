"""A real model over real HTTP: a schema is followed, a seed gives the same text, tokens and log-probabilities come."""

import asyncio
import importlib.metadata
import json
import os

import pytest

from misstep_harness.clients import ClientSettings, open_client
from misstep_harness.clients.local_server import local_server, weights
from misstep_harness.errors import MissingPrerequisite
from misstep_harness.exchange import LOCAL_MODEL, Message, Reply, Request

SCHEMA = {
    "type": "object",
    "properties": {"label": {"enum": ["yes", "no"]}, "reasoning": {"type": "string", "maxLength": 12}},
    "required": ["label", "reasoning"],
}


@pytest.fixture(scope="module")
def address() -> object:
    try:
        weights()
    except MissingPrerequisite as error:
        if os.environ.get("CI"):
            pytest.fail(f"CI must ask the local model: {error}")
        pytest.skip(str(error))
    with local_server() as base_url:
        yield base_url


@pytest.mark.local_llm
def test_a_real_model_follows_schema_and_seed(address: str) -> None:
    message = Message("user", "Does 2 + 2 make 4? Answer as JSON with label (yes or no) and a short reasoning.")
    question = Request(LOCAL_MODEL, (message,), temperature=1.0, max_tokens=60, seed=7, schema=SCHEMA, logprobs=True)

    async def run() -> list[Reply]:
        client = open_client(ClientSettings(base_url=address))
        outcomes = [await client.ask(question) for _ in range(2)]
        await client.close()
        return [outcome for outcome in outcomes if isinstance(outcome, Reply)]

    first, again = asyncio.run(run())
    assert first.text is not None
    assert json.loads(first.text)["label"] in ("yes", "no")
    assert (again.text, first.model) == (first.text, LOCAL_MODEL)
    assert first.input_tokens
    assert first.cost_usd == 0


def test_without_the_model_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_there(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "files", not_there)
    with pytest.raises(MissingPrerequisite, match="make local-llm"), local_server():
        pass
