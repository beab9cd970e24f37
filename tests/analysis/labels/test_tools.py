"""Exports of annotation tools are recognised by what they hold, and what is not a rating is left out and named."""

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from misstep_analysis.labels import read_labels
from misstep_harness.errors import InputError, UsageError
from tests.analysis.labels.shown import given, read, read_several

EXPECTED = {"1": {"7": "agent", "8": "agent"}, "2": {"7": "task", "8": "agent"}}


def choice(question: str, *labels: str) -> dict[str, Any]:
    return {
        "id": "x1",
        "type": "choices",
        "from_name": question,
        "to_name": "text",
        "value": {"choices": list(labels)},
    }


def annotation(who: Any, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": 101,
        "completed_by": who,
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2026-03-09T22:16:08.728353Z",
        "updated_at": "2026-03-09T22:16:08.728378Z",
        "lead_time": 4.2,
        "result": list(results),
    } | more


def tasks(*annotations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"id": number, "data": {"text": f"run {number}"}, "annotations": one, "predictions": []}
        for number, one in enumerate(annotations, start=1)
    ]


LABEL_STUDIO = tasks(
    [annotation(7, choice("cause", "agent")), annotation(8, choice("cause", "agent"))],
    [annotation(7, choice("cause", "task")), annotation(8, choice("cause", "agent"))],
)


def prodigy(item: int, who: str, **more: Any) -> dict[str, Any]:
    return {
        "text": f"run {item}",
        "_input_hash": item,
        "_task_hash": -item,
        "_session_id": f"runs-{who}",
        "_annotator_id": who,
        "_timestamp": 1_700_000_000 + item,
        "answer": "accept",
    } | more


def chosen(item: int, who: str, *labels: str, **more: Any) -> dict[str, Any]:
    options = [{"id": label, "text": label} for label in ("agent", "task")]
    return prodigy(item, who, options=options, accept=list(labels), _view_id="choice", **more)


PRODIGY = [chosen(1, "7", "agent"), chosen(1, "8", "agent"), chosen(2, "7", "task"), chosen(2, "8", "agent")]


def argilla(item: int, **answers: str) -> dict[str, Any]:
    responses = [{"value": label, "user_id": user} for user, label in answers.items()]
    return {"id": str(item), "fields": {"text": "run"}, "metadata": {}, "suggestions": {}, "vectors": {}} | {
        "responses": {"cause": responses}
    }


ARGILLA = [argilla(1, **{"7": "agent", "8": "agent"}), argilla(2, **{"7": "task", "8": "agent"})]
ARGILLA_USERS = [
    {
        "id": item,
        "fields": {},
        "responses": [
            {"user_id": user, "status": "submitted", "values": {"cause": {"value": label}}}
            for user, label in answers.items()
        ],
    }
    for item, answers in EXPECTED.items()
]
ARGILLA_COLUMNS = [
    {
        "id": item,
        "status": "completed",
        "text": "run",
        "cause.responses": list(answers.values()),
        "cause.responses.users": list(answers),
        "cause.responses.status": ["submitted"] * len(answers),
        "cause.suggestion": None,
    }
    for item, answers in EXPECTED.items()
]
ARGILLA_QUESTIONS = [
    {
        "external_id": item,
        "text": "run",
        "cause": [{"user_id": user, "value": label, "status": "submitted"} for user, label in answers.items()],
    }
    for item, answers in EXPECTED.items()
]


DOCCANO_USERS = [
    {"id": int(item), "text": "run", "annotations": [{"label": label, "user": int(user)} for user, label in of.items()]}
    | {"meta": {}, "annotation_approver": None}
    for item, of in EXPECTED.items()
]
DOCCANO_BY_NAME = [
    {"id": int(item), "text": "run", "labels": {user: [label] for user, label in of.items()}, "Comments": []}
    for item, of in EXPECTED.items()
]


def doccano_archive(chosen: str = "label", ending: str = "jsonl") -> bytes:
    """What Doccano exports: a file an annotator in a zip archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for user in ("7", "8"):
            texts = [
                {"id": int(item), "text": f"run {item}", chosen: [of[user]], "Comments": ["unsure"], "case": f"c{item}"}
                for item, of in EXPECTED.items()
            ]
            archive.writestr(f"{user}.{ending}", lines(texts) if ending == "jsonl" else json.dumps(texts))
        archive.writestr("unknown.jsonl", "")
    return packed.getvalue()


def lines(values: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


@pytest.mark.parametrize(
    ("tool", "content"),
    [
        ("Label Studio", json.dumps(LABEL_STUDIO)),
        ("Label Studio", json.dumps(LABEL_STUDIO, indent=2)),
        ("Label Studio", json.dumps(LABEL_STUDIO).replace('"annotations"', '"completions"')),
        ("Prodigy", lines(PRODIGY)),
        ("Prodigy", json.dumps(PRODIGY)),
        ("Argilla", json.dumps(ARGILLA)),
        ("Argilla", lines(ARGILLA_USERS)),
        ("Argilla", lines(ARGILLA_COLUMNS)),
        ("Argilla", json.dumps(ARGILLA_QUESTIONS)),
        ("Doccano", doccano_archive()),
        ("Doccano", doccano_archive("labels", "json")),
        ("Doccano", lines(DOCCANO_USERS)),
        ("Doccano", lines(DOCCANO_BY_NAME)),
    ],
)
def test_an_export_is_recognised_whatever_its_file_is_called(tmp_path: Path, tool: str, content: str | bytes) -> None:
    labels = read(tmp_path / "labels.csv", content)
    assert given(labels) == EXPECTED
    assert labels.remarks == [f"read as an export of {tool}"]


def test_spans_and_texts_without_a_label_are_no_ratings_of_doccano_and_the_file_is_the_annotators(tmp_path) -> None:
    texts = [
        {"id": 1, "text": "run", "label": ["agent", "late"], "Comments": []},
        {"id": 2, "text": "run", "label": [], "Comments": []},
        {"id": 3, "text": "run", "label": [[0, 3, "agent"]], "Comments": []},
        {"id": 4, "text": "run", "entities": [{"id": 1, "label": "a", "start_offset": 0, "end_offset": 3}]},
    ]
    labels = read(tmp_path / "ann.jsonl", lines(texts), fewest_raters=1)
    assert given(labels) == {"1": {"ann": "agent + late"}}
    assert "not counted as ratings: spans and entities in texts (2), texts without a label (1)" in labels.remarks


def test_doccano_has_pictures_and_slots_and_texts_with_a_user_of_their_own(tmp_path: Path) -> None:
    texts = [
        {"id": 1, "filename": "run.png", "label": ["agent"], "Comments": []},
        {"id": 2, "text": "run", "cats": ["late"], "entities": [[0, 3, "agent"]], "Comments": []},
        {"id": 3, "text": "run", "label": ["agent"], "username": "author", "user": 7},
    ]
    labels = read(tmp_path / "ann.jsonl", lines(texts), fewest_raters=1)
    assert given(labels) == {"1": {"ann": "agent"}, "2": {"ann": "late"}, "3": {"ann": "agent"}}


def test_the_item_of_doccano_may_stand_in_the_metadata(tmp_path: Path) -> None:
    labels = read(tmp_path / "export.zip", doccano_archive(), item="case")
    assert given(labels) == {f"c{item}": of for item, of in EXPECTED.items()}


def test_skipped_annotations_predictions_and_regions_are_no_ratings(tmp_path: Path) -> None:
    region = {"type": "labels", "from_name": "cause", "value": {"start": 3, "end": 9, "labels": ["agent"]}}
    text = {"type": "textarea", "from_name": "why", "value": {"text": ["because"]}}
    export = json.loads(json.dumps(LABEL_STUDIO))
    export[0]["annotations"] += [annotation(9, choice("cause", "task"), was_cancelled=True), annotation(9)]
    export[0]["annotations"][0]["result"] += [region, text]
    export[1]["predictions"] = [{"model_version": "m", "result": [choice("cause", "task")]}]
    labels = read(tmp_path / "export.json", json.dumps(export))
    assert given(labels) == EXPECTED
    assert labels.remarks[1] == (
        "not counted as ratings: annotations without an answer (1), "
        "answers that are neither choices nor numbers (1), predictions of models (1), "
        "regions, such as spans and boxes (1), skipped annotations (1)"
    )


def test_ratings_numbers_taxonomies_and_several_choices_are_labels(tmp_path: Path) -> None:
    def answers(stars: int, *choices: str) -> tuple[dict[str, Any], ...]:
        return (
            {"type": "rating", "from_name": "stars", "value": {"rating": stars}},
            {"type": "number", "from_name": "steps", "value": {"number": 2.0}},
            {"type": "taxonomy", "from_name": "where", "value": {"taxonomy": [["tool", "shell"]]}},
            choice("causes", *choices),
        )

    export = tasks([annotation(7, *answers(4, "task", "agent")), annotation(8, *answers(5, "agent", "task"))])
    result, _ = read_several(tmp_path / "export.json", json.dumps(export), by="question")
    assert {name: given(labels)["1"] for name, labels in result.items()} == {
        "stars": {"7": "4", "8": "5"},
        "steps": {"7": "2", "8": "2"},
        "where": {"7": "tool / shell", "8": "tool / shell"},
        "causes": {"7": "agent + task", "8": "agent + task"},
    }


def test_which_of_a_pair_was_selected_is_a_label(tmp_path: Path) -> None:
    selected = [choice("pair") | {"type": "pairwise", "value": {"selected": side}} for side in ("left", "right")]
    rows = tasks([annotation(1, selected[0]), annotation(2, selected[1])])
    assert read(tmp_path / "labels", json.dumps(rows)).categories == ["left", "right"]


def test_an_export_of_several_questions_asks_for_one_and_reads_the_one_that_is_named(tmp_path: Path) -> None:
    both = (choice("cause", "agent"), choice("severity", "high"))
    content = json.dumps(tasks([annotation(7, *both), annotation(8, *both)]))
    with pytest.raises(InputError, match="it answers 2 questions: 'cause', 'severity'") as asked:
        read(tmp_path / "export.json", content)
    assert asked.value.advice == "Measure one with --label NAME, or each of them with --by question."
    assert given(read(tmp_path / "export.json", content, labels=["severity"])) == {"1": {"7": "high", "8": "high"}}
    with pytest.raises(UsageError, match="has no question 'colour'"):
        read(tmp_path / "export.json", content, labels=["colour"])
    with pytest.raises(UsageError, match="--rater has no meaning for an export of Label Studio"):
        read(tmp_path / "export.json", content, rater="who")


def test_an_annotation_without_an_annotator_is_named_with_its_place(tmp_path: Path) -> None:
    export = tasks([annotation(7, choice("cause", "a"))], [annotation(None, choice("cause", "a"))])
    with pytest.raises(InputError, match=r"export\.json: record 2: a rating without an annotator"):
        read(tmp_path / "export.json", json.dumps(export))
    nobody = {"_annotator_id": None, "_session_id": None}
    with pytest.raises(InputError, match=r"export\.json:2: a rating without an annotator"):
        read(tmp_path / "export.json", lines([PRODIGY[0], PRODIGY[1] | nobody]))


def test_a_second_annotation_of_one_annotator_is_named_with_its_place(tmp_path: Path) -> None:
    export = tasks(*[[annotation(7, choice("cause", "a")), annotation(8, choice("cause", "a"))] * 2])
    with pytest.raises(InputError, match=r"record 1: '7' rated '1' in record 1 already"):
        read(tmp_path / "export.json", json.dumps(export))


CSV = """"annotation_id","annotator","cause","created_at","id","lead_time","notes","text","updated_at","was_cancelled"
11,7,"agent","2026-05-01T10:00:00Z",1,3.5,"","it stopped at step 1","2026-05-01T10:00:09Z","False"
12,8,"agent","2026-05-01T10:01:00Z",1,4.5,"","it stopped at step 1","2026-05-01T10:01:09Z","False"
13,7,"{""choices"": [""task""]}","2026-05-01T10:02:00Z",2,5.5,"","it looped at step 2","2026-05-01T10:02:09Z","False"
14,8,"agent","2026-05-01T10:03:00Z",2,6.5,"see step 2","it looped at step 2","2026-05-01T10:03:09Z","False"
15,9,"","2026-05-01T10:04:00Z",2,6.5,"","it looped at step 2","2026-05-01T10:04:09Z","True"
"""


HEADER = next(csv.reader(CSV.splitlines()))


def test_a_csv_of_label_studio_is_read_as_one_rating_a_row_without_skipped_annotations(tmp_path: Path) -> None:
    labels = read(tmp_path / "export.csv", CSV)
    assert given(labels) == EXPECTED
    assert labels.remarks[:3] == [
        "read as an export of Label Studio with one annotation a row",
        "not counted as ratings: skipped annotations (1)",
        "read as one rating a row: items in 'id', raters in 'annotator', labels in 'cause'",
    ]


def test_a_csv_of_label_studio_may_hold_ratings_and_several_choices_as_json(tmp_path: Path) -> None:
    content = CSV.replace('"agent"', '"[{""rating"": 4}]"').replace('[""task""]', '[""b"", ""a""]')
    assert read(tmp_path / "export.csv", content).categories == ["4", "a + b"]


def test_the_short_json_of_label_studio_is_read_like_its_csv(tmp_path: Path) -> None:
    rows = [dict(zip(HEADER, row, strict=True)) for row in csv.reader(CSV.splitlines()[1:])]
    labels = read(tmp_path / "export.json", json.dumps([row | {"id": int(row["id"])} for row in rows]))
    assert given(labels) == EXPECTED


def test_prodigy_tasks_without_a_choice_are_no_ratings(tmp_path: Path) -> None:
    more = [
        chosen(3, "7", answer="ignore"),
        chosen(4, "7", "task", answer="reject"),
        chosen(5, "7"),
        prodigy(6, "7", _view_id="ner_manual", spans=[{"start": 0, "end": 3, "label": "X"}]),
    ]
    labels = read(tmp_path / "out.jsonl", lines(PRODIGY + more))
    assert given(labels) == EXPECTED
    assert labels.remarks[1] == (
        "not counted as ratings: choices that were rejected or left empty (2), ignored tasks (1), "
        "spans or relations of tasks (1), tasks without a label of the whole item (1)"
    )


def test_argilla_responses_that_were_not_submitted_are_no_ratings(tmp_path: Path) -> None:
    records = json.loads(json.dumps(ARGILLA_USERS))
    records[0]["responses"] += [{"user_id": "9", "status": "draft", "values": {"cause": {"value": "task"}}}]
    ranking = [{"rank": 1, "value": "a"}, {"rank": 2, "value": "b"}]
    records[1]["responses"][0]["values"]["order"] = {"value": ranking}
    labels = read(tmp_path / "records.json", json.dumps(records))
    assert given(labels) == EXPECTED
    assert labels.remarks[1] == (
        "not counted as ratings: responses that are rankings or spans (1), responses that were not submitted (1)"
    )


def test_an_answered_and_an_unanswered_record_are_of_one_export_of_argilla(tmp_path: Path) -> None:
    def record(number: str, *users: str) -> dict[str, Any]:
        answers = [{"user_id": who, "value": EXPECTED[number][who], "status": "submitted"} for who in users]
        none = {"type": None, "score": None, "agent": None}
        beside = {"cause-suggestion": None, "cause-suggestion-metadata": none, "external_id": number}
        return {"text": "run", "cause": answers, **beside, "metadata": "{}"}

    records = [record("1", "7", "8"), record("2", "7", "8"), record("1") | {"external_id": "3"}]
    assert given(read(tmp_path / "records.jsonl", lines(records))) == EXPECTED


@pytest.mark.parametrize(
    ("form", "where"), [(json.dumps, "record 3: it does not fit"), (lines, r"json:3: it does not")]
)
def test_an_object_that_is_none_of_an_export_is_named_and_not_all_of_it_read_as_a_table(tmp_path, form, where) -> None:
    with pytest.raises(InputError, match=f"{where}.*an export of Label Studio"):
        read(tmp_path / "tasks.json", form([*LABEL_STUDIO, {"id": 9, "data": {"text": "run 9"}}]))


def test_objects_in_the_one_list_of_a_document_are_its_records(tmp_path: Path) -> None:
    rows = [{"item": "1", "ann": "yes", "ben": "no"}, {"item": "2", "ann": "no", "ben": "no"}]
    labels = read(tmp_path / "answer.json", json.dumps({"data": rows, "meta": {"page": 1}}))
    assert given(labels) == {"1": {"ann": "yes", "ben": "no"}, "2": {"ann": "no", "ben": "no"}}


def test_plain_objects_are_a_table(tmp_path: Path) -> None:
    rows = [
        {"sample_id": item, "annotator": who, "label": label, "data": {"text": "run"}}
        for item, answers in EXPECTED.items()
        for who, label in answers.items()
    ]
    labels = read(tmp_path / "rows.jsonl", lines(rows))
    assert given(labels) == EXPECTED
    assert "not looked at, as it holds objects: 'data'" in labels.remarks


@pytest.mark.parametrize("form", [json.dumps, lines])
def test_what_python_writes_for_a_missing_value_is_a_missing_label(tmp_path: Path, form: Any) -> None:
    rows = [{"item": "1", "ann": "yes", "ben": "no"}, {"item": "2", "ann": "no", "ben": float("nan")}]
    labels = read(tmp_path / "labels.json", form(rows))
    assert (labels.categories, labels.codes.tolist()) == (["no", "yes"], [[1, 0], [0, -1]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1, 2]", "no labels"),
        ('[{"a": NaN}, {', "not valid JSON"),
        ('[{"a": 1}, 2]', "record 2: not an object"),
        ('{"a": 1}\n{"a": \n', r"labels\.json:2: not valid JSON"),
        ('{"a": 1}\n[]\n', r"labels\.json:2: not an object"),
        ('[{"a": 1}', "not valid JSON"),
        ("[]", "no labels: an empty list"),
        ('{"item": "1"}', "one column, 'item'"),
        ("[" * 100_000, "no labels"),
    ],
)
def test_json_that_cannot_be_understood_is_named_with_its_place(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path / "labels.json", content)


def test_the_folder_of_doccanos_files_is_read_as_its_archive(tmp_path: Path) -> None:
    folder = tmp_path / "unpacked"
    folder.mkdir()
    with zipfile.ZipFile(io.BytesIO(doccano_archive())) as archive:
        archive.extractall(folder)
    (folder / "README.txt").write_text("exported")
    packed = read(tmp_path / "export.zip", doccano_archive())
    unpacked = read_labels(folder)
    assert (unpacked.items, unpacked.raters) == (packed.items, packed.raters)
    assert unpacked.codes.tolist() == packed.codes.tolist()
    assert unpacked.remarks == packed.remarks == ["read as an export of Doccano"]
    (folder / "._ann.jsonl").write_bytes(b"\0\5\x16\7Mac OS X")
    assert read_labels(folder).raters == packed.raters, "macOS puts a file of its own beside each"
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(InputError, match="a folder without such files"):
        read_labels(other)
