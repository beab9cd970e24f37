"""Equal digests are equal texts: ids, prompts and gold labels do not count, and what the judge saw does."""

import json
from pathlib import Path

import pytest

from misstep_harness.benchmarks.judged_texts import anchor_lines, judged_texts, texts_in
from misstep_harness.errors import InputError
from misstep_harness.items import read_items
from tests.misstep.made_up_runs import agents_run, benchmark_of_runs

ALL = {f"item-{number}" for number in range(3)}


def changed(folder: Path, **fields: object) -> Path:
    """The benchmark with these fields in its first item."""
    first, *rest = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    (folder / "items.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in [first | fields, *rest]))
    return folder


def test_the_same_run_under_another_id_is_the_same_text(tmp_path: Path) -> None:
    one = judged_texts(benchmark_of_runs(tmp_path / "one", 3), ALL)
    other = judged_texts(changed(benchmark_of_runs(tmp_path / "other", 3), id="another"), ALL | {"another"})
    assert len(set(one.values())) == 3
    assert (other["another"], other["item-1"]) == (one["item-0"], one["item-1"])


@pytest.mark.parametrize("fields", [{"step": 2}, {"text": "more"}, {"patch": "+"}, {"extra": {"category": "limits"}}])
def test_what_a_judge_sees_besides_the_run_counts(tmp_path: Path, fields: dict[str, object]) -> None:
    one = judged_texts(benchmark_of_runs(tmp_path / "one", 3), ALL)
    other = judged_texts(changed(benchmark_of_runs(tmp_path / "other", 3), **fields), ALL)
    assert one["item-0"] != other["item-0"]


def test_a_category_counts_only_beside_others_and_so_does_what_nobody_is_shown(tmp_path: Path) -> None:
    folder = changed(benchmark_of_runs(tmp_path / "one", 3), extra={"category": "limits", "site": "south"})
    plain = judged_texts(benchmark_of_runs(tmp_path / "other", 3), {"item-0"})
    assert judged_texts(folder, {"item-0"}) == plain


def test_a_step_more_is_another_text(tmp_path: Path) -> None:
    longer = benchmark_of_runs(tmp_path / "longer", 1, lambda number: agents_run(number, 7))
    assert judged_texts(longer, ALL) != judged_texts(benchmark_of_runs(tmp_path / "one", 1), ALL)


def test_of_what_nobody_can_be_asked_about_the_name_stands_for_the_text(tmp_path: Path) -> None:
    folder = benchmark_of_runs(tmp_path / "gates", 1)
    lines = [{"id": one, "kind": "misbehaviour", "unaskable": "not published"} for one in ("item-0", "item-1")]
    (folder / "items.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert len(set(judged_texts(folder, ALL).values())) == 2


def test_anchors_need_no_other_file_and_are_the_same_texts(tmp_path: Path) -> None:
    folder, later = benchmark_of_runs(tmp_path / "gates", 3), benchmark_of_runs(tmp_path / "later", 1)
    file = tmp_path / "anchors.jsonl"
    file.write_bytes(anchor_lines(folder, ALL, {"item-1", "item-2"}))
    (later / "items.jsonl").write_bytes((later / "items.jsonl").read_bytes() + file.read_bytes())
    ids = [item.id for item in read_items(later)]
    texts = judged_texts(folder, ALL)
    assert ids == ["item-0", "anchor:item-1", "anchor:item-2"]
    assert texts_in(file) == {texts["item-1"], texts["item-2"]}
    assert judged_texts(later, ids)["anchor:item-2"] == texts["item-2"]


def test_a_line_that_is_no_anchor_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"extra": {"anchor": "d"}}\n{"id": "x"}\n')
    with pytest.raises(InputError, match=r"a\.jsonl:2"):
        texts_in(tmp_path / "a.jsonl")
