"""A verdict: the one answer of rules, models and people, on an item or on a pair of outputs."""

import math
import re
from typing import Any, Literal, get_args

from msgspec import Struct

Status = Literal["answered", "abstained", "unreadable", "refused", "failed"]


class Verdict(Struct, frozen=True, gc=False):
    """A verdict is what a judge said about an item: an object in a line of `verdicts.jsonl` in a run's folder.

    It has a label exactly when its status is `answered`: a missing answer never becomes a label.

    - `item`: The item's id; of `misstep classify`, the id of the session.
    - `judge`: The judge's name; of `misstep classify`, the category.
    - `label`: The label, or null if there is none.
    - `status`: `answered` comes with a label; `abstained` means that there is nothing to judge, or that the answers
      about a pair differ, `unreadable` a reply without a label, `refused` a refusal, and `failed` an error.
    - `score`: The judge's certainty of its label, from 0 to 1, if it says so.
    - `steps`: The evidence: steps of the run, counted from 0.
    - `rationale`: The reason, in a sentence.
    - `seconds`: The time that the answer took.
    - `input_tokens`: The tokens of the requests.
    - `output_tokens`: The tokens of the replies.
    - `cost_usd`: The price of the answer in US dollars, if it is known.
    - `model`: The model that answered.
    - `prompt`: The prompt: its name, version and digest.
    - `cached`: The answer came from a cache, and nothing was spent now.
    - `error`: The error, if no label was given.
    - `rule`: The family of rules that shows the steps. Of a `no` they are worth a look and not counted.

    Examples
    --------
        {"item": "run-1", "judge": "infinite_loop", "label": "yes", "steps": [4, 6, 8], "rationale": "asks 3 times"}
    """

    item: str
    judge: str
    label: str | None
    status: Status = "answered"
    score: float | None = None
    steps: tuple[int, ...] = ()
    rationale: str = ""
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    model: str | None = None
    prompt: str | None = None
    cached: bool = False
    error: str | None = None
    rule: str | None = None

    @property
    def worth_a_look(self) -> bool:
        """Return whether a rule shows steps that do not count."""
        return self.rule is not None and self.label == "no"

    def __post_init__(self) -> None:
        if (self.label is None) == (self.status == "answered"):
            raise ValueError(f"a verdict has a label exactly when it is answered: {self.label!r}, {self.status}")


STATUSES: tuple[Status, ...] = get_args(Status)
UNANSWERED = STATUSES[1:]

_DECIMAL_COMMA = re.compile(r"\d*,\d+", re.ASCII)


def certainty(cell: Any) -> float | None:
    """Return the score in a cell of a table, a number from 0 to 1; `None` if it is empty or NaN.

    Raises `ValueError` for anything else.
    """
    text = cell.strip() if isinstance(cell, str) else cell
    if text is None or text == "":
        return None
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise ValueError("the score is not a number")
    number = float(text.replace(",", ".") if isinstance(text, str) and _DECIMAL_COMMA.fullmatch(text) else text)
    if math.isnan(number):
        return None
    if not 0 <= number <= 1:
        raise ValueError("the score is not from 0 to 1")
    return number


Orders = Literal["both", "random"]


class OrderAnswer(Struct, frozen=True):
    """A judge's answer with one of the outputs in the first place.

    - `first`: The output in the first place.
    - `label`: The better output by its name in the item, whichever place it had; none without an answer.
    """

    first: Literal["a", "b"]
    label: str | None
    status: Status = "answered"
    score: float | None = None
    rationale: str = ""
    error: str | None = None

    @property
    def place(self) -> str:
        """Return the place that the judge prefers, first or second; empty if it prefers none."""
        if self.label not in ("a", "b"):
            return ""
        return "first" if self.label == self.first else "second"


class PairVerdict(Verdict, frozen=True, gc=False):
    """A verdict on a pair. It has a label only if the answers in all orders agree.

    - `orders`: The answer in each order that was asked.

    Examples
    --------
        {"item": "t1", "judge": "better", "label": "a", "orders": [{"first": "a", "label": "a"}]}
    """

    orders: tuple[OrderAnswer, ...] = ()

    @property
    def undecided(self) -> bool:
        """Return whether the judge answered in every order, and differently."""
        answered = all(answer.status == "answered" for answer in self.orders)
        return answered and len({answer.label for answer in self.orders}) > 1
