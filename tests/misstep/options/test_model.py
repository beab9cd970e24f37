"""Options of the commands that ask a model become the settings of its client."""

import pytest

from misstep.options.model import ModelOptions, client_settings
from misstep_harness.errors import UsageError
from misstep_harness.prices import Price


def test_two_prices_are_the_price_of_whatever_model_is_asked() -> None:
    assert client_settings(ModelOptions(price_in=1.0, price_out=4.0)).price == Price(("*",), 1.0, 4.0)
    assert client_settings(ModelOptions()).price is None


@pytest.mark.parametrize(("value", "lacking"), [("in", "out"), ("out", "in")])
def test_one_price_alone_is_refused(value: str, lacking: str) -> None:
    options = ModelOptions(price_in=1.0) if value == "in" else ModelOptions(price_out=1.0)
    with pytest.raises(UsageError, match=f"--price-{value} is given alone.*--price-{lacking}"):
        client_settings(options)


def test_a_server_on_this_machine_is_asked_less_at_once() -> None:
    here, elsewhere = (ModelOptions(base_url=f"http://{host}/v1") for host in ("127.0.0.1:8000", "models.example"))
    assert (here.in_flight, elsewhere.in_flight, ModelOptions().in_flight) == (4, 16, 16)
    assert ModelOptions(base_url="http://127.0.0.1:8000/v1", concurrency=1).in_flight == 1


def test_limits_a_minute_are_those_of_the_client() -> None:
    settings = client_settings(ModelOptions(rpm=60, tpm=90_000))
    assert (settings.rpm, settings.tpm) == (60, 90_000)


def test_a_slow_server_is_given_longer_and_its_retries_five_times_that() -> None:
    settings = client_settings(ModelOptions(request_seconds=300.0))
    assert (settings.attempt_seconds, settings.total_seconds) == (300.0, 1500.0)
    assert client_settings(ModelOptions()) == client_settings(ModelOptions(request_seconds=120.0))
