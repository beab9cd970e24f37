"""Clients: they get an answer from a server, a cache, a recording or a script. Nothing here knows what a judge is."""

import math
import os
import random
from collections.abc import Callable

from misstep_harness.clients.settings import ClientSettings
from misstep_harness.errors import UsageError
from misstep_harness.exchange import Client
from misstep_harness.registry import Registry
from misstep_harness.usage import known_prices

CLIENTS: Registry[Callable[[ClientSettings], Client]] = Registry(
    "misstep.clients",
    {
        "openai": "misstep_harness.clients.openai_client:open_openai",
        "replay": "misstep_harness.clients.recording:open_replay",
        "scripted": "misstep_harness.clients.recording:open_scripted",
    },
)


def open_client(settings: ClientSettings) -> Client:
    """The client that the settings describe. A request goes through the cache, the circuit breaker and the retries.

    The cost limit counts every retry, since each attempt may be charged. A request counts as in flight while it
    waits between attempts, until its outcome is known.
    """
    # Settings are named by every run, also by those that ask no model: these need none of the layers.
    from misstep_harness.clients.around_client import (
        CircuitBreakerClient,
        ConcurrencyLimitClient,
        ErrorsAsFailuresClient,
        LazyClient,
        ParameterFallbackClient,
    )
    from misstep_harness.clients.cache import Cache, CachedClient
    from misstep_harness.clients.cost_limit import CostLimitClient, SpendingLog
    from misstep_harness.clients.recording import RecordingClient
    from misstep_harness.clients.retry import RequestPace, RetryingClient, RetryLimits
    from misstep_harness.redaction import KEY, Redaction, secrets

    in_flight = 1 if settings.in_flight is None else settings.in_flight
    rates = (settings.rpm or 1, settings.tpm or 1)
    if min(settings.attempts, in_flight) < 1 or min(*rates, settings.attempt_seconds, settings.total_seconds) <= 0:
        raise UsageError("a limit on attempts, time or requests in flight is not above 0", "Give limits above 0.")
    if settings.max_cost_usd is not None and not settings.max_cost_usd >= 0:
        raise UsageError(f"the cost limit ${settings.max_cost_usd} is not an amount", "Give a number of US dollars.")
    client: Client = _opened(settings) if settings.cache is None else LazyClient(lambda: _opened(settings))
    if settings.max_cost_usd is not None:
        prices = known_prices(settings.prices, settings.price)
        spending_log = SpendingLog(settings.spending_log)
        limit, spent = settings.max_cost_usd, settings.spent_usd
        client = CostLimitClient(client, prices, limit, spent, spending_log)
    client = ErrorsAsFailuresClient(ParameterFallbackClient(client), Redaction(os.environ.get(KEY, ""), secrets()))
    # A recording has the outcome of the last attempt; a retry would give the same.
    attempts = 1 if settings.client == "replay" else settings.attempts
    limits = RetryLimits(attempts, settings.attempt_seconds, settings.total_seconds)
    rng = random.Random(settings.seed)  # noqa: S311 (jitter is not a secret)
    client = RetryingClient(client, limits, rng, RequestPace(settings.rpm or math.inf, settings.tpm or math.inf))
    client = CircuitBreakerClient(client, settings.failures_to_stop)
    if settings.in_flight is not None:
        client = ConcurrencyLimitClient(client, settings.in_flight)
    # The cache is opened first: a recording is left open by nobody.
    cache = None if settings.cache is None else Cache(settings.cache)
    if settings.record is not None:
        client = RecordingClient(client, settings.record)
    return client if cache is None else CachedClient(client, cache)


def _opened(settings: ClientSettings) -> Client:
    return CLIENTS.load(settings.client)(settings)


__all__ = ["CLIENTS", "ClientSettings", "open_client"]
