"""What tokens cost.

A price file is a TOML of

checked = 2026-01-31
source = "the price page of the model's maker"

[[price]]
models = ["small-1", "small-1-20*"]     # shell patterns; the first price with one that fits counts
input_usd = 0.15                        # per million tokens
output_usd = 0.60
batch_share = 0.5                       # what a batch costs of that; 1 where it is not said
"""

from datetime import date
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from harness.errors import InputError
from harness.exchange import Reply
from harness.forms import toml_form
from harness.places import data_folder

_PER = 1_000_000
_FORM = (
    'A price file: checked = 2026-01-31, source = "the price page", and then for each price [[price]], '
    'models = ["small-1*"], input_usd = 0.15, output_usd = 0.60 (US dollars per million tokens) and, where a batch '
    "costs less, batch_share = 0.5."
)


class Price(Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars per million tokens, for the models that fit one of the patterns."""

    models: tuple[str, ...]
    input_usd: float
    output_usd: float
    batch_share: float = 1.0

    def __post_init__(self) -> None:
        if not (
            0 <= self.input_usd < float("inf") and 0 <= self.output_usd < float("inf") and 0 < self.batch_share <= 1
        ):
            raise ValueError("a price is a number of at least 0, `batch_share` one above 0 and up to 1")

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """US dollars for so many tokens; a server's discount for repeated beginnings is left out."""
        return (input_tokens * self.input_usd + output_tokens * self.output_usd) / _PER


class PriceFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of a price file; the README names each."""

    checked: date
    source: str
    price: tuple[Price, ...]


class Prices(Struct, frozen=True):
    """The prices that are known, in the order in which they are looked through."""

    known: tuple[Price, ...] = ()

    def of(self, model: str) -> Price | None:
        """The price of a model; `None` where none is known."""
        fits = (price for price in self.known if any(fnmatchcase(model, pattern) for pattern in price.models))
        return next(fits, None)

    def priced(self, reply: Reply, model: str, *, batch: bool = False) -> Reply:
        """The reply with its cost, where the price of the model that was asked and both token counts are known."""
        price = self.of(model)
        if price is None or reply.input_tokens is None or reply.output_tokens is None:
            return reply
        share = price.batch_share if batch else 1.0
        return replace(reply, cost_usd=share * price.cost(reply.input_tokens, reply.output_tokens))


def read_prices(file: Path) -> Prices:
    """The prices of one file.

    Raises
    ------
    InputError
        The file cannot be read or is no price file.
    """
    try:
        written = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", "Name a price file.", file=file) from error
    return Prices(toml_form(written, PriceFile, file, _FORM).price)


def known_prices(own: Path | None = None, price: Price | None = None) -> Prices:
    """The price that is given, then those of a user's own file, then those that come with Misstep."""
    return Prices((*([price] if price else []), *(read_prices(own).known if own else ()), *_shipped().known))


@cache
def _shipped() -> Prices:
    return read_prices(data_folder() / "prices.toml")
