"""What a client is opened with."""

from pathlib import Path

from msgspec import Struct


class ClientSettings(Struct, frozen=True):
    """Everything that decides how answers are got; the API key is not among it.

    Parameters
    ----------
    client
        A name of `CLIENTS`, or a dotted path `package.module:function` that takes these settings.
    base_url
        Where the server is; `None` takes `OPENAI_BASE_URL`, else OpenAI's own address.
    base_url_named
        Whether the person named that address; the key goes to no other.
    in_flight
        How many requests are with the server at once, at most; `None` sets no limit of its own.
    attempts
        How often a request is sent at most.
    attempt_seconds, total_seconds
        How long one attempt may take from its first byte to its last, and all of them with the waiting between them.
    failures_to_stop
        How many failures in a row say that asking on is useless.
    cache
        The file of the cache; `None` keeps nothing.
    prices
        A price file that is looked at before Misstep's own.
    max_cost_usd
        What may be spent at most.
    spent_usd
        What an earlier part of the same run has spent of it.
    ledger
        A file that keeps what is spent from one attempt at a run to the next.
    record
        A file to which every exchange is added.
    replay
        A file of recorded exchanges, for the client `replay`.
    script
        The dotted path of a function from request to reply text or outcome, for the client `scripted`.
    seed
        Of the jitter between attempts.
    """

    client: str = "openai"
    base_url: str | None = None
    base_url_named: bool = True
    in_flight: int | None = None
    attempts: int = 6
    attempt_seconds: float = 120.0
    total_seconds: float = 600.0
    failures_to_stop: int = 10
    cache: Path | None = None
    prices: Path | None = None
    max_cost_usd: float | None = None
    spent_usd: float = 0.0
    ledger: Path | None = None
    record: Path | None = None
    replay: Path | None = None
    script: str | None = None
    seed: int = 0
