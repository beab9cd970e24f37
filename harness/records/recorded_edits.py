"""Edits that models wrote, as public sets have them: whole replies with what became of them, and runs in counts."""

from collections.abc import Mapping

from msgspec import Struct


class RecordedEdit(Struct, frozen=True):
    """One reply with an edit.

    `format` is that of its set, `verdict` what the tool or the tests said upstream, empty where nothing is known;
    `facts` are what the set says of its form.
    """

    id: str
    source: str
    model: str
    format: str
    text: str
    verdict: str
    facts: Mapping[str, bool | int]


class EditRun(Struct, frozen=True):
    """One model on one benchmark of edits.

    `malformed` is in how many of the `cases` a reply broke the edit format, `None` where it is not counted;
    `well_formed` is the share of cases without such a reply as it is printed, in percent. `solved` are the cases solved
    after one and after two tries, `None` where only the printed percentages `pass_rates` are there.
    """

    board: str
    name: str
    model: str
    format: str
    cases: int
    malformed: int | None
    well_formed: float | None
    solved: tuple[int | None, int | None]
    pass_rates: tuple[float | None, float | None]
