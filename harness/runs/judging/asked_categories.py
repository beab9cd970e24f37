"""Which items of a benchmark that asks about several categories are a judge's to answer: decided here alone.

An item names its category in `extra`. A judge of one category declares it as `category`, or it or its prompt has that
name; verdicts that are in files name those that they are on as `answered`; any other judge answers for all.
"""

from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from misstep.harness.classifiers import categories
from misstep.harness.items import CATEGORY, category_in, read_items, read_question

ANOTHER_CATEGORY = "they ask about another category"
"""Why a judge is not asked about an item whose category is not its own."""


class Categories(Struct, frozen=True):
    """The categories of a benchmark's items that a judge is asked about, and those that are not its to answer."""

    asked: frozenset[str]
    others: frozenset[str]


class _Named(Struct, frozen=True):
    id: str
    extra: dict[str, Any] = {}


class _Judge(Protocol):
    @property
    def name(self) -> str: ...


def categories_for(judge: _Judge, folder: Path) -> Categories:
    """Return what a judge is asked about of a benchmark folder that may ask about several categories.

    Where no item names the judge's own category, the word may sort the items instead of asking about them: then the
    judge is asked about all.
    """
    named = frozenset(category_in(item.extra) for item in read_items(folder, _Named)) - {""}
    declared = getattr(judge, CATEGORY, "")
    own = named & ({declared} if declared else {judge.name, getattr(judge, "prompt_name", "")})
    if not own and (declared or getattr(judge, "answered", ())) and _are_questions(named, folder):
        own = named.intersection(getattr(judge, "answered", ()))
    elif not own:
        return Categories(named, frozenset())
    return Categories(own, named - own)


def _are_questions(named: frozenset[str], folder: Path) -> bool:
    """Return whether categories say what is asked: judges are shown them, or a rule has the name of one."""
    return CATEGORY in read_question(folder).shown or not named.isdisjoint(categories())


def unsure_of(judge: _Judge, chosen: Categories) -> str:
    """A sentence where a judge that cannot tell categories apart is asked about several; empty where all is well."""
    if len(chosen.asked) < 2 or getattr(judge, "sees_category", True):
        return ""
    return (
        f"The items ask about {len(chosen.asked)} categories ({', '.join(sorted(chosen.asked))}), and {judge.name} "
        f"names none as its own: it is asked about all of them. A judge of one declares it as `{CATEGORY}`."
    )
