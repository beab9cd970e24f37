"""Send a run's requests to a model: one by one with a limit on concurrency, or together as batches.

An event that ends the run (the cost limit, a server that is gone) is recorded here: items with an interrupted request
have no verdict, and the same command asks them again.
"""

import asyncio
from contextlib import aclosing
from pathlib import Path

from msgspec.structs import replace

from misstep_harness.clients import ClientSettings, open_client
from misstep_harness.errors import MissingPrerequisite, MisstepError
from misstep_harness.escaping import plain
from misstep_harness.exchange import Client, Failure, FailureKind, Outcome, Reply, Request
from misstep_harness.progress import say

_NO_SERVER: frozenset[FailureKind] = frozenset({"connection", "unauthorised", "quota"})
"""A run with no other outcomes than these has no server to ask; it may be too short to open the circuit."""

_SETTLED_SECONDS = 0.01
"""A round is handed in when no request has been added to it for this long."""

_GO_ON = "Run the same command again when the cause is removed."


class ModelRequests:
    """Sends the requests of all items of a run and returns their outcomes."""

    over_cost_limit = ""
    """Why the run stops, where the cost limit is reached."""
    _broken: MisstepError | None = None

    async def ask(self, request: Request, item: str) -> Outcome:
        """Return the outcome of a request about an item."""
        raise NotImplementedError

    def ended(self) -> bool:
        """Return whether the run begins no more items: the cost limit is reached, or the server is gone."""
        return bool(self.over_cost_limit or self._broken)

    def item_done(self) -> None:
        """Record that an item is done with its requests."""

    async def close(self) -> None:
        """Close all that is open."""

    def check(self) -> None:
        """Raise the error that ended the run early, such as a server that is gone."""
        if self._broken is not None:
            raise self._broken


def warn_of_plain_http(settings: ClientSettings) -> None:
    """Warn where the requests and the key are sent unencrypted."""
    from misstep_harness.clients.address import unencrypted

    if settings.client == "openai" and (warning := unencrypted(settings.base_url)):
        say(f"misstep: {plain(warning)}")


class ConcurrentRequests(ModelRequests):
    """Sends requests one by one, with a limit on the requests in flight."""

    def __init__(self, settings: ClientSettings, concurrency: int) -> None:
        self._settings = replace(settings, in_flight=concurrency)
        self._client: Client | None = None
        self._last: Outcome | None = None
        self._server_answered = False
        self._said_unstructured = False

    async def ask(self, request: Request, item: str) -> Outcome:  # noqa: ARG002
        """Return the client's outcome; the client is opened by the first request."""
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
            self.over_cost_limit = self.over_cost_limit or outcome.sentence
        else:
            self._last = outcome
            self._server_answered |= not (isinstance(outcome, Failure) and outcome.kind in _NO_SERVER)
        if isinstance(outcome, Reply) and outcome.unstructured and not self._said_unstructured:
            self._said_unstructured = True
            say("misstep: the server takes no JSON schema: it is asked without, and replies are read as they are.")
        return outcome

    async def close(self) -> None:
        """Close the client."""
        if self._client is not None:
            await self._client.close()

    def check(self) -> None:
        """Raise `MissingPrerequisite` where the server is gone, or was never there."""
        super().check()
        if isinstance(self._last, Failure) and not self._server_answered:
            raise MissingPrerequisite(f"no request was answered; the last failure: {self._last.sentence}", _GO_ON)


class BatchedRequests(ModelRequests):
    """Hands requests in as one batch when every unfinished item waits for an answer."""

    def __init__(self, settings: ClientSettings, state_file: Path, items: int) -> None:
        self._settings, self._state_file, self._items = settings, state_file, items
        self._waiting: list[tuple[str, Request, asyncio.Future[Outcome]]] = []
        self._round: asyncio.Task[None] | None = None

    async def ask(self, request: Request, item: str) -> Outcome:
        """Return the outcome of the request, when its batch is done."""
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, request, future))
        self._begin_round()
        return await future

    def item_done(self) -> None:
        """Record that an item is done with its requests; the others may now form a batch."""
        self._items -= 1
        self._begin_round()

    async def close(self) -> None:
        """Stop waiting; the same command finds the batches that were handed in."""
        if self._round is not None:
            self._round.cancel()
            await asyncio.gather(self._round, return_exceptions=True)

    def _begin_round(self) -> None:
        all_wait = self._waiting and len({item for item, _, _ in self._waiting}) >= self._items
        if self._round is None and all_wait:
            self._round = asyncio.get_running_loop().create_task(self._hand_in())

    async def _hand_in(self) -> None:
        """Hand in the waiting requests once no more are added: an item's votes are asked one after the other."""
        from misstep_harness.clients.batches import ask_batch  # the openai client takes a second to import

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
"""Failures of the whole run, not of one item."""


class ItemAsk:
    """The `ask` function that a judge gets for one item."""

    def __init__(self, requests: ModelRequests, item: str, model: str) -> None:
        self._requests = requests
        self._item = item
        self.model = model
        self.outcomes: list[Outcome] = []

    def for_model(self, model: str) -> "ItemAsk":
        """Return the same for another model about the same item; outcomes and costs are counted together."""
        other = ItemAsk(self._requests, self._item, model)
        other.outcomes = self.outcomes
        return other

    async def __call__(self, request: Request) -> Outcome:
        """Return the model's answer, or why there is none."""
        outcome = await self._requests.ask(request, self._item)
        self.outcomes.append(outcome)
        return outcome

    @property
    def cut_off(self) -> bool:
        """Return whether the run ended before the item was done."""
        return any(isinstance(outcome, Failure) and outcome.kind in CUT_OFF for outcome in self.outcomes)

    @property
    def spent_usd(self) -> float | None:
        """Return the cost of the answers that did not come from the cache; `None` where no cost is known."""
        costs = [outcome.cost_usd for outcome in self.outcomes if isinstance(outcome, Reply) and not outcome.cached]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if known else None
