"""Verdicts of other tools as a judge: what is a label, what is unreadable, what has failed, and what is left out."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.errors import InputError, UsageError
from misstep_harness.items import read_items
from misstep_harness.runs.judging.judge_import import NOT_IN_FILE, ImportChoice, Imported, imported_judge
from misstep_harness.verdict import Verdict
from tests.misstep.made_up_judges import benchmark

TEXTS = ("an apple", "a leek", "two apples", "a carrot")


@pytest.fixture
def plants(tmp_path: Path) -> Path:
    """Four items, i0 to i3, with the labels fruit and vegetable."""
    return benchmark(tmp_path / "plants", TEXTS)


def table(folder: Path, *rows: str, name: str = "theirs.csv", header: str = "item,label") -> Path:
    file = folder / name
    file.write_text("".join(f"{row}\n" for row in (header, *rows)))
    return file


def verdicts(imported: Imported, plants: Path) -> dict[str, Verdict]:
    """What the judge says of each item of the benchmark."""

    async def ask(item: Any) -> Verdict:
        return await imported.judge.verdict(item, None, None)

    return {item.id: asyncio.run(ask(item)) for item in read_items(plants)}


def test_labels_are_read_in_any_letter_case_and_items_that_lack_a_verdict_have_failed(tmp_path, plants) -> None:
    imported = imported_judge(table(tmp_path, "i0,Fruit", "i1,vegetable "), plants)
    result = verdicts(imported, plants)
    assert [result[item].label for item in ("i0", "i1")] == ["fruit", "vegetable"]
    assert [(result[item].status, result[item].error) for item in ("i2", "i3")] == [("failed", NOT_IN_FILE)] * 2
    assert imported.judge.name == "theirs"
    assert imported.remarks == (
        f"{tmp_path / 'theirs.csv'}, a table of verdicts, has verdicts of theirs on 2 of the 4 items of plants.",
    )


def test_what_is_no_label_is_unreadable_and_counted_and_never_a_grade(tmp_path: Path, plants: Path) -> None:
    imported = imported_judge(table(tmp_path, "i0,berry", "i1,", "i2,berry", "i3,vegetable"), plants)
    assert [one.status for one in verdicts(imported, plants).values()] == [*["unreadable"] * 3, "answered"]
    assert imported.remarks[1] == (
        "3 of these cannot be read as a label and count as unreadable: the label 'berry' is none of fruit, vegetable "
        "(2); the label is empty (1)."
    )


def test_a_mapping_says_what_their_labels_mean(tmp_path: Path, plants: Path) -> None:
    file = table(tmp_path, "i0,1", "i1,0", "i2,fruit")
    imported = imported_judge(file, plants, ImportChoice(labels={"1": "fruit", "0": "vegetable"}))
    result = verdicts(imported, plants)
    assert [result[item].label for item in ("i0", "i1", "i2")] == ["fruit", "vegetable", "fruit"]
    assert imported.judge.settings["label_mapping"] == {"1": "fruit", "0": "vegetable"}
    with pytest.raises(UsageError, match="'berry' is none of the labels of the benchmark plants"):
        imported_judge(file, plants, ImportChoice(labels={"1": "berry"}))


def test_a_mapping_leaves_letter_case_aside_may_turn_labels_round_and_is_said_where_no_verdict_needs_it(
    tmp_path: Path, plants: Path
) -> None:
    file = table(tmp_path, "i0,Vegetable", "i1,PASS")
    labels = {"vegetable": "fruit", "fruit": "vegetable", "pass": "fruit"}
    imported = imported_judge(file, plants, ImportChoice(labels=labels))
    assert [one.label for one in verdicts(imported, plants).values()] == ["fruit", "fruit", None, None]
    assert imported.remarks[1] == "No verdict has the label that --label maps: fruit."


def test_an_item_answered_twice_has_a_label_only_where_both_say_it(tmp_path: Path, plants: Path) -> None:
    file = table(tmp_path, "i0,fruit", "i0,FRUIT", "i1,fruit", "i1,vegetable")
    imported = imported_judge(file, plants)
    said = verdicts(imported, plants)
    assert imported.remarks[1].startswith("Several verdicts on 2 items count once if they are alike")
    assert said["i0"].label == "fruit"
    assert said["i1"].status == "unreadable"
    assert said["i1"].error == ("the files answer it 2 times, and not alike: 'fruit' in line 4, 'vegetable' in line 5")


def test_of_files_that_answer_an_item_differently_each_is_named(tmp_path: Path, plants: Path) -> None:
    (tmp_path / "both").mkdir()
    table(tmp_path / "both", "i0,fruit", name="1.csv")
    table(tmp_path / "both", "i0,vegetable", name="2.csv")
    error = verdicts(imported_judge(tmp_path / "both", plants), plants)["i0"].error or ""
    assert "1.csv, line 2" in error
    assert "2.csv, line 2" in error


def test_a_number_means_the_same_however_it_is_written_and_a_reply_is_not_quoted_whole(tmp_path, plants) -> None:
    file = table(tmp_path, "i0,1.0", "i1,1", f"i2,{'I think that ' * 90}", "i3,1.5")
    imported = imported_judge(file, plants, ImportChoice(labels={"1": "fruit"}))
    assert [one.label for one in verdicts(imported, plants).values()] == ["fruit", "fruit", None, None]
    assert len(imported.remarks[1]) < 300


def test_items_of_another_benchmark_are_left_out_and_said_and_an_error_where_there_are_no_others(tmp_path, plants):
    imported = imported_judge(table(tmp_path, "i0,fruit", "x1,fruit", "x2,fruit"), plants)
    assert imported.remarks[1] == "Left out: 2 items that plants does not have: x1, x2."
    with pytest.raises(
        InputError, match=r"theirs\.csv: item: no verdict is on an item of the benchmark plants: .*'x1'"
    ):
        imported_judge(table(tmp_path, "x1,fruit"), plants)


def test_of_several_judges_one_is_named(tmp_path: Path, plants: Path) -> None:
    file = table(tmp_path, "i0,fruit,a", "i0,vegetable,b", header="item,label,judge")
    assert verdicts(imported_judge(file, plants, ImportChoice("b")), plants)["i0"].label == "vegetable"
    with pytest.raises(UsageError, match=r"has verdicts of 2 judges: a, b\. Name one with --judge"):
        imported_judge(file, plants)
    with pytest.raises(UsageError, match=r"has no verdict of the judge 'c'\. Its judges: a, b"):
        imported_judge(file, plants, ImportChoice("c"))
    mixed = table(tmp_path, "i0,fruit,a", "i1,fruit,", header="item,label,judge")
    with pytest.raises(InputError, match=r"theirs\.csv:3: judge: it names no judge, and others do"):
        imported_judge(mixed, plants)


def test_a_folder_is_read_file_by_file_and_what_holds_no_verdicts_is_counted(tmp_path: Path, plants: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    table(folder, "i0,fruit", name="1.csv")
    table(folder, "i1,vegetable", name="2.csv")
    (folder / "README.md").write_text("# Our results\n\nSee the tables, they are new.\n")
    (folder / "cut.json").write_text('{"item": "i2", ')
    (folder / "log.bin").write_bytes(b"\xff\x00\xfe")
    imported = imported_judge(folder, plants)
    assert sum(one.status == "answered" for one in verdicts(imported, plants).values()) == 2
    assert imported.remarks[1:] == (
        "Left out: 2 files without verdicts.",
        f"Left out: 1 file that cannot be read: {folder / 'cut.json'}.",
    )


def test_the_ids_of_the_benchmark_may_stand_in_another_field(tmp_path: Path, plants: Path) -> None:
    file = table(tmp_path, "7,fruit,i0", "8,vegetable,i1", header="item,label,case")
    result = verdicts(imported_judge(file, plants, ImportChoice(item="case")), plants)
    assert [result[item].label for item in ("i0", "i1")] == ["fruit", "vegetable"]
    with pytest.raises(InputError, match=r"theirs\.csv:2: the item '7' has no field 'id'\. Fields: item, label, case"):
        imported_judge(file, plants, ImportChoice(item="id"))


@pytest.mark.parametrize(
    ("grades", "certainties", "turned"),
    [
        ({"i0": ("fruit", 0.9), "i1": ("vegetable", 0.2), "i2": ("fruit", 0.4)}, [0.9, 0.8, 0.4], True),
        ({"i0": ("fruit", 0.9), "i1": ("vegetable", 0.7), "i2": ("fruit", 0.4)}, [0.9, 0.7, 0.4], False),
        ({"i0": ("fruit", 0.9), "i1": ("fruit", None), "i2": ("fruit", 0.1)}, [0.9, None, 0.1], False),
    ],
    ids=["how much fruit it is", "how sure it is", "one label"],
)
def test_a_score_of_unknown_meaning_is_turned_round_where_it_says_how_much_of_one_label_an_item_has(
    tmp_path: Path, plants: Path, grades: dict[str, Any], certainties: list[float | None], turned: bool
) -> None:
    rows = [{"span_id": item, "label": label, "score": grade} for item, (label, grade) in grades.items()]
    (tmp_path / "frame.json").write_text(json.dumps(rows))
    imported = imported_judge(tmp_path / "frame.json", plants)
    assert [verdicts(imported, plants)[item].score for item in grades] == certainties
    assert any("1 less it is that of 'vegetable'" in remark for remark in imported.remarks) == turned


@pytest.mark.parametrize(
    ("stray", "mapping"),
    [("Vegetable", {}), ("veg", {"veg": "vegetable"}), ("berry", {})],
    ids=["another spelling", "a label that --label maps", "no label of the benchmark"],
)
def test_one_stray_label_leaves_the_direction_of_the_scores_as_it_is(
    tmp_path: Path, plants: Path, stray: str, mapping: dict[str, str]
) -> None:
    rows = [("i0", "fruit", 0.9), ("i1", "vegetable", 0.2), ("i2", "vegetable", 0.1), ("i3", stray, 0.3)]
    frame = [{"span_id": item, "label": label, "score": grade} for item, label, grade in rows]
    (tmp_path / "frame.json").write_text(json.dumps(frame))
    result = verdicts(imported_judge(tmp_path / "frame.json", plants, ImportChoice(labels=mapping)), plants)
    assert [result[item].score for item in ("i0", "i1", "i2")] == [0.9, 0.8, 0.9]
    assert result["i3"].score == (None if stray == "berry" else 0.7)


def test_scores_whose_meaning_nobody_can_tell_are_left_out_and_named(tmp_path: Path, plants: Path) -> None:
    frame = [{"span_id": item, "label": "vegetable", "score": 0.1} for item in ("i0", "i1")]
    (tmp_path / "frame.json").write_text(json.dumps(frame))
    imported = imported_judge(tmp_path / "frame.json", plants)
    assert [verdicts(imported, plants)[item].score for item in ("i0", "i1")] == [None, None]
    assert any("Left out: the scores" in remark and "0.10 with 'vegetable'" in remark for remark in imported.remarks)


def test_an_item_that_nobody_can_be_asked_about_does_not_stop_the_others(tmp_path: Path) -> None:
    folder = tmp_path / "who"
    folder.mkdir()
    (folder / "benchmark.toml").write_text('name = "who"\nkind = "text"\n')
    items = [{"id": "i0", "text": "a", "labels": ["Ann", "Ben"]}, {"id": "i1", "text": "b", "unaskable": "no speaker"}]
    (folder / "items.jsonl").write_text("".join(json.dumps({"kind": "text"} | item) + "\n" for item in items))
    imported = imported_judge(table(tmp_path, "i0,Ann", "i1,Ben"), folder)
    assert imported.verdicts.keys() == {"i0"}
    assert imported.remarks[1] == "Left out: 1 item that nobody can be asked about: i1."


def test_an_attempt_at_each_item_is_taken_and_the_others_are_said(tmp_path: Path, plants: Path) -> None:
    samples = [{"id": "i0", "epoch": n, "scores": {"graded": {"value": v}}} for n, v in ((1, "fruit"), (2, "berry"))]
    (tmp_path / "log.json").write_text(json.dumps({"version": 2, "eval": {"task": "t"}, "samples": samples}))
    first = imported_judge(tmp_path / "log.json", plants)
    assert verdicts(first, plants)["i0"].label == "fruit"
    assert first.remarks[1] == "Left out: 1 verdict on other attempts, which --attempt takes."
    second = imported_judge(tmp_path / "log.json", plants, ImportChoice(attempt=2, labels={"berry": "fruit"}))
    assert verdicts(second, plants)["i0"].label == "fruit"
    with pytest.raises(UsageError, match=r"has no verdict on attempt 3\. Its attempts: 1, 2"):
        imported_judge(tmp_path / "log.json", plants, ImportChoice(attempt=3))


def test_a_grade_that_a_tool_counts_for_a_missing_answer_is_named(tmp_path: Path, plants: Path) -> None:
    score = {"value": "I", "explanation": "Grade not found in model output: perhaps"}
    samples = [{"id": item, "epoch": 1, "scores": {"graded": score}} for item in ("i0", "i1")]
    (tmp_path / "log.json").write_text(json.dumps({"version": 2, "eval": {"task": "t"}, "samples": samples}))
    imported = imported_judge(tmp_path / "log.json", plants, ImportChoice(labels={"I": "vegetable"}))
    assert verdicts(imported, plants)["i0"].error == "the reply of the grader has no grade; the file counts it as I"
    assert imported.remarks[-1] == "The file counts 2 of them as I, which no judge said."


def test_an_id_in_a_named_field_is_known_without_the_space_around_it(tmp_path: Path, plants: Path) -> None:
    file = table(tmp_path, "1,fruit, i0 ", header="item,label,case")
    assert verdicts(imported_judge(file, plants, ImportChoice(item="case")), plants)["i0"].label == "fruit"


@pytest.mark.parametrize(("written", "mapped"), [("1.0", "1"), ("1", "1.0"), ("1.00", "1.0")])
def test_a_mapping_of_a_number_is_used_however_file_and_mapping_write_it(tmp_path, plants, written, mapped) -> None:
    imported = imported_judge(table(tmp_path, f"i0,{written}"), plants, ImportChoice(labels={mapped: "fruit"}))
    assert verdicts(imported, plants)["i0"].label == "fruit"
    assert not any("--label maps" in remark for remark in imported.remarks)


def test_points_beside_a_label_are_left_out_and_said(tmp_path: Path, plants: Path) -> None:
    file = table(tmp_path, "i0,fruit,5", "i1,vegetable,1", header="span_id,label,score")
    imported = imported_judge(file, plants)
    assert verdicts(imported, plants)["i0"].score is None
    assert "1.00 with 'vegetable', 5.00 with 'fruit'" in imported.remarks[1]
