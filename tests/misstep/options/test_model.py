"""Options of the commands that ask a model become the settings of its client."""

import pytest

from misstep.harness.clients.prices import Price
from misstep.harness.errors import UsageError
from misstep.options.model import ModelOptions, client_settings


def test_two_prices_are_the_price_of_whatever_model_is_asked() -> None:
    assert client_settings(ModelOptions(price_in=1.0, price_out=4.0)).price == Price(("*",), 1.0, 4.0)
    assert client_settings(ModelOptions()).price is None


@pytest.mark.parametrize(("given", "lacking"), [("in", "out"), ("out", "in")])
def test_one_price_alone_is_refused(given: str, lacking: str) -> None:
    options = ModelOptions(price_in=1.0) if given == "in" else ModelOptions(price_out=1.0)
    with pytest.raises(UsageError, match=f"--price-{given} is given alone.*--price-{lacking}"):
        client_settings(options)
