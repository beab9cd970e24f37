"""Which columns of a wide file are not raters: texts, comments, times, ids and durations that an export brings along.

A column that says what the others say together (`summaries`) would make agreement come out too high.
"""

import csv
import io
import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from statistics import fmean, median

from msgspec import Struct

from misstep_harness.errors import InputError

# fmt: off
ITEM_NAMES = (
    "item", "item_id", "task_id", "task", "id", "example_id", "example", "sample_id", "sample", "document_id", "doc_id",
    "document", "record_id", "record", "external_id", "unit_id", "unit", "trajectory_id", "trajectory", "trace_id",
    "trace", "run_id", "run", "session_id", "session", "case_id", "case", "instance_id", "instance", "input_hash",
    "text_id", "question_id", "hit_id", "hitid", "qid",
)
RATER_NAMES = (
    "rater", "rater_id", "annotator", "annotator_id", "annotator_name", "annotated_by", "coder", "coder_id", "labeler",
    "labeller", "completed_by", "user", "user_id", "username", "worker", "worker_id", "reviewer", "assessor",
    "evaluator", "annotateur", "codeur", "bewerter", "bewerterin", "prüfer", "prüferin", "gutachter", "kodierer",
    "codierer", "anotador", "evaluador", "codificador", "annotatore", "beoordelaar", "session_id", "judge",
)
"""What columns of raters are called, the surest first."""

LABEL_NAMES = (
    "label", "labels", "rating", "category", "code", "annotation", "answer", "choice", "value", "class", "verdict",
    "judgement", "judgment", "grade", "score", "decision",
)
SYSTEMS = ("system", "model", "generator", "agent")
PEOPLE = frozenset({
    "human", "humans", "gold", "truth", "expert", "reference", "annotator", "annotation", "rater", "manual", "actual",
    "label", "labels", "labeled", "labelled", "target", "expected",
})
JUDGES = frozenset({
    "judge", "judges", "judged", "prediction", "predicted", "pred", "llm", "model", "autorater", "grader", "auto", "ai",
    "verdict", "classifier", "evaluator",
})
SCORES = frozenset({"score", "confidence", "prob", "probability", "certainty", "likelihood", "p"})
TEXTS = frozenset({"text", "output", "response", "answer", "input", "question", "prompt", "task", "content"})

_NO_LABELS = frozenset({
    # how sure somebody was, and what is to be done with a row
    "confidence", "confident", "prob", "probability", "certainty", "likelihood", "unsure", "uncertain", "uncertainty",
    "difficulty", "difficult", "hardness", "complexity", "ambiguous", "ambiguity", "needs", "review", "reviewed",
    "flag", "flags", "flagged", "skip", "skipped", "checked", "cancelled", "duplicate", "escalated", "priority",
    "status", "error",
    # which part of the work a row belongs to
    "batch", "split", "fold", "round", "phase", "attempt", "trial", "seed", "stratum", "strata", "cluster", "dataset",
    "source", "origin", "project", "repo", "repository", "domain", "topic", "language", "locale", "version",
    # words on a row, and what a machine wrote beside it
    "reason", "reasons", "reasoning", "rationale", "explanation", "comment", "comments", "note", "notes", "remark",
    "remarks", "description", "message", "prompt", "output", "input", "response", "cost", "tokens", "seconds",
    "minutes", "duration", "elapsed", "latency", "timestamp", "datetime", "created", "updated", "url", "uuid", "hash",
    "meta", "metadata", "length",
})
"""Words whose presence in its name marks a column as something other than labels."""

_NO_LABELS_ALONE = frozenset({"text", "content", "date", "time", "link"})
"""Names of such columns whose words also occur in the name of a rater."""

_NO_LABELS_ENDINGS = frozenset({"at", "id", "ids", "time", "date", "text"})
"""Last words of such names; a rater's initials may be ID, so that a word stands before them."""

_FREE_TEXT = (
    "kommentar", "coment", "remarque", "bemerk", "anmerk", "notiz", "hinweis", "freitext", "begründ", "begruend",
    "erklär", "erklaer", "explan", "explic", "justif", "rational", "observaci", "observaç", "opmerk", "feedback",
    "schwierig", "dificult", "difficult", "confian", "sicherheit", "unsicher",
)
"""How such words begin in several languages."""
# fmt: on


_TOLOKA = "OUTPUT:"
"""How columns with the answers of people begin in an export of Toloka."""


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a column's name, without the numbers in it."""
    apart = re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])", "_", name).casefold()
    return tuple(filter(None, re.split(r"[\W\d_]+", apart)))


def holds_no_labels(name: str) -> bool:
    """Return whether a column is called like one that holds something else than labels."""
    words = words_of(name.removeprefix(_TOLOKA))
    if "_".join(words) in _NO_LABELS_ALONE or not _NO_LABELS.isdisjoint(words):
        return True
    ends = len(words) > 1 and words[-1] in _NO_LABELS_ENDINGS
    return ends or any(word.startswith(_FREE_TEXT) for word in words)


def holds_names(name: str) -> bool:
    """Return whether a column may be one of the names of items or of raters."""
    return words_of(name)[-1:] in {("id",), ("name",)} or not holds_no_labels(name)


_NAMES = frozenset({"mode", "mean", "median", "average", "gold", "final", "truth", "resolved"})
_STEMS = (
    "aggregat", "majorit", "mehrheit", "consens", "konsens", "adjudicat", "durchschnitt", "mittelwert", "moyenne",
    "mayoría", "promedio", "결론", "최종", "最终", "最終",
)  # fmt: skip
"""What words in the name of such a column are, and how they begin."""

_LOOKED_AT = 2_000
_DIFFER = 20
"""On so many rows at least the others give different labels, and the column says what they say together."""

_FEWEST, _OTHERS = 2, 3
"""Others at least that a column sums up where it is called so, and where it is not."""

_ROUNDED = 0.006

WHY = "what the other columns say together"


def summaries(columns: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the columns that say what the others say together, and that it is this which speaks against each."""
    named = [name for name in columns if any(word in _NAMES or word.startswith(_STEMS) for word in words_of(name))]
    if len(columns) - len(named) < _FEWEST:
        named = []
    if not named and len(columns) <= _OTHERS:
        return {}
    fitting: Counter[tuple[str, str]] = Counter()
    where_they_differ: Counter[tuple[str, str]] = Counter()
    rows: Counter[tuple[str, str]] = Counter()
    for cells in islice(zip(*columns.values(), strict=True), _LOOKED_AT):
        labels = [unicodedata.normalize("NFC", cell.strip()).casefold() for cell in cells]
        counts = Counter(filter(None, labels))
        for name, own in zip(columns, labels, strict=True):
            others = counts - Counter([own]) if own else Counter()
            for kind, fits in _together(own, others):
                rows[name, kind] += 1
                fitting[name, kind] += fits
                where_they_differ[name, kind] += fits and len(others) > 1
    always = {name for name, kind in rows if fitting[name, kind] == rows[name, kind]}
    names = [
        name
        for name, kind in rows
        if where_they_differ[name, kind] >= (0 if name in named else _DIFFER)
        and (fitting[name, kind] >= _NEARLY_ALL * rows[name, kind] if name in named else always == {name})
    ]
    return dict.fromkeys(names, WHY)


def _together(own: str, others: Counter[str]) -> Iterator[tuple[str, bool]]:
    """Return whether a label is the one that most others gave, and whether it is their mean or their median."""
    if sum(others.values()) < 2:
        return
    (label, count), *rest = others.most_common(2)
    if not rest or count > rest[0][1]:
        yield "mode", own == label
    try:
        numbers = [float(one) for one, times in others.items() for _ in range(times)]
        number = float(own)
    except ValueError:
        return
    yield "mean", abs(number - fmean(numbers)) <= _ROUNDED
    yield "median", number == median(numbers)


HANDFUL = 5
"""With so few items, all labels of one rater may differ, and none be anybody else's."""

_NEARLY_ALL, _MOSTLY_REPEATED = 0.9, 0.5
"""Distinct labels over cells: from the one on nearly all are different, up to the other most are repeated."""

_FEW = 5
"""So many cells at least tell that labels are none of the others'; fewer do where each has more words than theirs."""

_HALF, _HARDLY = 0.5, 0.1
"""The share of labels in common with the others: of a rater, and by chance alone."""

_SENTENCE = 4
"""From so many words on, in the median, cells are sentences."""

_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d+)?|[.,]\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?[AaPp][Mm])?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
_DAY = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}"
    rf"|\d{{1,2}} {_MONTH} \d{{4}}|{_MONTH} \d{{1,2}},? \d{{4}}"
)
_TIME = re.compile(rf"(?:{_DAY})(?:(?:[T ]|, ){_CLOCK})?|{_CLOCK}", re.ASCII | re.IGNORECASE)

_COMPARISONS = frozenset({"agree", "agreement", "disagree", "disagreement", "match", "diff", "difference"})
_COMPARED = frozenset({"abs", "absolute", "is", "exact", "all", "raters"})

_NUMBERING = frozenset({"id", "index", "number", "row"})

WHO = frozenset(RATER_NAMES) - {"judge", "reviewer", "assessor", "evaluator", "session_id"}
"""Those that no single rater is called."""


class _Column(Struct, frozen=True):
    """The labels of a column, alike in letter case, and in how many cells there is one."""

    name: str
    labels: frozenset[str]
    cells: int

    @property
    def times(self) -> bool:
        return all(map(_TIME.fullmatch, self.labels))

    @property
    def numbers(self) -> bool:
        return all(map(_NUMBER.fullmatch, self.labels))

    @property
    def sentences(self) -> bool:
        return median(len(label.split()) for label in self.labels) >= _SENTENCE

    @property
    def variety(self) -> float:
        return len(self.labels) / self.cells

    @property
    def numbers_rows(self) -> bool:
        """Return whether it numbers the rows and is called so, as the index of a data frame that pandas wrote."""
        if not self.numbers or self.variety < 1 or self.cells <= HANDFUL:  # an index fills its rows
            return False
        numbers = sorted(int(label) for label in self.labels if label.isdecimal())
        one_after_another = len(numbers) == len(self.labels) == numbers[-1] - numbers[0] + 1
        return self.name.casefold().startswith("unnamed:") or (
            one_after_another and self.name.casefold() in _NUMBERING  # a rater's initials may be ID
        )

    def compares(self, others: Sequence["_Column"]) -> bool:
        """Return whether it is called a comparison, of nobody or of the others."""
        words = frozenset(words_of(self.name))
        rest = words - _COMPARISONS - _COMPARED
        return bool(words & _COMPARISONS) and rest <= {word for other in others for word in words_of(other.name)}


class _Rule(Struct, frozen=True):
    """What speaks against columns, and up to where: so many others are left, rows at least, labels in common."""

    why: str
    speaks: Callable[[_Column, Sequence[_Column]], bool]
    others: int = 1
    rows: int = 0
    shared: float | None = None


_RULES = (
    _Rule("times", lambda column, _: column.times, shared=_HALF),
    _Rule("its name", lambda column, _: holds_no_labels(column.name) or column.name.casefold() == "ground_truth"),
    _Rule("its name", lambda column, _: "score" in words_of(column.name), others=2),
    _Rule("its name", lambda column, others: column.compares(others), others=2),
    _Rule("its name", lambda column, _: column.numbers_rows, rows=HANDFUL + 1),
    _Rule("sentences", lambda column, _: column.sentences, rows=HANDFUL + 1, shared=_HALF),
)
"""What speaks against a column by itself, in this order."""


def odd_columns(columns: Mapping[str, Sequence[str]], *, interval: bool = False) -> dict[str, str]:
    """Return the columns that do not look like raters, and what speaks against each."""
    left = [column for name, cells in columns.items() if (column := _column(name, cells)).labels]
    reasons: dict[str, str] = {}
    rows = max(map(len, columns.values()), default=0)

    def take(odd: Sequence[_Column], why: str, shared: float | None, others: int = 1) -> None:
        rest = [column for column in left if column not in odd]
        used = {label for column in rest for label in column.labels}
        for column in odd if len(rest) >= others else ():
            if shared is None or len(column.labels & used) < shared * len(column.labels):
                reasons[column.name] = why
                left.remove(column)

    for rule in _RULES:
        if rows >= rule.rows:
            odd = [one for one in left if rule.speaks(one, [other for other in left if other is not one])]
            take(odd, rule.why, rule.shared, rule.others)
    if rows <= HANDFUL:
        return reasons
    for column in list(left):
        others = [other for other in left if other is not column and other.name.casefold() not in WHO]
        numbers_beside_words = column.numbers and bool(others) and not any(other.numbers for other in others)
        beside_repeats = any(other.cells > HANDFUL and other.variety <= _MOSTLY_REPEATED for other in others)
        enough = column.cells > (HANDFUL if numbers_beside_words else 2 * HANDFUL)
        varied = enough and column.variety >= _NEARLY_ALL and (numbers_beside_words or beside_repeats)
        numbered = numbers_beside_words and column.name.casefold() in _NUMBERING
        if (varied or numbered) and not (interval and column.numbers):
            take([column], "labels nearly all different" if varied else "its name", _HARDLY)
    shared = _sharing(left)
    used = frozenset().union(*(column.labels for column in shared))
    words = max((len(label.split()) for label in used), default=0)
    for column in list(left) if shared else ():
        enough = column.cells >= _FEW or min(len(label.split()) for label in column.labels) > words
        apart = column not in shared and len(column.labels & used) < _HARDLY * len(column.labels)
        if apart and enough and not (interval and column.numbers):
            reasons[column.name] = "no label in common with another column"
            left.remove(column)
    return reasons | summaries({column.name: columns[column.name] for column in left})


def _sharing(columns: Sequence[_Column]) -> list[_Column]:
    """The columns that share labels and mostly repeat them: of several such sets the one with the fewest empty cells.

    Two columns share labels where half of those of one are the other's.
    """
    sets: list[list[_Column]] = []
    for column in columns:
        own = [
            one
            for one in sets
            if any(
                len(column.labels & other.labels) >= _HALF * min(map(len, (column.labels, other.labels)))
                for other in one
            )
        ]
        sets = [one for one in sets if one not in own] + [[*(other for one in own for other in one), column]]

    def filled(copies: list[_Column]) -> float:
        return sum(column.cells for column in copies) / len(copies)

    def repeat(one: list[_Column]) -> bool:
        distinct = frozenset().union(*(column.labels for column in one))
        several = sum(column.cells > HANDFUL for column in one) > 1
        return several and len(distinct) <= _MOSTLY_REPEATED * sum(column.cells for column in one)

    return max(filter(repeat, sets), key=filled, default=[])


def hold_names(name: str, cells: Sequence[str]) -> bool:
    """Return whether a column may hold the names of items or of raters: one on each row, and no times or free text."""
    column = _column(name, cells)
    return column.cells == len(cells) and bool(column.labels) and not column.times and holds_names(name)


def may_hold_labels(name: str, cells: Sequence[str], items: Sequence[str]) -> bool:
    """Return whether a column of a table with a rating a row may hold the labels."""
    column = _column(name, cells)
    if len(column.labels) < 2 or column.times or holds_no_labels(name) or column.sentences:  # one is no choice
        return False
    of_item = set(zip(items, cells, strict=True))
    distinct_items = len(set(items))
    if len(of_item) == distinct_items and len(column.labels) >= _NEARLY_ALL * distinct_items:
        return False
    return column.cells <= 2 * HANDFUL or column.variety < _NEARLY_ALL


def _nothing_shared(columns: Mapping[str, Sequence[str]]) -> bool:
    """Return whether columns share no label, two of them have many labels, and one has words."""
    labelled = [column for name, cells in columns.items() if (column := _column(name, cells)).labels]
    labels = [label for column in labelled for label in column.labels]
    several = sum(column.cells > HANDFUL for column in labelled) > 1
    return several and not all(column.numbers for column in labelled) and len(set(labels)) == len(labels)


def ask_about(columns: Mapping[str, Sequence[str]], file: str, *, interval: bool = False) -> InputError | None:
    """Return the question which columns are raters, with an answer to take over; `None` where all look like some."""
    odd = odd_columns(columns, interval=interval)
    if not odd and _nothing_shared(columns):
        odd = dict.fromkeys(columns, "no label in common with another column")
    if not odd:
        return None
    raters = [name for name, cells in columns.items() if name not in odd and name.casefold() not in WHO and any(cells)]
    one_a_row = any(name.casefold() in WHO for name in columns)
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(raters)
    named = f"--raters {shlex.quote(line.getvalue())}" if len(raters) > 1 else "--raters A,B"
    advice = f"Name the columns that are: {named}"
    if one_a_row or len(raters) < 2:
        advice += "; or, where a row is one rating, name its columns with --item, --rater and --label"
    listed = ", ".join(f"{name!r} ({why})" for name, why in odd.items())
    which = "column does" if len(odd) == 1 else f"{len(odd)} columns do"
    return InputError(
        f"{which} not look like {'a rater' if len(odd) == 1 else 'raters'}: {listed}", f"{advice}.", file=file
    )


def counted_labels(columns: Mapping[str, Sequence[str]], items: Sequence[str]) -> str:
    """Return what shows that cells count ratings and are none: they add up alike, or rows are called like columns."""
    rows = list(zip(*columns.values(), strict=True))
    if not rows or not all(cell.strip().isdecimal() for cells in rows for cell in cells):
        return ""
    sums = {sum(map(int, cells)) for cells in rows}
    if {item.casefold() for item in items} == {name.casefold() for name in columns}:
        return "rows and columns have the same names, as in a table that counts the labels of two raters"
    if len(rows) <= HANDFUL or len(sums) > 1 or len(set(rows)) <= 2:
        return ""
    return f"each row adds up to {sums.pop():,}, as counts of ratings by label do"


def _column(name: str, cells: Sequence[str]) -> _Column:
    spellings = Counter(cells)
    present = {spelling: times for spelling, times in spellings.items() if spelling and not spelling.isspace()}
    labels = frozenset(unicodedata.normalize("NFC", spelling.strip()).casefold() for spelling in present)
    return _Column(name, labels, sum(present.values()))
