"""The settings of a client."""

from pathlib import Path

from msgspec import Struct

from misstep_harness.prices import Price


class ClientSettings(Struct, frozen=True):
    """The settings of a client; the API key is not one of them.

    - `client`: A name of `CLIENTS`, or a dotted path `package.module:function` that takes these settings.
    - `base_url`: The server's address; `None` takes `OPENAI_BASE_URL`, and OpenAI's own address if that is not set.
    - `base_url_named`: Whether the user named that address; the key is sent to no other address.
    - `in_flight`: The highest number of requests in flight; `None` for any number.
    - `rpm`, `tpm`: How many requests, and tokens, may be sent a minute, retries included.
    - `attempts`: The highest number of attempts for one request.
    - `attempt_seconds`, `total_seconds`: The time limit of one attempt from first to last byte, and of all attempts
      together with the waits between them.
    - `failures_to_stop`: The number of failures in a row that opens the circuit and so ends the run.
    - `prices`, `price`: A price file that takes precedence over Misstep's own, and a price that does over both.
    - `spent_usd`: The part of the cost limit that an earlier part of the same run has spent.
    - `spending_log`: A file that keeps the amount spent while the run is unfinished.
    - `script`: The dotted path of a function from request to reply text or outcome, for the client `scripted`.
    """

    client: str = "openai"
    base_url: str | None = None
    base_url_named: bool = True
    in_flight: int | None = None
    rpm: float | None = None
    tpm: float | None = None
    attempts: int = 6
    attempt_seconds: float = 120.0
    total_seconds: float = 600.0
    failures_to_stop: int = 10
    cache: Path | None = None
    prices: Path | None = None
    price: Price | None = None
    max_cost_usd: float | None = None
    spent_usd: float = 0.0
    spending_log: Path | None = None
    record: Path | None = None
    replay: Path | None = None
    script: str | None = None
    seed: int = 0
