"""What servers say of their limits, in the header fields that each of them has for it."""

from datetime import UTC, datetime

import pytest

from misstep.harness.clients.parse_response import ParsedAnswer, parse_response
from misstep.harness.clients.rates.header_fields import allowances
from misstep.harness.exchange import Allowance, Rates

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (  # OpenAI
            {
                "x-ratelimit-limit-requests": "60",
                "x-ratelimit-remaining-requests": "59",
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-limit-tokens": "150000",
                "x-ratelimit-remaining-tokens": "149984",
                "x-ratelimit-reset-tokens": "6m0s",
            },
            [
                Allowance("requests", "requests", 59, 60, 1, refills=True),
                Allowance("tokens", "tokens", 149_984, 150_000, 360, refills=True),
            ],
        ),
        (  # OpenAI and Groq
            {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "7.66s"},
            [Allowance("tokens", "tokens", 0, None, 7.66, refills=True)],
        ),
        (
            {"x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "12ms"},
            [Allowance("requests", "requests", 9, None, 0.012, refills=True)],
        ),
        (  # Azure, where it does not know
            {"x-ratelimit-limit-tokens": "-1", "x-ratelimit-remaining-tokens": "-1", "x-ratelimit-reset-tokens": "0"},
            [],
        ),
        (  # the LiteLLM proxy, where the provider says no reset
            {"x-ratelimit-limit-requests": "100", "x-ratelimit-remaining-requests": "3"},
            [Allowance("requests", "requests", 3, 100, None, refills=True)],
        ),
        (  # Anthropic
            {
                "anthropic-ratelimit-requests-limit": "1000",
                "anthropic-ratelimit-requests-remaining": "999",
                "anthropic-ratelimit-requests-reset": "2026-01-31T12:00:02Z",
                "anthropic-ratelimit-input-tokens-limit": "80000",
                "anthropic-ratelimit-input-tokens-remaining": "40000",
                "anthropic-ratelimit-input-tokens-reset": "2026-01-31T12:00:30Z",
            },
            [
                Allowance("requests", "requests", 999, 1000, 2, refills=True),
                Allowance("input-tokens", "tokens", 40_000, 80_000, 30, refills=True),
            ],
        ),
        (  # the IETF's draft 08 and later
            {
                "ratelimit": '"burst";r=3;t=1, "daily";r=900;t=4000',
                "ratelimit-policy": '"burst";q=10;w=1,"daily";q=1000',
            },
            [
                Allowance("ratelimit burst", "requests", 3, 10, 1),
                Allowance("ratelimit daily", "requests", 900, 1000, 4000),
            ],
        ),
        ({"ratelimit": '"bytes";r=3;t=1', "ratelimit-policy": '"bytes";q=10;w=1;qu="content-bytes"'}, []),
        ({"ratelimit": "limit=100, remaining=50, reset=5"}, [Allowance("ratelimit", "requests", 50, 100, 5)]),
        (
            {"ratelimit-limit": "100", "ratelimit-remaining": "50", "ratelimit-reset": "5"},
            [Allowance("ratelimit-remaining", "requests", 50, 100, 5)],
        ),
        (  # OpenRouter, in milliseconds since 1970
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": f"{NOW.timestamp() * 1000 + 2500:.0f}"},
            [Allowance("x-ratelimit-remaining", "requests", 0, None, 2.5)],
        ),
        ({"x-ratelimit-remaining-requests": "many", "ratelimit": ";;=,\x00", "x-ratelimit-reset": "soon"}, []),
        ({"content-type": "application/json"}, []),
    ],
)
def test_each_form_is_read_as_its_source_means_it(fields: dict[str, str], expected: list[Allowance]) -> None:
    result = allowances(fields, NOW)
    assert [(one.unit, one.remaining, one.limit, one.refills) for one in result] == [
        (one.unit, one.remaining, one.limit, one.refills) for one in expected
    ]
    assert [one.seconds for one in result] == [pytest.approx(one.seconds) for one in expected]
    assert [one.name.rpartition(" ")[0] for one in result] == [one.name.rpartition(" ")[0] for one in expected]


def test_a_time_of_reset_is_by_the_servers_own_clock() -> None:
    fields = {"date": "Sat, 31 Jan 2026 12:00:00 GMT", "anthropic-ratelimit-requests-remaining": "0"}
    answer = ParsedAnswer(429, fields | {"anthropic-ratelimit-requests-reset": "2026-01-31T12:00:07Z"}, b"{}")
    rates = parse_response(answer, "small-1", 0.1).rates
    assert [one.seconds for one in rates.allowances] == [7]


@pytest.mark.parametrize(("status", "rates"), [(503, Rates(True)), (529, Rates(True)), (500, None), (429, None)])
def test_only_an_overloaded_server_says_so_by_its_status(status: int, rates: Rates | None) -> None:
    assert parse_response(ParsedAnswer(status, {}, b"{}"), "small-1", 0.1).rates == rates
