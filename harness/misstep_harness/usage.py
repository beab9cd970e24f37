"""What each step of a recorded run cost, as far as the format says."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.errors import opening
from misstep_harness.places import data_folder
from misstep_harness.trajectory import Step, Tokens, ToolCall, Trajectory

if TYPE_CHECKING:
    from misstep_harness.exchange import Reply


_PER = 1_000_000
_FORM = "See `misstep help prices`."


class Price(Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars per million tokens, for the models that fit one of the patterns.

    - `models`: Names or patterns, such as `small-1-20*`.
    - `input_usd`: US dollars per million tokens of requests.
    - `output_usd`: US dollars per million tokens of replies.
    - `batch_share`: The price of a batch as a share of that, above 0 and up to 1.
    - `cached_usd`: US dollars per million tokens that a server has read before.
    - `cache_write_usd`: US dollars per million tokens that a server keeps for later requests, for some minutes.
    - `cache_write_1h_usd`: The same of tokens that it keeps for an hour.
    """

    models: tuple[str, ...]
    input_usd: float
    output_usd: float
    batch_share: float = 1.0
    cached_usd: float | None = None
    cache_write_usd: float | None = None
    cache_write_1h_usd: float | None = None

    def __post_init__(self) -> None:
        kinds = (self.cached_usd, self.cache_write_usd, self.cache_write_1h_usd)
        costs = (self.input_usd, self.output_usd, *(usd or 0.0 for usd in kinds))
        if not (all(0 <= usd < float("inf") for usd in costs) and 0 < self.batch_share <= 1):
            raise ValueError("a price is a number of at least 0, `batch_share` one above 0 and up to 1")

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """US dollars for so many tokens, all at full price."""
        return (input_tokens * self.input_usd + output_tokens * self.output_usd) / _PER

    def cost_with_cache(self, used: Tokens) -> tuple[float, bool] | None:
        """US dollars for the tokens of an answer, and whether that is all: a kind without a price adds nothing."""
        if used.prompt is None or used.completion is None:
            return None
        written, hour = used.cache_written or 0, used.cache_written_1h or 0
        kinds = [
            (used.cached or 0, self.cached_usd),
            (hour, self.cache_write_1h_usd),
            (max(0, written - hour), self.cache_write_usd),
        ]
        plain = max(0, used.prompt - sum(tokens for tokens, _ in kinds))
        usd = self.cost(plain, used.completion) + sum(tokens * (price or 0.0) for tokens, price in kinds) / _PER
        priced = all(price is not None for tokens, price in kinds if tokens)
        same = self.cache_write_usd == self.cache_write_1h_usd
        return usd, priced and (not written or same or used.cache_written_1h is not None)


class PriceFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A price file is a TOML file with what models cost; `--prices FILE` takes one.

    The first price with a pattern that fits the model counts. Prices that come with Misstep are behind the file's.

    - `checked`: The date on which the prices were looked up.
    - `source`: The source of the prices.
    - `price`: The prices, each a table `[[price]]`.

    Examples
    --------
        checked = 2026-01-31
        source = "the price page of the model's maker"

        [[price]]
        models = ["small-1", "small-1-20*"]
        input_usd = 0.15
        output_usd = 0.60
        batch_share = 0.5
    """

    checked: date
    source: str
    price: tuple[Price, ...]


class Prices(Struct, frozen=True):
    """The prices that are known, in the order in which they are looked through."""

    known: tuple[Price, ...] = ()

    def of(self, model: str) -> Price | None:
        """Return the price of a model; `None` where none is known."""
        fits = (price for price in self.known if any(fnmatchcase(model, pattern) for pattern in price.models))
        return next(fits, None)

    def priced(self, reply: "Reply", model: str, *, batch: bool = False) -> "Reply":
        """The reply with its cost, where the price of the model that was asked and both token counts are known."""
        price = self.of(model)
        if price is None or reply.input_tokens is None or reply.output_tokens is None:
            return reply
        share = price.batch_share if batch else 1.0
        return replace(reply, cost_usd=share * price.cost(reply.input_tokens, reply.output_tokens))


def read_prices(file: Path) -> Prices:
    """Return the prices of one file."""
    with opening(file, "Name a price file.", "cannot be read"):
        data = file.read_bytes()
    from misstep_harness.forms import toml_form

    return Prices(toml_form(data, PriceFile, file, _FORM).price)


def known_prices(own: Path | None = None, price: Price | None = None) -> Prices:
    """Return the price that is given, then those of a user's own file, then those that come with Misstep."""
    return Prices((*([price] if price else []), *(read_prices(own).known if own else ()), *_shipped().known))


@cache
def _shipped() -> Prices:
    return read_prices(data_folder() / "prices.toml")


class StepUsage(Struct, frozen=True, gc=False, array_like=True):
    """What one step cost; `None` where the format does not say.

    `prompt` includes the tokens that were `cached`. `seconds` are those of an agent's step: as recorded, else since the
    step before it, so that the time in which a person thinks is nobody's. `began` is its time in seconds since 1970.
    `message` names the answer of the model where the format does: sessions that were copied have it in common.
    `written` and `written_1h` are the tokens of `prompt` that were written to a cache, and those of them that it keeps
    for an hour. `started` counts the sub-agents that the step started.
    """

    of_agent: bool
    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None
    usd: float | None = None
    seconds: float | None = None
    began: float | None = None
    message: str | None = None
    written: int | None = None
    written_1h: int | None = None
    started: int = 0

    @property
    def tokens(self) -> Tokens:
        """Return the tokens as a reader gives them."""
        return Tokens(self.prompt, self.completion, self.cached, self.usd, self.written, self.written_1h)


def usage_of(run: Trajectory) -> tuple[StepUsage, ...]:
    """Return the usage of each step; none if the format says nothing of it."""
    known = tuple(_usages(run))
    return known if any(one != StepUsage(one.of_agent, started=one.started) for one in known) else ()


def _usages(run: Trajectory) -> Iterator[StepUsage]:
    before: float | None = None
    for step in run.steps:
        began = _moment(step.timestamp)
        message = step.extra.get("message_id")
        used = step.tokens or Tokens()
        yield StepUsage(
            step.role == "agent",
            used.prompt,
            used.cached,
            used.completion,
            used.cost_usd,
            _seconds(step, before, began),
            began,
            message if isinstance(message, str) else None,
            used.cache_written,
            used.cache_written_1h,
            sum(_starts_an_agent(call) for call in step.calls),
        )
        before = began


_STARTS_AN_AGENT = re.compile(
    r"task|agent|sub_?agent|(dispatch|spawn|delegate_to)_agent|(run|invoke)_subagent|use_subagents|new_task|delegate",
    re.IGNORECASE,
)


def _starts_an_agent(call: ToolCall) -> bool:
    named = _STARTS_AN_AGENT.fullmatch(call.name) is not None
    return named and isinstance(call.arguments, dict) and "command" not in call.arguments


def _seconds(step: Step, before: float | None, began: float | None) -> float | None:
    if step.role != "agent" or step.seconds is not None:
        return step.seconds
    return began - before if began is not None and before is not None and began >= before else None


def _moment(timestamp: str | None) -> float | None:
    try:
        moment = datetime.fromisoformat(timestamp or "")
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
