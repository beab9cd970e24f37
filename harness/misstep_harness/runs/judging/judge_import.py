"""Run verdicts that another tool wrote as a judge that is asked nothing.

What cannot be read as a label of the benchmark is unreadable, never a grade. Items that the files say nothing of have
failed. Verdicts on items that the benchmark does not have are left out and counted.
"""

import csv
import hashlib
import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.errors import InputError, MisstepError, UnreadableTrajectory, UsageError
from misstep_harness.items import Question, category_in, read_items, read_question
from misstep_harness.judges.replies import label_meant
from misstep_harness.judges.runnable import RunnableJudge, StoredVerdicts, no_run, offered
from misstep_harness.places import path_text
from misstep_harness.readers import find_files
from misstep_harness.readers.input.decoding import LINE_LIMIT, UNREADABLE, decode_document_or_lines
from misstep_harness.readers.input.streams import is_plain, open_records
from misstep_harness.registry import raised
from misstep_harness.trajectory import Source
from misstep_harness.verdict import Verdict
from misstep_harness.verdict_readers import Place, VerdictReader, WrittenVerdict, known_forms, reader_of, table
from misstep_harness.verdict_readers.written import EVERY, Unit, number_text

_MOST_BYTES = 1 << 30
_DELIMITERS = ",;\t"
_DECLARED = re.compile(r"\Asep=[,;\t](?=[\r\n])")
"""A first line by which spreadsheets are told how cells are separated."""

csv.field_size_limit(max(csv.field_size_limit(), LINE_LIMIT))  # a reason may be long: Python takes 128 KiB in a cell


class WrittenVerdicts(Struct, frozen=True):
    """The contents of the files of verdicts that were named."""

    verdicts: tuple[WrittenVerdict, ...]
    forms: tuple[str, ...]
    skipped: int
    unreadable: tuple[str, ...]
    digest: str


def written_verdicts(path: Path) -> WrittenVerdicts:
    """Return the verdicts in a file, or in all files of a folder that hold some."""
    verdicts: list[WrittenVerdict] = []
    forms: dict[str, None] = {}
    digest = hashlib.sha256()
    cannot_be_read: dict[str, UnreadableTrajectory] = {}
    skipped = 0
    for file in find_files([path]):
        try:
            data = _content(file.path)
            is_json = data.lstrip()[:1] in (b"{", b"[")
            named = path_text(file.path)
            values = list(_json_values(data, file.path)) if is_json else _rows(data, named, named=file.named)
        except UnreadableTrajectory as error:
            if file.named:
                raise
            cannot_be_read[path_text(file.path)] = error
            continue
        reader = reader_of(values[0][1]) if values else None
        if reader is None:
            if file.named:
                raise _unknown(values, path_text(file.path))
            skipped += 1
            continue
        forms[reader.NAME] = None
        digest.update(hashlib.sha256(data).digest())
        for place, value in _of_one_form(values, reader):
            verdicts += _read(reader, value, place)
    if not verdicts and cannot_be_read:
        raise next(iter(cannot_be_read.values()))
    if not verdicts and forms:
        advice = "See whether its samples were scored and written with it."
        raise InputError(f"no verdict in {' and '.join(forms)}", advice, file=path)
    if not verdicts:
        raise InputError("the file has no verdict", _forms(), file=path)
    return WrittenVerdicts(tuple(verdicts), tuple(forms), skipped, tuple(cannot_be_read), digest.hexdigest())


def _read(reader: VerdictReader, value: dict[str, Any], place: Place) -> list[WrittenVerdict]:
    try:
        return list(reader.verdicts(value, place))
    except MisstepError:
        raise
    except Exception as error:
        advice = "Correct what is there, or report this to whoever wrote the reader."
        raise place.error(f"it cannot be read as {reader.NAME}: {raised(error)}", advice) from error


def _content(path: Path) -> bytes:
    """The bytes of a file; of a Parquet file its rows as JSON Lines, or the first where they are not verdicts."""
    file = path_text(path)
    try:
        stream, columns = open_records(path)
        with stream:
            known = columns is None or reader_of(dict.fromkeys(columns, "")) is not None
            data = stream.read_up_to(_MOST_BYTES + 1) if known else stream.readline()
            broken = stream.broken
    except InputError as error:
        raise UnreadableTrajectory(error.found, error.advice, file=file) from error
    if len(data) > _MOST_BYTES:
        raise UnreadableTrajectory(f"the file has more than {_MOST_BYTES >> 30} GiB", "Split the file.", file=file)
    if broken is not None:
        raise UnreadableTrajectory(f"the file ends early: {broken}", "Copy the file again.", file=file)
    return data


def _unknown(values: list[tuple[Place, Any]], file: str) -> InputError:
    if not values:
        return InputError("the file has no row and no JSON value", _forms(), file=file)
    first = values[0][1]
    kind = (
        f"the fields {', '.join(list(first)[:_SHOWN])}" if isinstance(first, dict) else "a value that is not an object"
    )
    return InputError(f"no form of verdicts that is known: it has {kind}", _forms(), file=file)


_SHOWN = 8


def _forms() -> str:
    return f"A table needs the columns item and label. What is read: {known_forms()}."


def _of_one_form(values: list[tuple[Place, Any]], reader: VerdictReader) -> Iterator[tuple[Place, dict[str, Any]]]:
    for place, value in values:
        if not isinstance(value, dict) or not reader.is_own(value):
            raise place.error(f"it does not fit the rest, which is {reader.NAME}", "Correct or remove it.")
        yield place, value


def _json_values(data: bytes, path: Path) -> Iterator[tuple[Place, Any]]:
    """Return the values of JSON Lines, the elements of one list, or one document; an archive has a record a sample."""
    file = path_text(path)
    unit: Unit = "line" if is_plain(path) else "record"
    try:
        decoded = decode_document_or_lines(data, Source("verdicts", file))
    except UnreadableTrajectory as error:
        advice = error.advice or "Copy the file again, or correct what is there."
        raise UnreadableTrajectory(error.found, advice, file=error.file, line=error.line_number) from error
    lines = decoded.values
    if decoded.unfinished is not None:
        message = f"the last line is cut off, after {len(lines):,} whole ones"
        raise UnreadableTrajectory(message, "Copy the file again, or remove that line.", file=file)
    if len(lines) == 1 and isinstance(listed := lines[0][1], list):
        for number, value in enumerate(listed, start=1):
            yield Place(file, number, "record"), value
    else:
        for number, value in lines:
            place = Place(file, number, unit)
            if isinstance(value, dict) and UNREADABLE in value:
                raise place.error(f"the sample cannot be unpacked: {value[UNREADABLE]}", "Copy the file again.")
            yield place, value


def _rows(data: bytes, file: str, *, named: bool) -> list[tuple[Place, Any]]:
    """The rows of a CSV with the names of its header; none of a file in a folder that is not a table of verdicts."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if named:
            raise InputError("not UTF-8", "Save the file as UTF-8.", file=file) from error
        return []
    text = _DECLARED.sub("", text)
    first = next((line for line in io.StringIO(text) if not line.isspace()), "")
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[Place, Any]] = []
    header: list[str] | None = None
    try:
        for cells in reader:
            if not any(map(str.strip, cells)):
                continue
            if header is None:
                header = _header(cells)
                if not named and reader_of(dict.fromkeys(header, "")) is None:
                    return []
                if twice := next((name for name in header if name and header.count(name) > 1), ""):
                    message = f"the header has the column {twice} twice"
                    raise InputError(message, "Rename or remove one.", file=file, line=reader.line_num)
                continue
            place = Place(file, reader.line_num)
            if len(cells) != len(header):
                message = f"{len(cells)} cells where the header has {len(header)}"
                raise place.error(message, "Give each row one cell a column; quote a cell that holds the delimiter.")
            rows.append((place, dict(zip(header, cells, strict=True))))
    except csv.Error as error:
        advice = 'Close every quote, and double a quote inside quotes ("").'
        raise InputError(f"not valid CSV: {error}", advice, file=file, line=reader.line_num) from error
    return rows


def _header(cells: list[str]) -> list[str]:
    names = [name.strip() for name in cells]
    even = [name.casefold() if name.casefold() in table.COLUMNS else name for name in names]
    return even if table.is_own(dict.fromkeys(even, "")) else names


NOT_IN_FILE = "the imported files have no verdict on it"
_TWO, _HALF = 2, 0.5
_MOST_NAMED = 3
_LONGEST = 80
"""Characters of a label that an error shows: it may be a whole reply."""
_FIELDS_SHOWN = 20


class ImportChoice(Struct, frozen=True):
    """The part of the files that is taken.

    - `judge`: The judge; if the files name none, what it is to be called.
    - `labels`: A label of the files → the benchmark's label that it means.
    - `item`: The field that has the ids of the benchmark's items; empty for the tool's own id of an item.
    """

    judge: str = ""
    labels: dict[str, str] = {}
    item: str = ""
    attempt: int = 1


class Imported(Struct, frozen=True):
    """An imported judge, its verdicts, and notes on the import, a sentence each."""

    judge: RunnableJudge
    verdicts: dict[str, Verdict]
    remarks: tuple[str, ...]


def imported_judge(path: Path, benchmark: Path, choice: ImportChoice | None = None) -> Imported:
    """Return the verdicts in a file or folder as a judge of a benchmark."""
    choice = choice or ImportChoice()
    question = read_question(benchmark)
    _check_mapping(choice.labels, question)
    content = written_verdicts(path)
    name, of_judge = _of_judge(content, path, choice.judge)
    chosen = _of_attempt(of_judge, path, choice.attempt)
    by_item: defaultdict[str, list[WrittenVerdict]] = defaultdict(list)
    for one in chosen:
        by_item[_item(one, choice.item)].append(one)
    models = {one.model or "" for one in chosen}
    model = models.pop() if len(models) == 1 else ""
    labels: dict[str, dict[str, str]] = {}
    no_question: list[str] = []
    covered: set[str] = set()
    n_items = 0
    for item in read_items(benchmark):
        n_items += 1
        if item.id in by_item and (question.labels or item.labels or not item.skip_reason):
            labels[item.id] = offered(question.labels, item)
            covered.add(category_in(item.extra))
        elif item.id in by_item:
            no_question.append(item.id)
    of_benchmark = labels.keys() | set(no_question)
    unknown = [item for item in by_item if item not in of_benchmark]
    if not labels:
        raise _all_unknown(next(iter(by_item)), benchmark, path, question)
    read = {
        item: [_as_verdict(item, one, name, known, choice.labels) for one in by_item[item]]
        for item, known in labels.items()
    }
    scored, on_grades = _with_scores(read, by_item)
    verdicts = {item: _verdict(answers, by_item[item]) for item, answers in scored.items()}
    written = {one.label for one in chosen if one.label is not None}
    unused = [theirs for theirs in choice.labels if not any(label_read(label, {theirs: "used"}) for label in written)]
    several = [item for item, answers in by_item.items() if len(answers) > 1]
    lists = (
        ("No verdict has the label that --label maps", "", unused),
        ("Several verdicts on {} count once if they are alike, and otherwise as unreadable", "item", several),
        ("Left out: {} that nobody can be asked about", "item", no_question),
        ("Left out: {} that cannot be read", "file", content.unreadable),
        (f"Left out: {{}} that {question.name} does not have", "item", unknown),
    )
    remarks = (
        f"{path_text(path)}, {' and '.join(content.forms)}, has verdicts of {name} on {len(verdicts):,} of the "
        f"{n_items:,} items of {question.name}.",
        *on_grades,
        *_left_out(content, len(of_judge) - len(chosen), lists),
        *_unread(verdicts, by_item),
    )
    judge = RunnableJudge(
        StoredVerdicts(name, question.labels, verdicts, NOT_IN_FILE),
        {"judge": name} | _settings(content, path, choice) | ({"model": model} if model else {}),
        kind=question.kind,
        model=model,
        asks_model=False,
        covered=frozenset(covered),
        reads_run=no_run,
        # An item that has no verdict and could not have been asked about is not in the run.
        skip_reason=lambda item: "" if item.id in verdicts else item.skip_reason,
    )
    return Imported(judge, verdicts, remarks)


def _settings(content: WrittenVerdicts, path: Path, choice: ImportChoice) -> dict[str, Any]:
    return {
        "imported": ", ".join(content.forms),
        "file": path.name,
        "data_digest": content.digest,
        **({"label_mapping": choice.labels} if choice.labels else {}),
        **({"item_field": choice.item} if choice.item else {}),
        **({"attempt": choice.attempt} if choice.attempt > 1 else {}),
    }


def _item(one: WrittenVerdict, field: str) -> str:
    if not field:
        if not one.item:
            advice = "Write the id that the item has in the benchmark, or name the field that has it with --item."
            raise one.place.error("it names no item", advice, "item")
        return one.item
    if field not in one.names:
        known = f"Fields: {', '.join(islice(one.names, _FIELDS_SHOWN))}." if one.names else "Leave --item out."
        raise one.place.error(f"the item {one.item!r} has no field {field!r}", known)
    return one.names[field].strip()


def _of_attempt(verdicts: Sequence[WrittenVerdict], path: Path, attempt: int) -> Sequence[WrittenVerdict]:
    chosen = [one for one in verdicts if one.attempt == attempt]
    if not chosen:
        known = ", ".join(map(str, sorted({one.attempt for one in verdicts})))
        message = f"{path_text(path)} has no verdict on attempt {attempt}"
        raise UsageError(message, f"Its attempts: {known}; name one by --attempt.")
    return chosen


def _check_mapping(labels: Mapping[str, str], question: Question) -> None:
    wrong = next((ours for ours in labels.values() if question.labels and ours not in question.labels), None)
    if wrong is not None:
        message = f"--label: {wrong!r} is none of the labels of the benchmark {question.name}"
        raise UsageError(message, f"Write THEIRS=OURS, with OURS one of {', '.join(question.labels)}.")


def _of_judge(content: WrittenVerdicts, path: Path, named: str) -> tuple[str, Sequence[WrittenVerdict]]:
    names = list(dict.fromkeys(one.judge for one in content.verdicts if one.judge != EVERY))
    if names in ([""], []):
        return named or path.stem or path.resolve().name, content.verdicts
    if "" in names:
        place = next(one.place for one in content.verdicts if not one.judge)
        raise place.error("it names no judge, and others do", "Name the judge in each row, or in none.", "judge")
    if not named and len(names) > 1:
        message = f"{path_text(path)} has verdicts of {len(names)} judges: {', '.join(names)}"
        raise UsageError(message, "Name one with --judge.")
    if named and named not in names:
        raise UsageError(f"{path_text(path)} has no verdict of the judge {named!r}", f"Its judges: {', '.join(names)}.")
    name = named or names[0]
    return name, [one for one in content.verdicts if one.judge in (name, EVERY)]


def _with_scores(
    read: Mapping[str, Sequence[Verdict]], written: Mapping[str, Sequence[WrittenVerdict]]
) -> tuple[dict[str, list[Verdict]], tuple[str, ...]]:
    """Return the verdicts on each item with their grades as certainties, and a sentence if these are not as written.

    A grade may say how certain a label is, or how much of one of two labels an item has. Where the grades of each label
    are a half or more on the average they are certainties. Where those of two labels are on either side of a half, the
    certainty of the lower label is what is missing to 1. Otherwise nobody can tell, and they are left out. This is
    decided on the benchmark's labels: a spelling or a stray word is none of them.
    """
    grades: defaultdict[str, list[float]] = defaultdict(list)
    pairs = {item: list(zip(answers, written[item], strict=True)) for item, answers in read.items()}
    for answer, one in (pair for of_item in pairs.values() for pair in of_item):
        if one.grade is not None and answer.label is not None:
            grades[answer.label].append(one.grade)
    means = sorted((fmean(own), label) for label, own in grades.items())
    shares = all(0 <= grade <= 1 for own in grades.values() for grade in own)
    turned = means[0][1] if shares and len(means) == _TWO and means[0][0] < _HALF <= means[1][0] else None
    decided = turned is not None or (shares and all(mean >= _HALF for mean, _ in means))
    note: tuple[str, ...] = ()
    if turned is not None:
        whole = means[1][1]
        note = (f"A score of the file says how much {whole!r} an item is: 1 less it is that of {turned!r}.",)
    elif not decided:
        shown = ", ".join(f"{mean:.2f} with {label!r}" for mean, label in means[:_MOST_NAMED])
        note = (
            f"Left out: the scores, which may say how certain a label is or something else (on the average {shown}). "
            "Write certainties from 0 to 1 into the column score of a table with item and label.",
        )

    def scored(answer: Verdict, grade: float | None) -> Verdict:
        if grade is None or answer.label is None:
            return answer
        certainty = round(1 - grade, 9) if answer.label == turned else grade
        return replace(answer, score=certainty if decided else None)

    return {item: [scored(answer, one.grade) for answer, one in of_item] for item, of_item in pairs.items()}, note


def _verdict(read: Sequence[Verdict], answers: Sequence[WrittenVerdict]) -> Verdict:
    """Return the verdict on an item: unreadable if its labels differ, without a score if only scores differ."""
    if len({(one.status, one.label) for one in read}) == 1:
        return read[0] if len({one.score for one in read}) == 1 else replace(read[0], score=None)
    files = len({one.place.file for one in answers})
    labels_read = ", ".join(
        f"{'no label' if one.label is None else _short(one.label)} in "
        f"{f'{one.place.file}, ' if files > 1 else ''}{one.place}"
        for one in answers[: _MOST_NAMED + 1]
    )
    error = f"the files answer it {len(answers)} times, and not alike: {labels_read}"
    return Verdict(read[0].item, read[0].judge, None, "unreadable", model=answers[0].model, error=error)


def _as_verdict(
    item: str, one: WrittenVerdict, judge: str, labels: Mapping[str, str], mapping: Mapping[str, str]
) -> Verdict:
    if one.label is None:
        error = f"{one.error}; the file counts it as {one.written_as}" if one.written_as else one.error
        return Verdict(item, judge, None, one.status, rationale=one.rationale, model=one.model, error=error)
    meant = {known: known for known in labels} | dict(mapping)
    label = label_read(one.label, meant)
    if label not in labels:
        error = f"the label {_short(one.label)} is none of {', '.join(labels)}"
        return Verdict(item, judge, None, "unreadable", rationale=one.rationale, model=one.model, error=error)
    return Verdict(item, judge, label, score=one.score, rationale=one.rationale, model=one.model)


def label_read(written: str, meant: Mapping[str, str]) -> str | None:
    """Return the label that a cell of a file means; a whole number may be written as `1.0`, there and in a mapping."""
    by_number = {number: label for name, label in meant.items() if (number := number_text(name))}
    return label_meant(written, meant) or by_number.get(number_text(written))


def _short(label: str) -> str:
    return repr(label) if len(label) <= _LONGEST else f"{label[:_LONGEST]!r}…"


def _all_unknown(first: str, benchmark: Path, path: Path, question: Question) -> InputError:
    item = next(read_items(benchmark), None)
    has = "none" if item is None else repr(item.id)
    message = (
        f"no verdict is on an item of the benchmark {question.name}: the file has {first!r}, the benchmark has {has}"
    )
    advice = "Name the field that has the ids of the benchmark's items with --item, or write them into the file."
    return InputError(message, advice, file=path, field="item")


def _left_out(
    content: WrittenVerdicts, attempts: int, lists: Sequence[tuple[str, str, Sequence[str]]]
) -> Iterator[str]:
    """Say of files, attempts, and lists of names (sentence, noun, names) how many there are, and name the first."""
    if content.skipped:
        yield f"Left out: {_counted(content.skipped, 'file')} without verdicts."
    if attempts:
        yield f"Left out: {_counted(attempts, 'verdict')} on other attempts, which --attempt takes."
    for sentence, noun, names in lists:
        if names:
            first = ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")
            yield f"{sentence.format(_counted(len(names), noun))}: {first}."


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _unread(verdicts: Mapping[str, Verdict], by_item: Mapping[str, Sequence[WrittenVerdict]]) -> Iterator[str]:
    unread = [item for item, verdict in verdicts.items() if verdict.status == "unreadable"]
    if unread:
        errors = Counter(verdicts[item].error or "" for item in unread)
        shown = "; ".join(f"{error} ({count:,})" for error, count in errors.most_common(_MOST_NAMED))
        shown += "; and others" if len(errors) > _MOST_NAMED else ""
        yield f"{len(unread):,} of these cannot be read as a label and count as unreadable: {shown}."
    counted = Counter(one.written_as for item in verdicts for one in by_item[item][:1] if one.written_as)
    for grade, count in counted.items():
        yield f"The file counts {count:,} of them as {grade}, which no judge said."
