"""Instructions of a repair case as a model wrote them from its fix: what their run records, and repairs read."""

from collections.abc import Mapping

from msgspec import Struct


class CaseInstructions(Struct, frozen=True, omit_defaults=True):
    """What a model says of the fix of one case, in words.

    - `case`, `file`: Which case, and the file that its fix changes.
    - `texts`: Kind → text, of `high_level` and `detailed`.
    - `refused`: Kind → why no text of it counts, such as the line of the fix that every answer held.
    - `error`: Why the model gave no answer at all; such a case is asked again.
    - `asked`: How many answers it took.
    - `cost_usd`: What they cost; `None` where no price is known.
    """

    case: str
    file: str
    texts: Mapping[str, str] = {}
    refused: Mapping[str, str] = {}
    error: str = ""
    asked: int = 0
    cost_usd: float | None = None
