"""A limit on the cost that is never exceeded: the highest possible cost of an attempt is reserved before it is sent.

The highest possible cost counts one token for each byte of the request, since a token is never shorter than a byte, and
`max_tokens` tokens of answer. When the answer arrives, the unused part is released. An attempt that ends without an
answer but may have been charged (a lost connection, a time-out) keeps its reservation.
"""

import asyncio
from pathlib import Path

from misstep_harness.clients.around_client import AroundClient
from misstep_harness.errors import InputError, UsageError, opening, write_all, writing
from misstep_harness.exchange import Client, Failure, FailureKind, Outcome, Reply, Request
from misstep_harness.journal.records import appending
from misstep_harness.prices import Prices


class SpendingLog:
    """The amounts that a run has spent, a line each; `total_usd` is their sum. Without a file it is in memory alone."""

    def __init__(self, file: Path | None) -> None:
        self.total_usd = 0.0
        self._file, self._stream = file, None
        if file is not None:
            with opening(file, "Check the folder's permissions.", "cannot be written"):
                self.total_usd = _total(file)
                with writing(file):
                    self._stream = appending(file, 0o600)
                self._stream.truncate(file.read_bytes().rfind(b"\n") + 1)

    def add(self, usd: float) -> None:
        """Add an amount that is reserved; a negative amount releases a reservation."""
        self.total_usd += usd
        if self._file is not None and self._stream is not None:
            write_all(self._stream, b"%b\n" % repr(usd).encode(), self._file)

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()


def _total(file: Path) -> float:
    if not file.exists():
        return 0.0
    total = 0.0
    # A full disk may cut the last number short; its request was never sent.
    *lines, _ = file.read_text().split("\n")
    for number, line in enumerate(lines, start=1):
        try:
            total += float(line)
        except ValueError as error:
            advice = "Delete it to count from the run's verdicts."
            raise InputError(f"not a number: {line[:40]!r}", advice, file=file, line=number) from error
    return total


_FREE: frozenset[FailureKind] = frozenset({"rate_limited", "quota", "server", "bad_request", "unauthorised"})
"""Failures that a server does not charge for, as it reported them itself."""

_TOKENS_AROUND = 64
"""An upper bound for the tokens that a server adds to a request, besides up to 16 tokens a message."""

_ROUNDING = 1e-12


class CostLimitClient(AroundClient):
    """Asks another client as long as the cost limit allows it.

    - `spent_usd`: The part of the limit that earlier attempts have used.
    - `spending_log`: Its total counts if it is higher than `spent_usd`.
    """

    def __init__(
        self,
        client: Client,
        prices: Prices,
        limit_usd: float,
        spent_usd: float = 0.0,
        spending_log: SpendingLog | None = None,
    ) -> None:
        super().__init__(client)
        self._prices, self._limit = prices, limit_usd
        self._spending_log = spending_log or SpendingLog(None)
        if self._spending_log.total_usd <= spent_usd:
            self._spending_log.add(spent_usd - self._spending_log.total_usd)
        self.spent_usd = max(spent_usd, self._spending_log.total_usd)
        self._reserved = 0.0
        self._pending = 0
        self._settled = asyncio.Condition()

    async def ask(self, request: Request) -> Outcome:
        """Return the outcome; a failure of kind `budget` where the attempt could pass the limit."""
        most = most_usd(request, self._prices)
        if not await self._reserve(most):
            return Failure("budget", self._sentence(most), attempts=0)
        cost = most  # an attempt that is cancelled keeps this cost
        try:
            outcome = await self._client.ask(request)
            cost = _charged(outcome, most)
        finally:
            self._settle(most, cost)
            async with self._settled:
                self._settled.notify_all()
        return outcome

    def _sentence(self, most: float) -> str:
        left = max(0.0, self._limit - self.spent_usd)
        return f"asking could cost ${most:.6f} and ${left:.6f} of the ${self._limit:g} are left"

    async def _reserve(self, most: float) -> bool:
        async with self._settled:
            while self.spent_usd + self._reserved + most > self._limit + _ROUNDING:
                if not self._pending:
                    return False
                await self._settled.wait()
            self._spending_log.add(most)
            self._reserved += most
            self._pending += 1
            return True

    def _settle(self, most: float, cost: float) -> None:
        self._pending -= 1
        self._reserved = self._reserved - most if self._pending else 0.0
        self.spent_usd += cost
        self._spending_log.add(cost - most)

    async def close(self) -> None:
        """Close the other client and the spending log."""
        await super().close()
        self._spending_log.close()


def _charged(outcome: Outcome, most: float) -> float:
    if isinstance(outcome, Reply):
        return most if outcome.cost_usd is None else outcome.cost_usd
    return 0.0 if outcome.kind in _FREE else most


def most_usd(request: Request, prices: Prices) -> float:
    """Return the highest possible cost of one attempt in US dollars."""
    price = prices.of(request.model)
    if price is None:
        raise UsageError(
            f"a cost limit needs a price, and the price of {request.model!r} is not known",
            "Add what a million of its tokens cost to the line, in US dollars: --price-in USD --price-out USD. "
            "A price file does it too: `misstep help prices`.",
        )
    tokens_out = request.most_tokens_out()
    if tokens_out is None:
        message = "a cost limit needs a limit on the length of an answer"
        raise UsageError(message, "Set max_tokens in the judge's [model].")
    return price.cost(len(request.content()) + _TOKENS_AROUND + 16 * len(request.messages), tokens_out)
