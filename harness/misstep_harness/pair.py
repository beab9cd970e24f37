"""Name what a judge says of two outputs of one task, in each order in which it was shown them."""

from typing import Literal

from msgspec import Struct

from misstep_harness.verdict import Status, Verdict

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
