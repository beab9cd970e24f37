"""The ways in which a run asks a model: request by request, or all that are due together as batches.

Either way a judge awaits the outcome of each request. What ends the run, a limit on the cost or a server that is gone,
is noted here: the items whose requests it cut off have no verdict, and are asked again by the same command.
"""

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from harness.clients import ClientSettings, open_client
from harness.clients.address import unencrypted
from harness.errors import MissingPrerequisite, MisstepError
from harness.escaping import plain
from harness.exchange import Client, Failure, FailureKind, Outcome, Reply, Request
from harness.progress import say

_NOBODY_THERE: frozenset[FailureKind] = frozenset({"connection", "unauthorised", "quota"})
"""What says, where nothing else came, that there is no server to ask: a run too short to open the circuit ends so."""

_SETTLED_SECONDS = 0.01
"""How long no request may be added to a round before it is handed in."""

_GO_ON = "Run the same command again when that is mended."


class Exchange(Protocol):
    """From a request to its outcome, for all items of a run."""

    over_budget: str
    """Why no more is asked, where the limit on the cost is reached."""

    async def ask(self, request: Request, item: str) -> Outcome:
        """The outcome of a request about an item."""

    def ended(self) -> bool:
        """Whether no more items are to be begun."""

    def item_done(self) -> None:
        """Note that an item asks no more."""

    async def close(self) -> None:
        """Close what is open."""

    def check(self) -> None:
        """Raise what ended the run before its end, such as a server that is gone."""


def warn_of_plain_http(settings: ClientSettings) -> None:
    """Say where what is asked, and the key, travel unencrypted."""
    if settings.client == "openai" and (warning := unencrypted(settings.base_url)):
        say(f"misstep: {plain(warning)}")


class AskingAtOnce:
    """Requests asked one by one, so many of them at once.

    Parameters
    ----------
    settings, concurrency
        How answers are got, and how many requests are in flight.
    """

    def __init__(self, settings: ClientSettings, concurrency: int) -> None:
        self._settings = replace(settings, in_flight=concurrency)
        self._client: Client | None = None
        self._broken: MisstepError | None = None
        self._last: Outcome | None = None
        self._somebody_there = False
        self._said_unstructured = False
        self.over_budget = ""

    async def ask(self, request: Request, item: str) -> Outcome:  # noqa: ARG002
        """The client's outcome; the client is opened by the first request."""
        try:
            if self._client is None:
                warn_of_plain_http(self._settings)
                self._client = open_client(self._settings)
            outcome = await self._client.ask(request)
        except MisstepError as error:  # such as no key, or a recording that is not there: no request can be asked
            self._broken = self._broken or error
            return Failure("circuit_open", error.line())
        if isinstance(outcome, Failure) and outcome.kind == "circuit_open":
            self._broken = MissingPrerequisite(outcome.sentence, _GO_ON)
        elif isinstance(outcome, Failure) and outcome.kind == "budget":
            self.over_budget = self.over_budget or outcome.sentence
        else:
            self._last = outcome
            self._somebody_there |= not (isinstance(outcome, Failure) and outcome.kind in _NOBODY_THERE)
        if isinstance(outcome, Reply) and outcome.unstructured and not self._said_unstructured:
            self._said_unstructured = True
            say("misstep: the server takes no JSON schema: it is asked without, and replies are read as they are.")
        return outcome

    def ended(self) -> bool:
        """Whether the money is used or the server is gone."""
        return bool(self.over_budget or self._broken)

    def item_done(self) -> None:
        """Nothing waits for other items."""

    async def close(self) -> None:
        """Close the client."""
        if self._client is not None:
            await self._client.close()

    def check(self) -> None:
        """Raise `MissingPrerequisite` where the server is gone, or was never there."""
        if self._broken is not None:
            raise self._broken
        if isinstance(self._last, Failure) and not self._somebody_there:
            raise MissingPrerequisite(f"no request was answered, the last failed as {self._last.sentence}", _GO_ON)


class AskingInBatches:
    """Requests handed in together when every item that is not done waits for one: a round of answers a batch.

    Parameters
    ----------
    settings
        How answers are got.
    state_file
        Where it is noted how far the batches are.
    items
        How many items will ask.
    """

    def __init__(self, settings: ClientSettings, state_file: Path, items: int) -> None:
        self._settings = settings
        self._state_file = state_file
        self._waiting: list[tuple[str, Request, asyncio.Future[Outcome]]] = []
        self._items = items
        self._round: asyncio.Task[None] | None = None
        self._broken: MisstepError | None = None
        self.over_budget = ""

    async def ask(self, request: Request, item: str) -> Outcome:
        """The outcome of the batch in which the request goes."""
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, request, future))
        self._begin_round()
        return await future

    def ended(self) -> bool:
        """Whether a batch was refused, or its server is gone."""
        return self._broken is not None

    def item_done(self) -> None:
        """One item less will ask."""
        self._items -= 1
        self._begin_round()

    async def close(self) -> None:
        """Stop waiting; what was handed in is found again by the same command."""
        if self._round is not None:
            self._round.cancel()
            await asyncio.gather(self._round, return_exceptions=True)

    def check(self) -> None:
        """Raise what stopped a batch."""
        if self._broken is not None:
            raise self._broken

    def _begin_round(self) -> None:
        if self._round is None and self._all_wait():
            self._round = asyncio.get_running_loop().create_task(self._hand_in())

    def _all_wait(self) -> bool:
        return bool(self._waiting) and len({item for item, _, _ in self._waiting}) >= self._items

    async def _hand_in(self) -> None:
        """Hand in what waits, once nothing more is added to it: an item's votes are asked one after the other."""
        from harness.clients.batch import ask_batch  # the openai client takes a second to import

        warn_of_plain_http(self._settings)
        due: list[tuple[str, Request, asyncio.Future[Outcome]]] = []
        try:
            count = 0
            while count < len(self._waiting):
                count = len(self._waiting)
                await asyncio.sleep(_SETTLED_SECONDS)
            due, self._waiting = self._waiting, []
            futures = {id(request): future for _, request, future in due}
            requests = (request for _, request, _ in due)
            async with aclosing(ask_batch(requests, self._settings, self._state_file)) as coming:
                async for request, outcome in coming:
                    futures[id(request)].set_result(outcome)
        except MisstepError as error:
            self._broken = error
            for _, _, future in due:
                if not future.done():
                    future.set_result(Failure("circuit_open", error.line()))
        finally:
            self._round = None
        self._begin_round()


CUT_OFF: frozenset[FailureKind] = frozenset({"circuit_open", "budget"})
"""Failures of the run, not of the item whose request they meet."""


class ItemAsk:
    """The way in which the judge of one item asks.

    Parameters
    ----------
    exchange, item, model
        How the run asks, the item's id, the model that is named.

    Attributes
    ----------
    outcomes
        What came of each request, in the order in which they came.
    """

    def __init__(self, exchange: Exchange, item: str, model: str) -> None:
        self._exchange = exchange
        self._item = item
        self.model = model
        self.outcomes: list[Outcome] = []

    async def __call__(self, request: Request) -> Outcome:
        """What the model answered, or why there is no answer."""
        outcome = await self._exchange.ask(request, self._item)
        self.outcomes.append(outcome)
        return outcome

    @property
    def cut_off(self) -> bool:
        """Whether the run ended under the item."""
        return any(isinstance(outcome, Failure) and outcome.kind in CUT_OFF for outcome in self.outcomes)

    @property
    def spent_usd(self) -> float | None:
        """What the answers cost that were not at hand already; `None` where that is not known of any."""
        costs = [outcome.cost_usd for outcome in self.outcomes if isinstance(outcome, Reply) and not outcome.cached]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if known else None
