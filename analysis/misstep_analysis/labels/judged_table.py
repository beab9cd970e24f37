"""A table in which each row is an item with the labels of people and of judges, as spreadsheets and exports have them.

The words of their names, and what is in them, say which column is which::

    id,output,human_label,judge_label,judge_score,project
    7,"All tests pass.",yes,no,0.8,shop
"""

import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from misstep_analysis.labels.coding import like_missing
from misstep_analysis.labels.columns import (
    ITEM_NAMES,
    JUDGES,
    LABEL_NAMES,
    PEOPLE,
    SCORES,
    TEXTS,
    WHO,
    holds_no_labels,
    words_of,
)
from misstep_analysis.labels.forms import column_named, columns_called, form_of
from misstep_analysis.labels.ratings import ratings_of
from misstep_analysis.labels.records import listed, number, trimmed
from misstep_analysis.labels.rows import LabelRows, Reading, ScaleLevel
from misstep_analysis.labels.source import Source, read_source
from misstep_harness.errors import InputError, UsageError
from misstep_harness.verdict import certainty

_MOST_LABELS = 20
"""Columns with more different cells than this are not taken for labels by themselves."""

_COLUMNS_SHOWN = 30
_SHAPES = "Give a row for each item, with a column of people's labels and one or more of judges' labels."
_TWO = 2
_GRADE = re.compile(r"[+-]?\d{1,3}+", re.ASCII)
"""A whole number that may be a grade: longer ones are codes."""

_WHOLE = re.compile(r"([+-]?\d++)(?:\.0++|,00?)", re.ASCII)


class JudgedColumns(Struct, frozen=True):
    """The names of columns that a person gave; what is empty is recognised."""

    judges: Sequence[str] = ()
    people: Sequence[str] = ()
    scores: Sequence[str] = ()
    item: str = ""
    cluster: str = ""
    groups: Sequence[str] = ()
    level: ScaleLevel | None = None
    judge_needed: bool = True


class JudgedTable(Struct, frozen=True):
    """The rows of a table of judged items, in order.

    - `scores`: Judge → its certainty in each row.
    - `clusters`: Item → what its row hangs together with others by, if anything.
    """

    file: str
    sheet: LabelRows
    items: tuple[str, ...]
    people: dict[str, tuple[str, ...]]
    judges: dict[str, tuple[str, ...]]
    scores: dict[str, tuple[float | None, ...]]
    clusters: dict[str, str]
    groups: dict[str, tuple[str, ...]]
    texts: dict[str, tuple[str, ...]]
    remarks: tuple[str, ...]
    level: ScaleLevel = "nominal"

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels that people gave; of grades those of the judges as well, from the lowest."""
        if self.level == "nominal":
            return tuple(sorted(_given(self.people)))
        return tuple(sorted(_given(self.people) | _given(self.judges), key=float))


def read_judged_table(path: Path, named: JudgedColumns, renamed: Mapping[str, str]) -> JudgedTable:
    """Read a table of judged items; `renamed` maps a label of the judges to one of people."""
    source = read_source(path, what="judged items", shapes=_SHAPES)
    sheet, read = _column_a_rater(source, named)
    remarks = [*source.remarks, *read]
    people, judges = _label_columns(sheet, named)
    if not named.judges:
        judges, read = _with_common_labels(sheet, people, judges, renamed)
        remarks += read
    at_score = _score_columns(sheet, [*people, *judges], judges, named)
    at_item = next(iter(columns_called(sheet, ITEM_NAMES)), None)
    if named.item:
        at_item = column_named(sheet, named.item, "--item")
    at_cluster = column_named(sheet, named.cluster, "--cluster") if named.cluster else None
    groups = [column_named(sheet, name, "--by") for name in named.groups]
    columns_used = {*people, *judges, *at_score.values(), *groups}
    counts: dict[str, Counter[str]] = {}
    for column in [*people, *judges]:
        weight = 2 if column in people else 1
        cells = Counter(map(trimmed, sheet.columns[column]))
        remarks += [f"{sheet.header[column]}: {remark}" for _, remark in like_missing(cells)]
        for cell, times in cells.items():
            if cell:
                counts.setdefault(_key(cell), Counter())[cell] += weight * times
    alike = [spellings for spellings in counts.values() if len(set(map(str.casefold, spellings))) > 1]
    remarks += [f"counted as one label: {listed(sorted(spellings))}" for spellings in alike]
    spelling = {
        key: key if _GRADE.fullmatch(key) else min(spellings, key=lambda one: (-spellings[one], one))
        for key, spellings in counts.items()
    }
    renamed = {theirs: spelling.get(_key(ours), ours) for theirs, ours in renamed.items()}
    mapping = {_key(theirs): ours for theirs, ours in renamed.items()}
    others = [at for at in range(len(sheet.header)) if at not in columns_used]
    texts = [at for at in others if TEXTS.intersection(words_of(sheet.header[at]))] or others
    items, clusters = _items(sheet, at_item, at_cluster, remarks)
    scores = {}
    for judge, at in at_score.items():
        try:
            scores[sheet.header[judge]] = _numbers(sheet, at)
        except InputError as error:
            if named.scores:
                raise
            remarks.append(f"not taken as scores: {sheet.header[at]!r}, {error.found}")
    by_people = {sheet.header[at]: _labels(sheet.columns[at], spelling, {}) for at in people}
    by_judges = {sheet.header[at]: _labels(sheet.columns[at], spelling, mapping) for at in judges}
    level = _level(sheet.file, by_people, by_judges, named.level)
    if level != named.level and level != "nominal":
        remarks.append("labels are whole numbers and read as grades; --level nominal reads them as names")
    labels = _given(by_people) | _given(by_judges)
    words = sorted(label for label in labels if _GRADE.fullmatch(label) is None)
    if named.level is None and words and len(labels) - len(words) > _TWO:
        advice = "where they are none, leave these cells empty, or say --level nominal"
        remarks.append(f"grades are read as names, for {listed(words, 5)} beside them: {advice}")
    table = JudgedTable(
        sheet.file,
        sheet,
        items,
        by_people,
        by_judges,
        scores,
        clusters,
        {sheet.header[at]: tuple(map(trimmed, sheet.columns[at])) for at in groups},
        {sheet.header[at]: tuple(sheet.columns[at]) for at in texts},
        tuple(remarks),
        level,
    )
    _check_labels(table, renamed)
    return table


_Columns = Mapping[str, Sequence[str]]


def _given(columns: _Columns) -> set[str]:
    return {label for column in columns.values() for label in column} - {""}


def _level(file: str, people: _Columns, judges: _Columns, told: ScaleLevel | None) -> ScaleLevel:
    """Return the level of measurement: that of grades where all give whole numbers, more than two of them."""
    labels = _given(people) | _given(judges)
    if told is not None and told != "nominal":
        words = sorted(label for label in labels if number(label) is None)
        if words:
            problem = f"--level {told}: {listed(words, 5)} in {file} are not numbers"
            raise UsageError(problem, "Write grades as numbers, or leave --level out.")
        return told
    both = all(any(column) for columns in (people, judges) for column in columns.values())
    whole = both and len(labels) > _TWO and all(map(_GRADE.fullmatch, labels))
    return "ordinal" if told is None and whole else "nominal"


def _column_a_rater(source: Source, named: JudgedColumns) -> tuple[LabelRows, Sequence[str]]:
    """Return a table with a rating a row as one with a column a rater; any other table as it is."""
    sheet = source.sheet
    raters, labels = columns_called(sheet, WHO), columns_called(sheet, LABEL_NAMES)
    if len(raters) != 1 or not labels or {*named.judges, *named.people} & {*sheet.header}:
        return sheet, ()
    if any(set(map(_key, sheet.columns[raters[0]])) & set(map(_key, sheet.columns[at])) - {""} for at in labels):
        return sheet, ()  # the column of raters holds labels: it is a rater's own
    reading = Reading(item=named.item, rater=sheet.header[raters[0]], fewest_raters=1)
    form = form_of(source, reading)
    ratings = ratings_of(sheet, form, form.labels[0], reading)
    if ratings.places is None or ratings.rows is None:
        return sheet, ()
    cells = [[""] * len(ratings.items) for _ in ratings.raters]
    line_of, lines = sheet.lines(), [0] * len(ratings.items)
    for place, row, cell in zip(ratings.places.tolist(), ratings.rows.tolist(), ratings.columns[0], strict=True):
        of_item, of_rater = divmod(place, len(ratings.raters))
        cells[of_rater][of_item] = cell
        lines[of_item] = lines[of_item] or line_of[row]
    header = [sheet.header[form.item], *ratings.raters]
    return structs.replace(sheet, header=header, columns=[ratings.items, *cells], places=lines), form.remarks


def _label_columns(sheet: LabelRows, named: JudgedColumns) -> tuple[list[int], list[int]]:
    people = [column_named(sheet, name, "--human") for name in named.people]
    judges = [column_named(sheet, name, "--judge") for name in named.judges]
    both = set(people) & set(judges)
    if both:
        problem = f"the column {sheet.header[both.pop()]!r} is named for people and for a judge"
        raise UsageError(problem, "Name different columns with --human and --judge.")
    free = [at for at in range(len(sheet.header)) if at not in {*people, *judges} and _holds_labels(sheet, at)]
    judges = judges or [at for at in free if JUDGES.intersection(words_of(sheet.header[at]))]
    called = [at for at in free if at not in judges and PEOPLE.intersection(words_of(sheet.header[at]))]
    # `label` alone may be a judge's or a person's: a surer word wins.
    surer = [at for at in called if not {"label", "labels"}.issuperset(words_of(sheet.header[at]))]
    people = people or surer or called
    for columns, who, words in ((people, "people", PEOPLE), (judges, "a judge", JUDGES)):
        if not columns and (who == "people" or named.judge_needed):
            raise _unknown_columns(sheet, people, judges, free, (who, words))
    return people, judges


def _unknown_columns(
    sheet: LabelRows,
    people: Sequence[int],
    judges: Sequence[int],
    free: Sequence[int],
    unknown: tuple[str, frozenset[str]],
) -> InputError:
    """Return the question which column has the labels, with the whole line that answers it by a likely column."""
    who, words = unknown
    option = "--human" if who == "people" else "--judge"
    problem = "which column has the human labels?" if who == "people" else "which column has the judge's labels?"
    called_so = [name for at, name in enumerate(sheet.header) if at not in free and words & {*words_of(name)}]
    if called_so:
        faults = f"scores or texts, nothing, or more than {_MOST_LABELS} different labels"
        problem += f" {listed(called_so)} seems to hold {faults}"
    known = {_key(cell) for at in (*people, *judges) for cell in sheet.columns[at]} - {""}

    def unlikely(at: int) -> tuple[bool, int]:
        labels = {_key(cell) for cell in sheet.columns[at]} - {""}
        return bool(known) and known.isdisjoint(labels), len(labels)

    others = sorted((at for at in free if at not in {*people, *judges}), key=unlikely)
    taken = iter([sheet.header[at] for at in others])
    columns = {
        "--human": [sheet.header[at] for at in people] or [next(taken, "COLUMN")],
        "--judge": [sheet.header[at] for at in judges] or [next(taken, "COLUMN")],
    }
    parts = [part for name, chosen in columns.items() for column in chosen for part in (name, column)]
    line = shlex.join(["misstep", "judge", "check", sheet.file, *parts])
    advice = f"Add {option} COLUMN. Try: {line} (the columns: {listed(sheet.header, _COLUMNS_SHOWN)})"
    return InputError(problem, advice, file=sheet.file, line=1)


def _with_common_labels(
    sheet: LabelRows, people: Sequence[int], judges: Sequence[int], renamed: Mapping[str, str]
) -> tuple[list[int], list[str]]:
    """Return the judges that say what people say, after the mapping, and a remark on others; all where none does.

    A column may be called like a judge for the model that was judged, or for its answers.
    """
    meant = {_key(theirs): _key(ours) for theirs, ours in renamed.items()}
    known = {_key(cell) for at in people for cell in sheet.columns[at]} - {""}
    alike = [at for at in judges if not known.isdisjoint(meant.get(key, key) for key in map(_key, sheet.columns[at]))]
    others = listed(sheet.header[at] for at in judges if at not in alike)
    if not alike or not others:
        return list(judges), []
    return alike, [f"not taken for judges, as they have no label in common with people: {others}; --judge names one"]


def _holds_labels(sheet: LabelRows, at: int) -> bool:
    name, distinct = sheet.header[at], {_key(cell) for cell in sheet.columns[at]} - {""}
    words = words_of(name)
    return (
        bool(distinct)
        and len(distinct) <= _MOST_LABELS
        and not SCORES.intersection(words)
        and not holds_no_labels(name)
    )


def _score_columns(
    sheet: LabelRows, labels: Sequence[int], judges: Sequence[int], named: JudgedColumns
) -> dict[int, int]:
    """Return the column of each judge's certainty: as told, or by the words of its name where they leave no choice."""
    if named.scores:
        return dict(_named_score(sheet, judges, score) for score in named.scores)
    words = {at: frozenset(words_of(name)) for at, name in enumerate(sheet.header) if at not in labels}
    scores = {at: own - SCORES for at, own in words.items() if own & SCORES}
    own_words = {judge: frozenset(words_of(sheet.header[judge])) for judge in judges}
    like = {judge: [at for at, rest in scores.items() if rest and rest <= own] for judge, own in own_words.items()}
    exact = {judge: [at for at in like[judge] if scores[at] == own_words[judge]] for judge in judges}
    like = exact if all(len(ats) == 1 for ats in exact.values()) else like
    for at in scores:
        of = [sheet.header[judge] for judge in judges if at in like[judge]]
        if len(of) > 1:
            name = sheet.header[at]
            advice = f"Say whose it is: --score {shlex.quote(f'{of[0]}={name}')}; or name one judge with --judge."
            raise InputError(f"the scores in {name!r} may be those of {listed(of)}", advice, file=sheet.file, line=1)
    if len(judges) == 1:
        like = {judge: ats or [at for at, rest in scores.items() if not rest] for judge, ats in like.items()}
    return {judge: ats[0] for judge, ats in like.items() if len(ats) == 1}


def _named_score(sheet: LabelRows, judges: Sequence[int], named: str) -> tuple[int, int]:
    """Return a judge and the column of its certainty from `JUDGE=COLUMN`, of one judge also from `COLUMN`."""
    judge, sign, column = named.partition("=")
    if named in sheet.header or not sign:
        if len(judges) > 1:
            problem = f"--score {named} with several judges"
            raise UsageError(problem, f"Give --score JUDGE={named}, or name one judge with --judge.")
        return judges[0], column_named(sheet, named, "--score")
    of = column_named(sheet, judge, "--score")
    if of not in judges:
        known = listed(sheet.header[one] for one in judges)
        raise UsageError(f"--score {named}: {judge!r} is not a judge here", f"The judges are {known}.")
    return of, column_named(sheet, column, "--score")


def _items(
    sheet: LabelRows, item: int | None, cluster: int | None, remarks: list[str]
) -> tuple[tuple[str, ...], dict[str, str]]:
    rows = len(sheet.columns[0])
    names = [trimmed(cell) for cell in sheet.columns[item]] if item is not None else [""] * rows
    repeated = {name for name, times in Counter(names).items() if times > 1 or not name}
    ids = tuple(f"{name or 'row'} {row + 1}" if name in repeated else name for row, name in enumerate(names))
    if cluster is not None:
        return ids, {one: trimmed(cell) for one, cell in zip(ids, sheet.columns[cluster], strict=True) if trimmed(cell)}
    if item is not None and repeated - {""}:
        remarks.append(
            f"{len(repeated - {''}):,} values of {sheet.header[item]!r} are on several rows: intervals and tests are "
            "clustered by it"
        )
        return ids, {one: name for one, name in zip(ids, names, strict=True) if name}
    return ids, {}


def _labels(cells: Sequence[str], spelling: Mapping[str, str], renamed: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(renamed[key] if key in renamed else spelling.get(key, "") for key in map(_key, cells))


def _numbers(sheet: LabelRows, at: int) -> tuple[float | None, ...]:
    numbers: list[float | None] = []
    for row, cell in enumerate(sheet.columns[at]):
        text = trimmed(cell)
        try:
            numbers.append(certainty(text))
        except ValueError as error:
            advice = "A score is a probability: divide it by the highest one, or leave out the column."
            problem = f"the score {text[:40]!r} is not a number from 0 to 1"
            raise sheet.error(row, problem, advice, sheet.header[at]) from error
    return tuple(numbers)


def _check_labels(table: JudgedTable, renamed: Mapping[str, str]) -> None:
    known = set(table.labels)
    wrong = next((ours for ours in renamed.values() if ours not in known), None)
    if wrong is not None:
        raise UsageError(f"--label: {wrong!r} is not a label of people", f"Their labels: {listed(sorted(known))}.")
    for judge, labels in table.judges.items():
        present = {label for label in labels if label}
        if present and known and not present & known and table.level == "nominal":
            theirs, ours = sorted(present), sorted(known)
            raise InputError(
                f"no label in common: people say {listed(ours, 5)}, the judge says {listed(theirs, 5)}",
                f"Say what its labels mean, as --label {shlex.quote(f'{theirs[0]}={ours[0]}')}.",
                file=table.file,
                field=judge,
            )


def _key(cell: str) -> str:
    """Return what counts of a label: letter case does not, nor does the `.0` or `,0` of a whole number."""
    label = trimmed(cell).casefold()
    whole = _WHOLE.fullmatch(label)
    return whole[1] if whole else label
