"""Gold labels out of a folder: a spreadsheet's ways of writing do no harm, and what is wrong is named with its line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from misstep_analysis.gold import (
    BenchmarkItem,
    Construction,
    GoldLabel,
    check_gold,
    families_of,
    item_ids,
    read_constructions,
    read_gold,
    read_subcategories,
)
from misstep_harness.errors import InputError
from misstep_harness.items import read_items, read_question


def gold(folder: Path, text: str | bytes) -> Path:
    (folder / "gold.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def test_a_byte_order_mark_line_ends_of_windows_blank_lines_and_another_order_do_no_harm(tmp_path: Path) -> None:
    written = "\ufeffrater,item,label\r\n\r\nann,i1,yes\r\n\r\nbo,i1,no\r\n"
    folder = gold(tmp_path, written)
    check_gold(folder, ("yes", "no"))
    assert list(read_gold(folder)) == [GoldLabel("i1", "ann", "yes"), GoldLabel("i1", "bo", "no")]


def test_an_empty_label_is_a_missing_one(tmp_path: Path) -> None:
    folder = gold(tmp_path, "item,rater,label\ni1,ann,\ni2,ann,yes\n")
    check_gold(folder, ("yes", "no"))
    assert [row.item for row in read_gold(folder)] == ["i2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,rater,label\ni1,ann,yes\ni2,ann,maybe\n", r"gold\.csv:3: label: 'maybe' is none of the labels yes, no"),
        ("item,rater,label\n\ni1,ann,yes\ni1,ann,no\n", r"gold\.csv:4: 'ann' labels 'i1' twice"),
        ("item,rater,label\ni1,ann\n", r"gold\.csv:2: the row and the header have different numbers of cells"),
        ("item,rater,label\ni1,ann,yes,no\n", r"gold\.csv:2: the row and the header have different numbers of cells"),
        ("item,label\ni1,yes\n", r"gold\.csv:1: rater: the column 'rater' is missing; the columns are item, label"),
        (
            "Item,rater,label\ni1,ann,yes\n",
            r"gold\.csv:1: item: the column 'item' is missing; the columns are Item, rater",
        ),
        ("item,rater,label,note\ni1,ann,yes,sure\n", r"gold\.csv:1: note: nothing reads the column 'note'"),
        ("item,rater,label,\ni1,ann,yes,\n", r"gold\.csv:1: nothing reads the column ''"),
        ("item,rater,label,label\ni1,ann,yes,no\n", r"gold\.csv:1: label: there are two columns 'label'"),
        ("", r"gold\.csv:1: item: the column 'item' is missing"),
        (b"item,rater,label\ni1,\xff,yes\n", r"gold\.csv: not a CSV table in UTF-8"),
        ('item,rater,label\n"i1,ann,yes\n', r"gold\.csv: not a CSV table in UTF-8"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_gold(gold(tmp_path, text), ("yes", "no"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gold\.csv: cannot open: No such file"):
        check_gold(tmp_path, ())


def test_any_label_is_one_where_they_are_open(tmp_path: Path) -> None:
    check_gold(gold(tmp_path, "item,rater,label\ni1,ann,step 7\n"), ())


def test_blank_lines_and_a_byte_order_mark_in_the_items_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_bytes(b'\xef\xbb\xbf\r\n{"id": "i1"}\r\n\r\n{"id": "i2"}\r\n')
    assert [item.id for item in read_items(tmp_path, BenchmarkItem)] == ["i1", "i2"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            ["i1,ann,yes", "i3,ann,no"],
            r"gold\.csv:3: item: there are labels of an item that items\.jsonl does not have: 'i3'\. ",
        ),
        (
            ["I1,ann,yes", "i1 ,bo,no"],
            r"gold\.csv:2: item: there are labels of 2 items .* 'I1', 'i1 '\. Correct the ids",
        ),
        ([f"x{n},ann,yes" for n in range(9)], r"labels of 9 items .* 'x0', 'x1', 'x2' and 6 more\. "),
    ],
)
def test_a_label_of_an_item_that_is_not_there_is_refused_by_name_and_line(tmp_path, rows, message) -> None:
    (tmp_path / "items.jsonl").write_text('{"id": "i1"}\n{"id": "i2", "unaskable": "not published"}\n')
    folder = gold(tmp_path, "item,rater,label\n" + "".join(f"{row}\n" for row in rows))
    with pytest.raises(InputError, match=message):
        check_gold(folder, ("yes", "no"), item_ids(folder))
    with pytest.raises(InputError, match=message):
        list(read_gold(folder, item_ids(folder)))


def test_an_item_without_a_label_and_one_that_cannot_be_asked_are_no_mistakes(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text('{"id": "i1"}\n{"id": "i2", "unaskable": "not published"}\n')
    folder = gold(tmp_path, "item,rater,label\ni2,ann,yes\ni9,ann,\n")
    check_gold(folder, ("yes", "no"), item_ids(folder))
    assert [row.item for row in read_gold(folder, item_ids(folder))] == ["i2"]


def test_a_folder_without_the_files_has_nothing_more(tmp_path: Path) -> None:
    assert read_subcategories(tmp_path) == ()
    assert read_constructions(tmp_path) == {}


def test_cases_of_one_family_hang_together(tmp_path: Path) -> None:
    lines = "item,family,set,variant,partner\na,csv,scoring,plain,b\nb,csv,scoring,harder,a\nc,,,,\n"
    (tmp_path / "gold_construction.csv").write_text(lines)
    result = read_constructions(tmp_path)
    assert result["a"] == Construction("a", "csv", "scoring", "plain", "b")
    assert families_of(result) == {"a": "family csv", "b": "family csv"}


def test_a_column_that_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "gold_construction.csv").write_text("item,set\na,scoring\n")
    with pytest.raises(InputError, match="the column 'family' is missing"):
        read_constructions(tmp_path)


@pytest.mark.parametrize("name", ["benchmark.toml", "items.jsonl", "gold.csv", "gold_subcategories.csv"])
def test_no_file_of_a_benchmark_is_a_link_that_leads_out_of_it(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "benchmark"
    folder.mkdir()
    (tmp_path / "own").write_text("item,rater,label\nsecret,ann,yes\n")
    (folder / name).symlink_to("../own")
    readers: dict[str, Callable[[Path], object]] = {
        "benchmark.toml": read_question,
        "items.jsonl": lambda folder: list(read_items(folder)),
        "gold.csv": lambda folder: list(read_gold(folder)),
        "gold_subcategories.csv": read_subcategories,
    }
    with pytest.raises(InputError, match="leads out of the folder"):
        readers[name](folder)
