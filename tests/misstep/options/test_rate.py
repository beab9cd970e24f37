"""How many requests are in flight, and how many a minute: what the options take."""

import pytest
import typer

from misstep.options.model import ModelOptions, client_settings
from misstep.options.rate import in_flight


def test_the_number_of_requests_in_flight_is_a_number_or_found_out() -> None:
    assert [in_flight(given) for given in ("1", "16", "auto")] == [1, 16, "auto"]


@pytest.mark.parametrize("given", ["0", "-4", "many", "", "4.5", "٤"])
def test_a_number_in_flight_that_is_none_is_refused(given: str) -> None:
    with pytest.raises(typer.BadParameter, match="neither a number from 1 on nor auto"):
        in_flight(given)


def test_limits_a_minute_are_those_of_the_client() -> None:
    settings = client_settings(ModelOptions(rpm=60, tpm=90_000))
    assert (settings.rpm, settings.tpm) == (60, 90_000)
