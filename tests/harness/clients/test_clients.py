"""What is asked, what it costs, who answers: keys, prices, recordings, the circuit, and how a client is opened."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.clients import ClientSettings, open_client
from misstep_harness.clients.around_client import CircuitBreakerClient
from misstep_harness.clients.openai_client import OpenAIClient, proxy_to
from misstep_harness.clients.recording import RecordingClient, ReplayClient, ScriptedClient, text_reply
from misstep_harness.errors import CannotWrite, InputError, MissingPrerequisite, UsageError
from misstep_harness.exchange import Client, Failure, FailureKind, Message, Outcome, Reply, Request
from misstep_harness.usage import Price, known_prices, read_prices
from tests.harness.clients.faulty_server import answer, completion, serving
from tests.misstep.as_a_user import files_end_at

QUESTION = Request("gpt-4o-mini", (Message("user", "Is it solved?"),), max_tokens=50)


def ask(client: Client, *requests: Request) -> list[Outcome]:
    async def run() -> list[Outcome]:
        try:
            return [await client.ask(request) for request in requests]
        finally:
            await client.close()

    return asyncio.run(run())


requests = st.builds(
    Request,
    model=st.text(st.characters(codec="utf-8"), max_size=5),
    messages=st.lists(
        st.builds(Message, st.sampled_from(["system", "user", "assistant"]), st.text(max_size=5)), max_size=3
    ).map(tuple),
    temperature=st.none() | st.floats(0, 2),
    max_tokens=st.none() | st.integers(1, 100),
    seed=st.none() | st.integers(0, 9),
    logprobs=st.booleans(),
    sample=st.integers(0, 3),
)


@given(requests, requests)
def test_keys_are_equal_exactly_when_body_and_sample_are(one: Request, other: Request) -> None:
    same = (one.body(), one.sample) == (other.body(), other.sample)
    assert (one.key() == other.key(), json.loads(one.content())) == (same, one.body())


def test_a_key_is_the_same_tomorrow() -> None:
    """Caches and recordings are kept under it: changing it makes them all worthless."""
    schema = {"type": "object", "properties": {"label": {"enum": ["yes", "no"]}}}
    request = Request("small-1", (Message("user", "ä"),), temperature=0, seed=7, schema=schema, sample=2)
    assert request.key() == "01a62ef5b068772eea02401796f496cd9949a6ae61d4388f71bc6294c8722816"


@pytest.mark.parametrize("field", ["n", "stream", "messages", "max_tokens"])
def test_further_fields_cannot_change_what_a_request_is(field: str) -> None:
    with pytest.raises(ValueError, match=field):
        Request("m", (), extra={field: 2})


def test_a_cost_follows_from_the_price_of_the_model_that_was_asked() -> None:
    used = Reply("yes", None, "stop", "whatever", 1_000_000, 100_000, 1.0, None)
    prices = known_prices()
    assert prices.priced(used, "gpt-4o-mini-2024-07-18").cost_usd == pytest.approx(0.15 + 0.06)
    assert prices.priced(used, "gpt-4o-mini", batch=True).cost_usd == pytest.approx((0.15 + 0.06) / 2)
    assert prices.priced(used, "gpt-4o-mini-audio-preview").cost_usd is None
    assert prices.priced(msgspec.structs.replace(used, input_tokens=None), "gpt-4o-mini").cost_usd is None


def test_a_users_own_prices_come_first(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(
        'checked = 2026-01-31\nsource = "ours"\n[[price]]\nmodels = ["gpt-4o*"]\ninput_usd = 1.0\noutput_usd = 2.0\n'
    )
    price = known_prices(file).of("gpt-4o-mini")
    assert price.cost(1_000_000, 1_000_000) == 3.0
    assert known_prices(file, Price(("*",), 5.0, 6.0)).of("gpt-4o-mini") == Price(("*",), 5.0, 6.0)


@pytest.mark.parametrize(
    "text",
    [
        "models = 3",
        "no toml",
        'checked = 2026-01-31\nsource = ""\nprice = [{models = [], input_usd = -1, output_usd = 1}]',
    ],
)
def test_a_file_that_is_no_price_file_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=r"prices\.toml:\d+: .*`misstep help prices`"):
        read_prices(file)


def test_what_was_recorded_is_replayed_without_asking(tmp_path: Path) -> None:
    outcomes: dict[str, Outcome] = {"a": text_reply("yes", "m"), "b": Failure("server", "down", attempts=3)}
    asked = [Request("m", (Message("user", text),)) for text in outcomes]
    file = tmp_path / "recording.jsonl"
    recorded = ask(RecordingClient(ScriptedClient(lambda request: outcomes[request.messages[0].content]), file), *asked)
    with file.open("ab") as stream:
        stream.write(b'{"key": "half')
    assert ask(ReplayClient(file), *asked) == recorded == list(outcomes.values())
    ask(RecordingClient(ScriptedClient(lambda _: "no"), file), asked[1])
    assert ask(ReplayClient(file), asked[1]) == [text_reply("no", "m")]


def test_a_recording_without_room_keeps_what_it_has(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    ask(RecordingClient(ScriptedClient(lambda _: text_reply("yes", "m")), file), QUESTION)
    with files_end_at(file.stat().st_size + 10), pytest.raises(CannotWrite, match=r"recording\.jsonl: cannot write"):
        ask(RecordingClient(ScriptedClient(lambda _: text_reply("no", "m")), file), QUESTION)
    assert ask(ReplayClient(file), QUESTION) == [text_reply("yes", "m")]


def test_a_replay_names_the_prompt_that_was_not_recorded(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    file.touch()
    with pytest.raises(MissingPrerequisite, match="Is it solved"):
        ask(ReplayClient(file), QUESTION)


@pytest.mark.parametrize("kind", ["connection", "server", "timeout", "unauthorised", "rate_limited", "bad_request"])
def test_the_circuit_opens_when_every_call_fails(kind: FailureKind) -> None:
    model = ScriptedClient(lambda _: Failure(kind, "it is gone"))
    outcomes = ask(CircuitBreakerClient(model, failures_to_stop=3), *[QUESTION] * 5)
    assert [outcome.kind for outcome in outcomes if isinstance(outcome, Failure)] == [kind] * 3 + ["circuit_open"] * 2
    assert model.n_requests == 3
    assert "it is gone" in outcomes[-1].sentence  # type: ignore[union-attr]


def test_one_answer_in_between_keeps_the_circuit_closed() -> None:
    turns = iter([Failure("server", "down"), Failure("server", "down"), "yes"] * 4)
    outcomes = ask(CircuitBreakerClient(ScriptedClient(lambda _: next(turns)), failures_to_stop=3), *[QUESTION] * 12)
    assert sum(isinstance(outcome, Reply) for outcome in outcomes) == 4


def test_requests_that_a_working_server_does_not_take_do_not_open_it() -> None:
    """A hundred trajectories in a row may be too long for a model that is there."""
    turns = iter(["yes", *[Failure("bad_request", "too long")] * 9, "yes"])
    outcomes = ask(CircuitBreakerClient(ScriptedClient(lambda _: next(turns)), failures_to_stop=3), *[QUESTION] * 11)
    assert isinstance(outcomes[-1], Reply)


def test_the_environment_names_the_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))

    async def head(base_url: str, *, by_proxy: bool) -> str:
        async with serving(answer(completion())) as server:
            if by_proxy:
                monkeypatch.setenv("all_proxy", server.base_url.removesuffix("/v1").replace("//", "//me:w%20d@"))
            client = OpenAIClient(base_url or server.base_url, "sk-0123456789")
            await client.ask(QUESTION)
            await client.close()
            assert server.received == [QUESTION.body()]
            return server.heads[0]

    direct = asyncio.run(head("", by_proxy=False))
    assert direct.startswith("POST /v1/chat/completions ")
    assert "bearer sk-0123456789" in direct.lower()
    by_proxy = asyncio.run(head("http://models.invalid/v1", by_proxy=True))
    assert by_proxy.startswith("POST http://models.invalid/v1/chat/completions ")
    assert "bearer sk-0123456789" in by_proxy.lower()
    assert "proxy-authorization: basic bwu6dybk" in by_proxy.lower()
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert proxy_to("http", "127.0.0.1") == (None, {})
    monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:1")
    with pytest.raises(UsageError, match="socks5 proxy"):
        proxy_to("http", "models.invalid")


def _shout(request: Request) -> str:
    return request.messages[0].content.upper()


@pytest.mark.parametrize(
    "settings",
    [
        ClientSettings(client="nobody"),
        ClientSettings(client="scripted"),
        ClientSettings(client="replay"),
        ClientSettings(client="scripted", script="tests.harness.clients.test_clients:_shout", attempts=0),
        ClientSettings(client="scripted", script="tests.harness.clients.test_clients:_shout", max_cost_usd=-1.0),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: ClientSettings) -> None:
    with pytest.raises(UsageError):
        open_client(settings)


def test_nothing_heavy_is_imported_before_a_client_is_opened() -> None:
    heavy = {"openai", "aiohttp", "httpx2", "sqlite3"}
    code = f"import sys, misstep_harness.clients; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
