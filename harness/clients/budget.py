"""A limit on what is spent that is never passed: the most an attempt can cost is set aside before it is sent.

The most it can cost is that of one token for each byte of the request, as a token is never less than a byte, and of
`max_tokens` tokens of answer. What is set aside and not used is free again when the answer is there; of an attempt that
may have been charged without one (a lost connection, a time-out) it stays set aside.
"""

import asyncio

from harness.clients.ledger import Ledger
from harness.clients.prices import Prices
from harness.errors import UsageError
from harness.exchange import Client, Failure, FailureKind, Outcome, Reply, Request

_FREE: frozenset[FailureKind] = frozenset({"rate_limited", "quota", "server", "bad_request", "unauthorised"})
"""What a server does not charge for: it has said itself that there is no answer."""

_TOKENS_AROUND = 64
"""More than what a server puts around the messages on its own, at the most 16 tokens each beside it."""

_ROUNDING = 1e-12


class BudgetedClient:
    """Asks another client as long as there is money for it.

    Parameters
    ----------
    client
        The client that makes one attempt.
    prices
        What tokens cost.
    limit_usd
        What may be spent, in US dollars.
    spent_usd
        What was spent of it before.
    ledger
        Where it is kept what is spent; what it has already counts where that is more.
    """

    def __init__(
        self,
        client: Client,
        prices: Prices,
        limit_usd: float,
        spent_usd: float = 0.0,
        ledger: Ledger | None = None,
    ) -> None:
        self._client = client
        self._prices = prices
        self._limit = limit_usd
        self._ledger = ledger
        self.spent_usd = spent_usd
        if ledger is not None and ledger.total_usd > spent_usd:
            self.spent_usd = ledger.total_usd
        elif ledger is not None:
            ledger.add(spent_usd - ledger.total_usd)
        self._reserved = 0.0
        self._pending = 0
        self._settled = asyncio.Condition()

    async def ask(self, request: Request) -> Outcome:
        """The outcome; a failure of kind `budget` where the attempt could pass the limit.

        Raises
        ------
        UsageError
            The model has no price, or nothing bounds the length of its answer.
        """
        most = most_usd(request, self._prices)
        if not await self._reserve(most):
            sentence = (
                f"asking could cost ${most:.6f} and ${max(0.0, self._limit - self.spent_usd):.6f} "
                f"of the ${self._limit:g} are left"
            )
            return Failure("budget", sentence, attempts=0)
        cost = most  # stays so where the attempt is cut off
        try:
            outcome = await self._client.ask(request)
            cost = _charged(outcome, most)
        finally:
            self._settle(most, cost)
            async with self._settled:
                self._settled.notify_all()
        return outcome

    async def _reserve(self, most: float) -> bool:
        async with self._settled:
            while self.spent_usd + self._reserved + most > self._limit + _ROUNDING:
                if not self._pending:
                    return False
                await self._settled.wait()
            if self._ledger is not None:
                self._ledger.add(most)
            self._reserved += most
            self._pending += 1
            return True

    def _settle(self, most: float, cost: float) -> None:
        self._pending -= 1
        self._reserved = self._reserved - most if self._pending else 0.0
        self.spent_usd += cost
        if self._ledger is not None:
            self._ledger.add(cost - most)

    async def close(self) -> None:
        """Close the other client and the ledger."""
        await self._client.close()
        if self._ledger is not None:
            self._ledger.close()


def _charged(outcome: Outcome, most: float) -> float:
    if isinstance(outcome, Reply):
        return most if outcome.cost_usd is None else outcome.cost_usd
    return 0.0 if outcome.kind in _FREE else most


def most_usd(request: Request, prices: Prices) -> float:
    """What one attempt can cost at the most, in US dollars.

    Raises
    ------
    UsageError
        The model has no price, or nothing bounds the length of its answer.
    """
    price = prices.of(request.model)
    if price is None:
        raise UsageError(
            f"a limit on the cost needs a price, and none is known of {request.model!r}",
            "Give prices with --prices FILE, in the form of data/prices.toml.",
        )
    tokens_out = request.most_tokens_out()
    if tokens_out is None:
        raise UsageError(
            "a limit on the cost needs a limit on the length of an answer", "Set max_tokens in the judge's [model]."
        )
    return price.cost(len(request.content()) + _TOKENS_AROUND + 16 * len(request.messages), tokens_out)
