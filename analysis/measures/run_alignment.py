"""Two runs aligned: which steps of one do what steps of the other do, and what each does alone.

The alignment is the one of Needleman and Wunsch (1970), whose pairs have the largest sum of similarities while both
runs keep their order; a step without a counterpart costs nothing. Steps can be paired that have the same role and call
the same tools, or are both without a call. Their similarity is that of the arguments, else of the texts: the overlap of
their words by Dice (1945). Similarities are whole thousandths, so that equal sums are equal on every machine.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy.sparse import csr_array

from misstep.harness.trajectory import Step, ToolCall, Trajectory
from misstep.harness.values import as_json, digest

Change = Literal["same", "changed", "only_a", "only_b"]
Part = Literal["calls", "words", "results"]

STEPS_ALIGNED = 2_000

_SAME = 1_000
_SAME_WORDS = 2
_SAME_RESULTS = 1
_SAME_TOOLS = 300
"""The similarity of two calls of the same tools whose arguments have no word in common."""
_MOST_UNLIKE_SAME = 900
_LEAST = 400
"""The least similarity of two steps that are paired: of two calls, a sixth of the words of their arguments."""

_WORD = re.compile(r"\w+")
_CHARACTERS_COMPARED = 4_000


class AlignedStep(Struct, frozen=True):
    """A line of an alignment: the places of the steps in `a` and `b`, and what differs between them.

    Steps that are the `same` have the same role and calls, or, without a call, the same words.
    """

    a: int | None
    b: int | None
    change: Change
    differs: tuple[Part, ...] = ()


class RunAlignment(Struct, frozen=True, dict=True):
    """Two runs aligned; `left_out` says how many of the last steps of each are not."""

    lines: tuple[AlignedStep, ...]
    left_out: tuple[int, int] = (0, 0)

    @cached_property
    def divergence(self) -> int | None:
        """Return the first line in which the runs do not do the same; `None` where they do the same throughout."""
        return next((place for place, line in enumerate(self.lines) if line.change != "same"), None)

    @cached_property
    def other_result(self) -> int | None:
        """Return the first line in which both do the same and get another result; `None` if there is none."""
        return next((place for place, line in enumerate(self.lines) if _got_another_result(line)), None)

    def count(self, change: Change) -> int:
        """Return how many lines are of a kind."""
        return sum(line.change == change for line in self.lines)


def _got_another_result(line: AlignedStep) -> bool:
    return line.change == "same" and "results" in line.differs


class _Doing(NamedTuple):
    """What a step does as far as it is compared; `kind` is what two steps must share to be paired."""

    kind: tuple[str, ...]
    action: bytes
    words: bytes
    results: bytes
    compared: frozenset[str]


def align_runs(a: Trajectory, b: Trajectory) -> RunAlignment:
    """Return two runs aligned, of each at most the first `STEPS_ALIGNED` steps; `b` with `a` has the same pairs."""
    of_a, of_b = ([_doing(step) for step in run.steps[:STEPS_ALIGNED]] for run in (a, b))
    lines = chain.from_iterable(
        (
            *(AlignedStep(place, None, "only_a") for place in range(before[0] + 1, here[0])),
            *(AlignedStep(None, place, "only_b") for place in range(before[1] + 1, here[1])),
            *([_paired(*here, of_a, of_b)] if here[0] < len(of_a) else []),
        )
        for before, here in pairwise([(-1, -1), *_pairs(of_a, of_b), (len(of_a), len(of_b))])
    )
    return RunAlignment(tuple(lines), (len(a.steps) - len(of_a), len(b.steps) - len(of_b)))


def _paired(place_a: int, place_b: int, of_a: Sequence[_Doing], of_b: Sequence[_Doing]) -> AlignedStep:
    a, b = of_a[place_a], of_b[place_b]
    does: Part = "calls" if len(a.kind) > 1 else "words"
    differs: list[Part] = [] if a.action == b.action else [does]
    if a.words != b.words and "words" not in differs:
        differs.append("words")
    if a.results != b.results:
        differs.append("results")
    return AlignedStep(place_a, place_b, "same" if a.action == b.action else "changed", tuple(differs))


def _doing(step: Step) -> _Doing:
    calls = [(call.name, digest(call.arguments)) for call in step.calls]
    text = " ".join(step.text.split())
    return _Doing(
        kind=(step.role, *(name for name, _ in calls)),
        action=digest([step.role, [[name, arguments.hex()] for name, arguments in calls] or text]),
        words=digest(text),
        results=digest([[one.text, one.is_error, one.exit_code] for one in step.results]),
        compared=_words(chain.from_iterable(map(_values, step.calls)) if calls else [text]),
    )


def _values(call: ToolCall) -> Iterable[str]:
    values: Iterable[Any] = [call.arguments] if isinstance(call.arguments, str) else call.arguments.values()
    return (value if isinstance(value, str) else as_json(value) for value in values)


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in _WORD.findall(text[:_CHARACTERS_COMPARED].lower()))


def _pairs(a: Sequence[_Doing], b: Sequence[_Doing]) -> list[tuple[int, int]]:
    """Return the pairs of an alignment, in order; those of equal sums are chosen alike whichever run is named first."""
    if [one[1:4] for one in b] < [one[1:4] for one in a]:
        return [(place_a, place_b) for place_b, place_a in _pairs_in_order(b, a)]
    return _pairs_in_order(a, b)


def _pairs_in_order(a: Sequence[_Doing], b: Sequence[_Doing]) -> list[tuple[int, int]]:
    similar = np.zeros((len(a), len(b)), np.int32)
    for kind in {one.kind for one in a} & {one.kind for one in b}:
        rows, columns = ([place for place, one in enumerate(run) if one.kind == kind] for run in (a, b))
        floor = _SAME_TOOLS if len(kind) > 1 else 0
        shared = _dice([a[row].compared for row in rows], [b[column].compared for column in columns])
        alike = (floor + (_MOST_UNLIKE_SAME - floor) * shared).astype(np.int32)
        similar[np.ix_(rows, columns)] = np.where(alike >= _LEAST, alike, 0)
    same = _equal([one.action for one in a], [one.action for one in b])
    bonus = _SAME_WORDS * _equal([one.words for one in a], [one.words for one in b])
    bonus = bonus + _SAME_RESULTS * _equal([one.results for one in a], [one.results for one in b])
    similar = np.where(same, _SAME + bonus, similar).astype(np.int32)
    best = np.zeros((len(a) + 1, len(b) + 1), np.int32)
    """The best sum of what is left of both runs from a place in each."""
    for row in range(len(a) - 1, -1, -1):
        paired = np.where(similar[row] > 0, best[row + 1, 1:] + similar[row], 0)
        either = np.maximum(best[row + 1, :-1], paired)
        best[row, :-1] = np.maximum.accumulate(either[::-1])[::-1]
    pairs, row, column = [], 0, 0
    while row < len(a) and column < len(b):
        here = similar[row, column]
        if here and best[row, column] == best[row + 1, column + 1] + here:
            pairs.append((row, column))
            row, column = row + 1, column + 1
        elif best[row, column] == best[row + 1, column]:
            row += 1
        else:
            column += 1
    return pairs


def _dice(a: Sequence[frozenset[str]], b: Sequence[frozenset[str]]) -> NDArray[np.float64]:
    """Twice the number of words that each two sets share, over the number of words in both."""
    number = {word: place for place, word in enumerate(frozenset().union(*a) & frozenset().union(*b))}

    def counted(sets: Sequence[frozenset[str]]) -> Any:
        places = [[number[word] for word in words if word in number] for words in sets]
        ends = np.cumsum([0, *map(len, places)])
        return csr_array(
            (np.ones(ends[-1], np.int32), np.fromiter(chain.from_iterable(places), np.int32, ends[-1]), ends),
            shape=(len(sets), len(number)),
        )

    shared = (counted(a) @ counted(b).T).toarray()
    sizes = np.array([len(words) for words in a])[:, None] + np.array([len(words) for words in b])[None, :]
    overlap: NDArray[np.float64] = np.divide(2.0 * shared, sizes, out=np.zeros(shared.shape), where=sizes > 0)
    return overlap


def _equal(a: Sequence[bytes], b: Sequence[bytes]) -> NDArray[np.bool_]:
    number = {one: place for place, one in enumerate({*a, *b})}
    of_a, of_b = (np.array([number[one] for one in run], int) for run in (a, b))
    equal: NDArray[np.bool_] = of_a[:, None] == of_b[None, :]
    return equal
