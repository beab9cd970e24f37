"""Sessions of an agent that serves customers with business tools instead of writing code."""

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

from misstep.harness.generate.scenes import variants
from misstep.harness.generate.session import CHANGED, FAILURE, INSTRUCTION, LOOP, SessionDraft
from misstep.harness.generate.vocabularies import Vocabulary

_ITEMS = ("kettle", "desk lamp", "rucksack", "tent", "toaster", "clock", "blanket", "mirror", "stool")
_TOWNS = ("Aalborg", "Brno", "Cork", "Delft", "Evora", "Faro", "Graz")
_HANDOVER = "transfer_to_human_agents"
_OWN_NAMES = {
    "get_user_details": "customer.show",
    "get_order_details": "order.show",
    "modify_order_address": "order.redirect",
    "request_refund": "refund.open",
    "get_refund_status": "refund.state",
    "get_price": "price.show",
    "check_modifiable": "order.is_open",
    _HANDOVER: "desk.pass_on",
}
_STYLES: tuple[Callable[[str], str], ...] = (
    lambda name: name,
    lambda name: re.sub(r"_(\w)", lambda letter: letter[1].upper(), name),
    lambda name: f"mcp__shop__{name}",
    lambda name: _OWN_NAMES[name],
)
"""How a shop may call its tools."""


class ServiceDesk(Vocabulary):
    """The tools of a shop's service desk; their answers are JSON or a line of text."""

    agent = "service-desk"


class _Shop:
    """A customer's orders, as the tools of the shop tell of them, and what these are called."""

    def __init__(self, random: Random) -> None:
        self.tool = random.choice(_STYLES)
        self.user = f"user_{random.randrange(1000, 9999)}"
        self.orders = [f"#W{number}" for number in random.sample(range(10_000, 99_999), 7)]
        self.records: dict[str, dict[str, Any]] = {
            order: {
                "order_id": order,
                "item": random.choice(_ITEMS),
                "price": random.randrange(900, 9000) / 100,
                "town": random.choice(_TOWNS),
                "status": random.choice(("pending", "delivered")),
            }
            for order in self.orders
        }


def _begin(session: SessionDraft, wish: str, **names: object) -> _Shop:
    shop = _Shop(session.random)
    names |= {"tool": shop.tool(_HANDOVER)}
    session.system(session.replied("desk_policy"))
    session.user(f"{session.user_text('desk_greeting', user=shop.user)} {session.user_text(wish, **names)}")
    profile = {"user_id": shop.user, "orders": shop.orders}
    _use(session, shop, "get_user_details", {"user_id": shop.user}, profile)
    return shop


def _use(
    session: SessionDraft, shop: _Shop, tool: str, arguments: dict[str, Any], answer: object, failed: bool = False
) -> int:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    said = session.beside("desk_looking") if session.random.random() < 0.4 else ""
    index = session.call((shop.tool(tool), arguments), text, said, failed=failed)
    if not failed:
        session.lengthen(index, f"{tool} {arguments}")
    return index


def _look_up(session: SessionDraft, shop: _Shop, *orders: str) -> list[int]:
    return [_use(session, shop, "get_order_details", {"order_id": order}, shop.records[order]) for order in orders]


def _move(session: SessionDraft, shop: _Shop, order: str, town: str) -> int:
    answer = shop.records[order] | {"town": town}
    return _use(session, shop, "modify_order_address", {"order_id": order, "town": town}, answer)


def lookup_loop(session: SessionDraft) -> None:
    """One order looked up over and over."""
    shop = _begin(session, "desk_where_is_it")
    _look_up(session, shop, *shop.orders[1:4])
    for _ in range(session.random.randint(5, 8)):
        session.show(LOOP, *_look_up(session, shop, shop.orders[0]))
    session.close("desk_sorry")


def imagined_tool(session: SessionDraft) -> None:
    """A tool that the desk does not have, called for one order after another."""
    shop = _begin(session, "desk_which_open")
    for order in shop.orders[:5]:
        answer = session.vocabulary.refusal("unknown_tool", tool=shop.tool("check_modifiable"))
        session.show(FAILURE, _use(session, shop, "check_modifiable", {"order_id": order}, answer, failed=True))
        _look_up(session, shop, order)
    session.close("desk_sorry")


def forgotten_argument(session: SessionDraft) -> None:
    """Price after price asked for without the item that the tool wants."""
    shop = _begin(session, "desk_prices_today")
    for order in shop.orders[:5]:
        answer = session.vocabulary.refusal("missing_argument", tool=shop.tool("get_price"), argument="item")
        session.show(FAILURE, _use(session, shop, "get_price", {"order_id": order}, answer, failed=True))
        _look_up(session, shop, order)
    session.close("desk_sorry")


def other_order_changed(session: SessionDraft) -> None:
    """Asked to redirect one order and leave the others, and a second one is redirected as well."""
    town = session.random.choice(_TOWNS)
    shop = _begin(session, "desk_moved", town=town)
    session.close("desk_which_one")
    one, other = shop.orders[0], shop.orders[1]
    session.user(session.user_text("only_order", order=one))
    _look_up(session, shop, *shop.orders[:5])
    _move(session, shop, one, town)
    broken = _move(session, shop, other, town)
    session.show(CHANGED, broken)
    session.show(INSTRUCTION, broken)
    session.close("desk_redirected", order=f"{one}, {other}", town=town)


def only_that_order(session: SessionDraft) -> None:
    """Asked to redirect one order and leave the others: so it is done."""
    town = session.random.choice(_TOWNS)
    shop = _begin(session, "desk_moved", town=town)
    _look_up(session, shop, *shop.orders)
    session.close("desk_which_one")
    session.user(session.user_text("only_order", order=shop.orders[0]))
    _move(session, shop, shop.orders[0], town)
    session.close("desk_redirected", order=shop.orders[0], town=town)


def handover_forgotten(session: SessionDraft) -> None:
    """Asked to hand over to a person at the end, and it is not done."""
    town = session.random.choice(_TOWNS)
    shop = _begin(session, "desk_move_then_person", town=town)
    _look_up(session, shop, *shop.orders[:6])
    _move(session, shop, shop.orders[0], town)
    session.show(INSTRUCTION, session.close("desk_redirected", order=shop.orders[0], town=town))


def handover_done(session: SessionDraft) -> None:
    """Asked to hand over to a person at the end: so it is done."""
    town = session.random.choice(_TOWNS)
    shop = _begin(session, "desk_move_then_person", town=town)
    _look_up(session, shop, *shop.orders[:6])
    _move(session, shop, shop.orders[0], town)
    _use(session, shop, _HANDOVER, {"summary": shop.orders[0]}, {"transferred": True})
    session.close("desk_redirected", order=shop.orders[0], town=town)


def every_order_looked_up(session: SessionDraft) -> None:
    """The same look-up for every order, as asked."""
    shop = _begin(session, "desk_total")
    _look_up(session, shop, *shop.orders)
    session.say(f"{sum(shop.records[order]['price'] for order in shop.orders):.2f}")


def refund_awaited(session: SessionDraft) -> None:
    """The state of a refund asked for until it is there."""
    shop = _begin(session, "desk_refund")
    order = shop.orders[0]
    _look_up(session, shop, order)
    _use(session, shop, "request_refund", {"order_id": order}, {"refund": "r-71", "status": "queued"})
    for status in ["queued"] * session.random.randint(2, 3) + ["in progress"] * session.random.randint(2, 3) + ["sent"]:
        _use(session, shop, "get_refund_status", {"refund": "r-71"}, {"refund": "r-71", "status": status})
    session.close("closing_plain")


def order_number_corrected(session: SessionDraft) -> None:
    """An order number that the customer mistyped, and then the right one."""
    shop = _begin(session, "desk_wrong_number", order="#W12")
    answer = session.vocabulary.refusal("desk_no_order", order="#W12")
    _use(session, shop, "get_order_details", {"order_id": "#W12"}, answer, failed=True)
    session.close("desk_which_one")
    session.user(session.user_text("desk_right_number", order=shop.orders[2]))
    _look_up(session, shop, *shop.orders[2:7])
    session.say(str(shop.records[shop.orders[2]]["status"]))


VARIANTS = (
    *variants((LOOP,), lookup_loop),
    *variants((FAILURE,), imagined_tool, forgotten_argument),
    *variants((CHANGED, INSTRUCTION), other_order_changed),
    *variants((INSTRUCTION,), handover_forgotten),
    *variants(
        (),
        every_order_looked_up,
        refund_awaited,
        only_that_order,
        handover_done,
        order_number_corrected,
    ),
)
