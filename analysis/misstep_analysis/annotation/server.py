"""Serve the pages of an annotation study on the loopback address alone, an address for each rater.

A rater's address is made of the study's secret and the rater's name, so that nobody can guess another's, and so that it
is the same after a restart. A form carries a token of the same kind.
"""

import asyncio
import hashlib
import hmac
from collections.abc import Callable, Mapping

from aiohttp import web
from msgspec import structs

from misstep_analysis.annotation import loopback
from misstep_analysis.annotation.loopback import Conflict, page
from misstep_analysis.annotation.page import (
    Asked,
    Compared,
    Link,
    address_of,
    case_page,
    meeting_page,
    waiting_page,
)
from misstep_analysis.annotation.study import AnnotationStudy, Server, phase_named
from misstep_analysis.pages.page import Foot
from misstep_harness.annotation import CERTAINTIES, RaterAnswer
from misstep_harness.errors import CannotWrite, UsageError

_LONGEST_NOTE = 4_000


class Pages:
    """Pages and forms of a study for each rater; their addresses and tokens are made of the secret."""

    def __init__(self, study: AnnotationStudy, secret: str, command: str = "") -> None:
        self.study, self._secret = study, secret
        self._foot = Foot(command, inputs=(f"the cases in {study.cases.folder}; the answers go to {study.folder}",))
        self._raters = {self._made_of("address", rater): rater for rater in study.state.plan.raters}
        self._addresses = {rater: address for address, rater in self._raters.items()}

    def address(self, rater: str) -> str:
        """Return the path of a rater's pages."""
        return f"/{self._addresses[rater]}/"

    def rater(self, address: str) -> str | None:
        """Return the rater of an address; `None` for nobody's."""
        return self._raters.get(address)

    def token(self, rater: str) -> str:
        """Return the secret in the forms of the rater's pages."""
        return self._made_of("token", rater)

    def begin(self, rater: str) -> str:
        """Return the path that a rater goes to from the address; empty if there is nothing to label now."""
        state = self.study.state
        begins_alone = state.plan.calibration and not any(
            one.phase == "independent" and one.rater == rater for one in state.answers
        )
        if state.phase == "independent" and begins_alone and len(state.plan.raters) > 1:
            return f"{self.address(rater)}calibration"
        left = state.left(rater)
        return self._path(rater, left[0]) if left else ""

    def waiting(self, rater: str) -> str:
        """Return the page of a rater who has nothing to do now, or ever."""
        state = self.study.state
        others = {one: len(state.left(one)) for one in state.plan.raters if one != rater and state.left(one)}
        links = self._links(rater, "")
        return waiting_page(rater, state.phase, others, links, len(state.disputed), state.finished, self._foot)

    def calibration(self, rater: str) -> str:
        """Return the raters' answers to the calibration set side by side."""
        state, compared = self.study.state, []
        if state.phase == "calibration":
            raise Conflict("the calibration set is not done by all raters yet", "Come back when it is.")
        blind = state.study.blind()
        for item in state.plan.calibration:
            answers, labels = [blind[item, one] for one in state.plan.raters], self.study.cases.material(item).labels
            compared.append(Compared(item, self._path(rater, item), tuple(answers), labels))
        left = state.left(rater)
        return meeting_page(compared, rater, self._path(rater, left[0]) if left else self.address(rater), self._foot)

    def case(self, rater: str, number: int) -> str:
        """Return the page of a case for a rater."""
        item, state = self._item(number), self.study.state
        order, calibrated = state.order(rater), item in state.plan.calibration
        is_open = item in order
        if not is_open and state.phase == "calibration":
            raise Conflict("this case is not of the calibration set", "It comes when all raters have done that.")
        shows_others = state.phase == "reconciliation" or (calibrated and state.phase != "calibration")
        others = tuple(one for one in state.answers if one.item == item) if shows_others else ()
        last = state.last(rater, item)
        own = last or state.study.blind().get((item, rater))
        question = Asked(
            rater=rater,
            phase=state.phase,
            place=order.index(item) + 1 if is_open else number + 1,
            of=len(order) if is_open else len(state.plan.items),
            done=len(order) - len(state.left(rater)),
            links=self._links(rater, item),
            address=self._path(rater, item),
            token=self.token(rater),
            revision=last.revision + 1 if last else 0,
            own=own,
            others=others,
            open=is_open,
        )
        return case_page(self.study.cases.material(item), question, self._foot)

    def answer(self, rater: str, number: int, form: Mapping[str, str], steps: tuple[str, ...]) -> str:
        """Keep an answer of a rater's form, and return the path to go to."""
        item = self._item(number)
        if not hmac.compare_digest(form.get("token", "").encode(), self.token(rater).encode()):
            raise UsageError("the form is not from this rater's page", "Open the study's page again.")
        if form.get("item") != item:
            raise Conflict("the form is about another case", "Open the study's page again.")
        seconds = form.get("seconds", "")
        rated = structs.replace(self._answer(rater, item, form, steps), seconds=_number(seconds) if seconds else None)
        self.study.answer(rated)
        state = self.study.state
        # Where a phase ends, the rater's own page says how the study goes on.
        following = state.next_after(rater, item) if state.phase == rated.phase else None
        return self.address(rater) if following is None else self._path(rater, following)

    def _answer(self, rater: str, item: str, form: Mapping[str, str], steps: tuple[str, ...]) -> RaterAnswer:
        labels = {label.name: label for label in self.study.cases.material(item).labels}
        if "label" not in form:
            raise UsageError("no label was chosen", "Choose one.")
        label, phase = form["label"], phase_named(form.get("phase", ""))
        note, revision = form.get("note", "").replace("\r\n", "\n").strip(), _number(form.get("revision", ""))
        if len(note) > _LONGEST_NOTE:
            raise UsageError(f"the note has more than {_LONGEST_NOTE:,} characters", "Shorten it.")
        numbers = tuple(sorted({_number(step) for step in steps}))
        if not label:
            return RaterAnswer(item, rater, phase, None, note=note, steps=numbers, revision=revision)
        finer = form.get(f"subcategory {label}", "")
        if label not in labels or finer not in ("", *(one.name for one in labels[label].subcategories)):
            raise UsageError(f"{item!r} cannot be labelled {label!r} {finer!r}", "Use the choices of the page.")
        sure = next((one for one in CERTAINTIES if one == form.get("certainty")), None)
        if sure is None:
            raise UsageError("it is not said how certain the label is", "Choose one of the three.")
        return RaterAnswer(item, rater, phase, label, finer, sure, note, numbers, revision)

    def _links(self, rater: str, here: str) -> tuple[Link, ...]:
        state = self.study.state
        links, left = [], set(state.left(rater))
        for number, item in enumerate(state.order(rater), start=1):
            words = f"{item}: {'not answered' if item in left else 'answered'}"
            classes = " ".join(["done"] * (item not in left) + ["here"] * (item == here))
            links.append(Link(number, self._path(rater, item), words, classes))
        return tuple(links)

    def _path(self, rater: str, item: str) -> str:
        return self.address(rater) + address_of("case", self.study.state.plan.items.index(item))

    def _item(self, number: int) -> str:
        items = self.study.state.plan.items
        if not 0 <= number < len(items):
            raise UsageError("the case is not in the study", "Open the study's page again.")
        return items[number]

    def _made_of(self, what: str, rater: str) -> str:
        return hmac.new(self._secret.encode(), f"{what}\0{rater}".encode(), hashlib.sha256).hexdigest()[:32]


async def serve(study: AnnotationStudy, server: Server, command: str, ready: Callable[[Server, Pages], None]) -> None:
    """Serve a study until it is stopped."""
    pages, stop = Pages(study, server.secret, command), asyncio.Event()
    failed: list[CannotWrite] = []

    def full(error: CannotWrite) -> None:
        failed.append(error)
        asyncio.get_running_loop().call_later(1, stop.set)

    app = loopback.application(routes_of(pages), full)
    await loopback.serve(app, server.port, lambda port: ready(Server(port, server.secret), pages), stop)
    raise failed[0]


def routes_of(pages: Pages) -> web.RouteTableDef:
    """Return the addresses of a study."""
    routes = web.RouteTableDef()

    @routes.get("/{address}/")
    async def begin(request: web.Request) -> web.Response:
        rater = _rater(pages, request)
        if going_to := pages.begin(rater):
            raise web.HTTPSeeOther(going_to)
        return page(pages.waiting(rater))

    @routes.get("/{address}/calibration")
    async def calibration(request: web.Request) -> web.Response:
        return page(pages.calibration(_rater(pages, request)))

    @routes.get("/{address}/case/{number}")
    async def case(request: web.Request) -> web.Response:
        return page(pages.case(_rater(pages, request), _number(request.match_info["number"])))

    @routes.post("/{address}/case/{number}")
    async def answer(request: web.Request) -> web.Response:
        rater, posted = _rater(pages, request), await request.post()
        form = {name: value for name, value in posted.items() if isinstance(value, str)}
        steps = tuple(value for value in posted.getall("step", ()) if isinstance(value, str))
        raise web.HTTPSeeOther(pages.answer(rater, _number(request.match_info["number"]), form, steps))

    return routes


def _rater(pages: Pages, request: web.Request) -> str:
    rater = pages.rater(request.match_info["address"])
    if rater is None:
        raise web.HTTPNotFound(text="This address belongs to no rater of this study.")
    return rater


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 9):
        raise UsageError(f"{text[:20]!r} is not a number of a case or of a step", "Open the study's page again.")
    return int(text)
