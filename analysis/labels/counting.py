"""Labels as counts of rating patterns, and counts read as labels again: what agreement needs, and no item's name.

Labels are counted as they are written. Which spellings are one label, and what stands for a missing one, is decided
where the counts of all files are together, by the same rules as for a file.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from misstep.analysis.labels.coding import Labels, coded, placed
from misstep.analysis.labels.ratings import Numbers, Ratings, chosen_raters
from misstep.analysis.labels.reading import Reading
from misstep.analysis.labels.rows import LabelRows
from misstep.analysis.labels.spelling import trimmed
from misstep.analysis.stats.raters.patterns import MISSING, distinct_rows
from misstep.harness.records.whole_counts import RatingPattern


def rating_patterns(question: str, ratings: Ratings) -> Iterator[RatingPattern]:
    """Return the cells of one question, items that were labelled alike counted once."""
    spellings, labels = Numbers(), Numbers()
    spelled = [spellings.of(column) for column in ratings.columns]
    of_spelling = labels.of([trimmed(spelling) for spelling in spellings])
    empty = labels.get("", MISSING)
    of_spelling[of_spelling == empty] = MISSING
    in_order = np.argsort(ratings.raters)
    codes = placed(ratings, [of_spelling[column] for column in spelled])[:, in_order]
    raters = tuple(sorted(ratings.raters))
    names = [*labels, None]
    found = distinct_rows(codes)
    for row, items in zip(found.rows.tolist(), found.items.tolist(), strict=True):
        yield RatingPattern(question, raters, tuple(names[code] for code in row), items)


def counted_labels(patterns: Iterable[RatingPattern], reading: Reading, file: str) -> dict[str, Labels]:
    """Return the labels of each question, in the order of the questions' names; raters are in that of theirs."""
    by_question: dict[str, list[RatingPattern]] = {}
    for pattern in patterns:
        by_question.setdefault(pattern.question, []).append(pattern)
    return {name: _labels(by_question[name], reading, file) for name in sorted(by_question)}


def _labels(patterns: list[RatingPattern], reading: Reading, file: str) -> Labels:
    known = sorted({rater for pattern in patterns for rater in pattern.raters})
    raters = chosen_raters(reading, known, file)
    given = [dict(zip(pattern.raters, pattern.labels, strict=True)) for pattern in patterns]
    columns = [[labels.get(rater) or "" for labels in given] for rater in raters]
    sheet = LabelRows(file, "", "", raters, list(columns), range(1, len(patterns) + 1), "pattern")
    times = np.array([pattern.n for pattern in patterns], dtype=np.int64)
    return coded(Ratings(sheet, [], raters, list(columns), raters, [], times=times), reading)
