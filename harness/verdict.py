"""The one answer that everything that judges gives.

A classifier (a finished run → a category), the observer (a run in progress → findings) and a judge (an item → a
label) differ in how they answer, never in what they return. Missing never becomes a label: a verdict has a label
exactly when its status is `answered`.
"""

from typing import Literal, get_args

from msgspec import Struct

Status = Literal["answered", "abstained", "unreadable", "refused", "failed"]
STATUSES: tuple[Status, ...] = get_args(Status)
UNANSWERED = STATUSES[1:]


class Verdict(Struct, frozen=True, gc=False):
    """What a judge said about an item.

    `steps` are the evidence, counted from 0; `rationale` says why in one sentence; `prompt` is `name@version+sha`;
    `seconds`, tokens and `cost_usd` are what the answer took.

    Raises
    ------
    ValueError
        A label without the status `answered`, or that status without a label.
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

    def __post_init__(self) -> None:
        if (self.label is None) == (self.status == "answered"):
            raise ValueError(f"a verdict has a label exactly when it is answered: {self.label!r}, {self.status}")
