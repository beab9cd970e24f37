"""Counts of whole things that several machines make and one adds up: what a statistic needs of records, and no more.

A count is a whole number of sessions, items, tasks or answers that are alike in what a statistic looks at. Nothing is
rounded and nothing is a fraction, so that sums depend neither on their order nor on how the records were spread. What
one machine counted is a part with a name. Parts are put together by name: one that comes again changes nothing, and
one that comes again with other content is an error.

    {"parts": {"shard-1": {"digest": "9f86…", "counts": {"ratings": [
        {"question": "", "raters": ["ann", "ben"], "labels": ["agent", null], "n": 17}, …]}}, …}}
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct, structs

from misstep.harness.errors import InputError
from misstep.harness.evidence import Evidence
from misstep.harness.verdict import Status

Whole = Annotated[int, Meta(ge=1, le=10**15)]
"""How many are alike; up to here every sum is exact in whatever adds it."""

SCORE_BINS = 1_000
"""Scores are counted by the nearest thousandth: a score of up to three decimals is kept as it is."""

TIME_BINS_A_DECADE = 20

TIME_EDGES = tuple(round(10 ** (3 + place / TIME_BINS_A_DECADE)) for place in range(9 * TIME_BINS_A_DECADE + 1))
"""Microseconds, from a millisecond to 11.6 days, twenty a decade: a time bin goes from one edge to below the next."""


class CategorySet(Struct, frozen=True, gc=False):
    """Sessions in which the same categories were found, absent or not judged.

    `by` is what sessions are told apart by, such as `model`, and `stratum` which one it is; both are empty where they
    are not told apart.
    """

    by: str
    stratum: str
    found: tuple[str, ...]
    absent: tuple[str, ...]
    abstained: tuple[str, ...]
    n: Whole

    def __post_init__(self) -> None:
        for names in (self.found, self.absent, self.abstained):
            _check_order(names)
        if len({*self.found, *self.absent, *self.abstained}) < len(self.categories):
            raise ValueError(f"a category is named twice: {', '.join(self.categories)}")

    @property
    def categories(self) -> tuple[str, ...]:
        """Return all that the sessions were judged for, or were to be."""
        return (*self.found, *self.absent, *self.abstained)


class RatingPattern(Struct, frozen=True, gc=False):
    """Items that were labelled alike: the label of each rater as written, `None` where one gave none."""

    question: str
    raters: tuple[str, ...]
    labels: tuple[str | None, ...]
    n: Whole

    def __post_init__(self) -> None:
        _check_order(self.raters)
        if len(self.raters) != len(self.labels):
            raise ValueError(f"{len(self.labels)} labels of the raters {', '.join(self.raters)}")


class AskedItems(Struct, frozen=True, gc=False):
    """Items that a judge was asked about, with the labels that there were, in their order.

    `evidence` is `generated` where the items were made with known labels.
    """

    judge: str
    labels: tuple[str, ...]
    evidence: Evidence
    n: Whole


class GoldAnswer(Struct, frozen=True, gc=False):
    """Items with the same gold label to which a judge gave the same answer.

    - `gold`: The gold label; `None` where an item has none.
    - `label`: The judge's label; `None` where the status is not `answered`.
    """

    judge: str
    gold: str | None
    label: str | None
    status: Status
    n: Whole

    def __post_init__(self) -> None:
        if (self.label is None) == (self.status == "answered"):
            raise ValueError(f"an item has a label exactly when it is answered: {self.label!r}, {self.status}")


class ScoreBin(Struct, frozen=True, gc=False):
    """Answered items with a gold label whose scores are about the same.

    `bin` is the score in thousandths, `outside` for a score that is not from 0 to 1, and `None` if there is none.
    """

    judge: str
    gold: str
    label: str
    bin: Annotated[int, Meta(ge=0, le=SCORE_BINS)] | Literal["outside"] | None
    n: Whole


class TaskAttempts(Struct, frozen=True, gc=False):
    """Tasks at which a system has as many passed, failed and unanswered attempts: `n` counts tasks.

    All attempts at a task are counted in one part: counts do not tell which task is which. `evidence` is `generated`
    where the tasks were made with known faults.
    """

    system: str
    evidence: Evidence
    passed: Annotated[int, Meta(ge=0)]
    failed: Annotated[int, Meta(ge=0)]
    unanswered: Annotated[int, Meta(ge=0)]
    n: Whole


class TimeBin(Struct, frozen=True, gc=False):
    """Answers of a judge that took about the same time.

    `bin` counts the edges of `TIME_EDGES` that the time has reached; it is `None` where no time is known.
    """

    judge: str
    bin: Annotated[int, Meta(ge=0, le=len(TIME_EDGES))] | None
    n: Whole


Row = TypeVar("Row", CategorySet, RatingPattern, AskedItems, GoldAnswer, ScoreBin, TaskAttempts, TimeBin)


def category_sets(
    categories: Sequence[str], patterns: Mapping[tuple[str | None, ...], int], by: str = "", stratum: str = ""
) -> tuple[CategorySet, ...]:
    """Sessions with the same labels, one a category, as counts."""
    rows = []
    for labels, n in patterns.items():
        pairs = sorted(zip(categories, labels, strict=True))
        present = tuple(name for name, label in pairs if label == "yes")
        absent = tuple(name for name, label in pairs if label not in ("yes", None))
        rows.append(CategorySet(by, stratum, present, absent, tuple(name for name, label in pairs if label is None), n))
    return _added(rows)


def score_bin(score: float | None) -> int | Literal["outside"] | None:
    """Return the bin of a score."""
    if score is None:
        return None
    return round(score * SCORE_BINS) if 0 <= score <= 1 else "outside"


def time_bin(seconds: float | None) -> int | None:
    """Return the bin of a time: how many edges it has reached, in whole microseconds."""
    return None if seconds is None else bisect_right(TIME_EDGES, round(seconds * 1e6))


class Counts(Struct, frozen=True, omit_defaults=True):
    """Counts of any kinds; the rows of each kind differ from each other and are in one order."""

    sessions: tuple[CategorySet, ...] = ()
    sub_agents: tuple[CategorySet, ...] = ()
    ratings: tuple[RatingPattern, ...] = ()
    asked: tuple[AskedItems, ...] = ()
    answers: tuple[GoldAnswer, ...] = ()
    scores: tuple[ScoreBin, ...] = ()
    tasks: tuple[TaskAttempts, ...] = ()
    times: tuple[TimeBin, ...] = ()


class CountedPart(Struct, frozen=True):
    """What one machine counted, and the digest of what it counted: two inputs with equal counts are not the same."""

    digest: str
    counts: Counts


class CountedParts(Struct, frozen=True):
    """Parts by name, each counted once."""

    parts: Mapping[str, CountedPart]

    def merge(self, other: "CountedParts") -> "CountedParts":
        """Return the parts of both: associative and commutative, and a part that is in both is there once."""
        for name in self.parts.keys() & other.parts.keys():
            if self.parts[name] != other.parts[name]:
                message = f"two parts are called {name!r} and have different content"
                raise InputError(message, "Give each machine's counts a name of its own: misstep count … --name NAME.")
        return CountedParts({**self.parts, **other.parts})

    def total(self) -> Counts:
        """The counts of all parts together; their bytes do not depend on how the records were spread over parts."""
        return summed(part.counts for part in self.parts.values())

    def encoded(self) -> bytes:
        """Return the parts as JSON with a line end: the same bytes for the same parts."""
        return _encode(self) + b"\n"


def decoded_parts(data: bytes, file: str) -> CountedParts:
    """Return the parts of a file."""
    try:
        read = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        advice = "Name files that `misstep count` or `misstep merge` wrote."
        raise InputError(f"no counts: {error}", advice, file=file) from error
    return CountedParts({name: CountedPart(part.digest, summed([part.counts])) for name, part in read.parts.items()})


def summed(counts: Iterable[Counts]) -> Counts:
    """Return all counts together: one row for what is alike, in the order of the rows' JSON."""
    kinds = zip(*map(structs.astuple, counts), strict=True)
    return Counts(*(_added(chain.from_iterable(tables)) for tables in kinds))


def _added(rows: Iterable[Row]) -> tuple[Row, ...]:
    totals: dict[bytes, int] = {}
    examples: dict[bytes, Row] = {}
    for row in rows:
        key = _encode(row).rpartition(_LAST)[0]
        examples.setdefault(key, row)
        totals[key] = totals.get(key, 0) + row.n
    sums = ((examples[key], totals[key]) for key in sorted(totals))
    return tuple(row if row.n == n else structs.replace(row, n=n) for row, n in sums)


def _check_order(names: tuple[str, ...]) -> None:
    if any(one >= other for one, other in pairwise(names)):
        raise ValueError(f"names that are not in alphabetical order, each once: {', '.join(names)}")


_LAST = b',"n":'
"""Where the number begins in the JSON of a row, which it ends; the text before it says what is alike."""

_encode = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder(CountedParts).decode
