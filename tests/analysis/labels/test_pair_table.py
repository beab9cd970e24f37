"""Pairs are read from a table with a pair or an output a row; what cannot be a winner is named by line and column."""

from pathlib import Path

import pytest

from misstep_analysis.labels.pair_table import PairColumns, PairTable, read_pair_table
from misstep_harness.errors import InputError

WIDE = "task,system_a,output_a,system_b,output_b,winner,rater\n"


def read(folder: Path, text: str, preferences: str = "", **named: str) -> PairTable:
    file, other = folder / "pairs.csv", folder / "preferences.csv"
    file.write_text(text)
    other.write_text(preferences)
    return read_pair_table(file, other if preferences else None, PairColumns(**named))


def test_rows_on_the_same_outputs_are_one_pair_whichever_stands_first(tmp_path: Path) -> None:
    table = read(tmp_path, WIDE + "t,x,1,y,2,a,ann\nt,y,2,x,1,a,ben\nt,x,1,y,2,tie,cid\nt,x,1,y,2,,dan\n")
    [pair] = table.pairs
    assert (pair.id, pair.systems, pair.outputs) == ("t/x/y", ("x", "y"), ("1", "2"))
    assert [(one.rater, one.label) for one in table.gold] == [("ann", "a"), ("ben", "b"), ("cid", "tie")]


@pytest.mark.parametrize(
    ("text", "label"),
    [("a", "a"), ("model_b", "b"), ("1", "a"), ("2.0", "b"), ("Y", "b"), ("tie (bothbad)", "tie"), ("1.5", "tie")],
)
def test_winners_are_named_in_several_ways(tmp_path: Path, text: str, label: str) -> None:
    [gold] = read(tmp_path, WIDE + f"t,x,1,y,2,{text},ann\n").gold
    assert gold.label == label


def test_columns_of_other_collections_are_recognised(tmp_path: Path) -> None:
    text = "instruction,output_1,output_2,generator_1,generator_2,preference\nSort,s1,s2,x,y,2\n"
    table = read(tmp_path, text)
    assert (table.pairs[0].task, table.pairs[0].systems, table.gold[0].label) == ("Sort", ("x", "y"), "b")


def test_outputs_in_rows_are_paired_by_a_table_of_preferences_or_all_with_all(tmp_path: Path) -> None:
    outputs = "task_id,prompt,system,output\n1,Sort,x,s1\n1,Sort,y,s2\n1,Sort,z,s3\n2,Add,x,a1\n"
    table = read(tmp_path, outputs, "task_id,model_a,model_b,winner\n1,y,x,x\n")
    [pair] = table.pairs
    assert (pair.key, pair.task, pair.outputs, table.gold[0].label) == ("1", "Sort", ("s2", "s1"), "b")
    everything = read(tmp_path, outputs)
    assert [one.systems for one in everything.pairs] == [("x", "y"), ("x", "z"), ("y", "z")]
    assert everything.gold == ()


@pytest.mark.parametrize(
    ("rows", "preferences", "message"),
    [
        (WIDE + "t,x,1,y,2,a,ann\nt,x,1,y,2,left,ann\n", "", "pairs.csv:3: winner: the winner 'left' is none"),
        (WIDE + "t,x,1,y,2,0,ann\n", "", "pairs.csv:2: winner: the winner '0' is none"),
        (WIDE + "t,x,1,y,2,a,ann\nt,x,1,y,2,b,ann\n", "", "pairs.csv:3: 'ann' prefers both outputs"),
        ("task,system,output\nt,x,1\nt,x,2\n", "", "pairs.csv:3: system: a second output of 'x'"),
        ("task,system,output\nt,x,1\n", "task,system_a,system_b,winner\nt,x,y,a\n", "preferences.csv:2: system_b: "),
        ("task,system,output\nt,x,1\nu,y,1\n", "", "no pairs: no task has outputs of two systems"),
        ("task,system,words\nt,x,1\n", "", "pairs.csv:1: the table has neither two outputs a row"),
        ("name,output_a,output_b\nt,x,1\n", "", "pairs.csv:1: which column has the tasks?"),
    ],
)
def test_what_is_no_pair_is_named_by_file_line_and_column(tmp_path, rows: str, preferences: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, rows, preferences)
    assert message in error.value.line()
