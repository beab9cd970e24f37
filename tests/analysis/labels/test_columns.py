"""Columns that are not raters are asked about, and a file of raters is read however odd their labels."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from misstep_analysis.labels import read_labels
from misstep_analysis.labels.columns import odd_columns
from misstep_harness.errors import InputError

LABELS = ("ok", "wrong", "unclear")
ITEMS = 24


def made(name: str, row: int, rng: np.random.Generator) -> str:
    """What an export puts into one of its columns."""
    second = f"2024-05-{1 + row:02d}T10:{row:02d}:07.{rng.integers(10**6):06d}Z"
    return {
        "created_at": second,
        "updated_at": second,
        "Date": f"{1 + row}/5/2024",
        "inserted_at": second.replace("T", " ").removesuffix("Z"),
        "clock": f"{9 + row % 9}:{row:02d}:11",
        "lead_time": f"{rng.uniform(2, 90):.3f}",
        "text": f"the agent opened file number {rng.integers(10**6)} and left it open",
        "question": f"why does the test number {rng.integers(10**6)} fail on this machine",
        "comment": f"see step {row}" if row % 4 == 0 else "",
        "annotation_id": str(7_000 + row),
        "id": str(1 + row),
        "_timestamp": str(1_700_000_000 + 13 * row),
        "_task_hash": str(rng.integers(-(2**31), 2**31)),
        "run": f"{rng.integers(2**31):08x}",
        "url": f"https://example.org/{row}",
    }[name]


OTHERS = [
    "created_at", "updated_at", "Date", "inserted_at", "clock", "lead_time", "text", "question", "comment",
    "annotation_id", "id", "_timestamp", "_task_hash", "run", "url",
]  # fmt: skip


@given(st.sets(st.sampled_from(OTHERS), min_size=1, max_size=6), st.integers(0, 1_000), st.sampled_from([1, 2, 3]))
def test_what_an_export_brings_along_is_asked_about_and_raters_are_not(others, seed, raters) -> None:
    rng = np.random.default_rng(seed)
    columns = {f"r{rater}": [str(rng.choice(LABELS)) for _ in range(ITEMS)] for rater in range(raters)}
    columns |= {name: [made(name, row, rng) for row in range(ITEMS)] for name in sorted(others)}
    assert set(odd_columns(columns)) == others


SCALES = {
    "words": [f"label {place}" for place in range(200)],
    "numbers": [str(place) for place in range(200)],
    "decimals": [f"{place / 7:.3f}" for place in range(200)],
    "sentences": [f"the agent made mistake number {place}" for place in range(200)],
    "dates": [f"2024-{1 + place % 12:02d}-{1 + place % 28:02d}" for place in range(200)],
}


@given(
    scale=st.sampled_from(sorted(SCALES)),
    labels=st.integers(1, 200),
    items=st.sampled_from([1, 2, 5, 6, 8, 15, 40, 120]),
    raters=st.lists(
        st.sampled_from(["ann", "ben", "ID", "annotator_1", "judge", "r1", "Rater 2"]), min_size=2, unique=True
    ),
    missing=st.sampled_from([0, 0.1, 0.5, 0.9]),
    right=st.floats(0, 1),
    seed=st.integers(0, 10_000),
)
@example("decimals", 11, 6, ["ID", "ann"], 0, 0.0, 0)
@example("numbers", 1, 6, ["ann", "ID"], 0.9, 0.0, 0)
def test_raters_who_share_a_scale_are_never_asked_about(scale, labels, items, raters, missing, right, seed) -> None:
    rng = np.random.default_rng(seed)
    known = SCALES[scale][:labels]
    truth = rng.choice(known, items).tolist()
    columns = {
        rater: [
            "" if rng.random() < missing else one if rng.random() < right else str(rng.choice(known)) for one in truth
        ]
        for rater in raters
    }
    assert odd_columns(columns) == {}


def test_numbers_of_an_interval_scale_may_all_be_different() -> None:
    rng = np.random.default_rng(3)
    scores = {name: [f"{rng.uniform(0, 10):.4f}" for _ in range(40)] for name in ("ann", "ben")}
    coarse = scores | {"cat": [str(rng.integers(3)) for _ in range(40)]}
    assert odd_columns(coarse, interval=True) == {}
    assert set(odd_columns(coarse)) == {"ann", "ben"}


def test_an_export_of_one_rating_a_row_is_told_how_to_become_a_file_of_labels(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text(
        "run,annotator,created_at,lead_time,sentiment,text\n"
        + "".join(
            f"{row},{1 + row % 2},2024-05-01T10:{row:02d}:00Z,{7.5 + row * 1.37:.3f},{LABELS[row % 3]},"
            f"the agent did thing {row // 2} and stopped\n"
            for row in range(30)
        )
    )
    with pytest.raises(InputError) as asked:
        read_labels(path)
    assert "'created_at' (times)" in str(asked.value)
    for name in ("lead_time", "text"):
        assert repr(name) in str(asked.value)
    assert "--raters" in asked.value.advice
    assert "--item, --rater and --label" in asked.value.advice
    assert asked.value.exit_code == 2
    assert "\n" not in str(asked.value)


def test_the_question_has_the_answer_to_take_over_and_raters_who_are_named_are_taken_as_told(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    rows = "".join(
        f'{row},{LABELS[row % 3]},"{LABELS[row % 2]}",we saw the agent fail at step {row}\n' for row in range(12)
    )
    path.write_text(f'item,ann,"Doe, Jo",what happened\n{rows}')
    with pytest.raises(InputError, match="'what happened' \\(sentences\\)") as asked:
        read_labels(path)
    assert """--raters 'ann,"Doe, Jo"'""" in asked.value.advice
    assert read_labels(path, ["ann", "what happened"]).raters == ["ann", "what happened"]


def test_files_of_few_items_are_read_unless_a_column_is_all_times(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("item,ann,ben\n1,a,x\n2,b,y\n3,c,z\n")
    assert read_labels(path).raters == ["ann", "ben"]
    path.write_text("item,ann,ben,when\n1,a,a,2024-05-01 10:11\n2,b,a,2024-05-01 10:13\n")
    with pytest.raises(InputError, match=r"'when' \(times\)"):
        read_labels(path)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("part", ["train", "test"]),
        ("sure", ["0.5", "0.7", "0.9"]),
        ("edition", ["v1"]),
        ("ts", ["1700000000", "1700001000"]),
    ],
)
def test_a_column_that_shares_no_label_while_others_share_theirs_is_asked_about(name: str, cells: list[str]) -> None:
    columns = {
        "ann": [LABELS[row % 3] for row in range(12)],
        "ben": [LABELS[row % 2] for row in range(12)],
        name: [cells[row % len(cells)] for row in range(12)],
    }
    assert odd_columns(columns) == {name: "no label in common with another column"}
    alone = {rater: columns[rater] for rater in ("ann", name)}
    assert odd_columns(alone) == {}, "of two it cannot be told which is the rater"


def test_columns_none_of_which_has_a_label_in_common_are_asked_about(tmp_path: Path) -> None:
    """A table of one rating a row is not taken for two raters who never agree; raters who are named are."""
    path = tmp_path / "scores.csv"
    path.write_text("task,aspect,score\n" + "".join(f"t{row},{LABELS[row % 3]},{row % 2}\n" for row in range(12)))
    with pytest.raises(InputError, match=r"2 columns do not look like raters: 'aspect' \(no label in common"):
        read_labels(path)
    assert len(read_labels(path, ["aspect", "score"]).raters) == 2


def test_a_column_without_labels_is_not_proposed_as_a_rater(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    rows = "".join(f"{row},,{LABELS[row % 3]},{LABELS[row % 2]},part {row % 2}\n" for row in range(12))
    path.write_text(f"item,why dropped,ann,ben,split\n{rows}")
    with pytest.raises(InputError) as asked:
        read_labels(path)
    assert "--raters ann,ben" in asked.value.advice


WORDS = ("asked", "late", "see log", "", "not sure", "")


@pytest.mark.parametrize(
    ("others", "why"),
    [
        ({"said by ann": WORDS, "said by ben": WORDS}, "no label in common with another column"),
        (
            {"ann cause": ("high", "low"), "ben cause": ("low", "high", "high")},
            "no label in common with another column",
        ),
        ({"Kommentar": ("", "", "", "", "", "", "", "late")}, "its name"),
        ({"why": ("", "", "", "", "", "", "", "as it says")}, "no label in common with another column"),
        ({"Bemerkung 1": WORDS, "remarqueBen": WORDS}, "its name"),
    ],
)
def test_columns_that_share_words_with_each_other_and_with_no_rater_are_asked_about(others, why) -> None:
    columns = {rater: [LABELS[(row // shift) % 3] for row in range(24)] for shift, rater in ((1, "ann"), (2, "ben"))}
    columns |= {name: [cells[(row * row) % len(cells)] for row in range(24)] for name, cells in others.items()}
    if len(next(iter(others.values()))) == 8:
        columns |= {name: [cells[row % 8] for row in range(24)] for name, cells in others.items()}
    assert odd_columns(columns) == dict.fromkeys(others, why)


@pytest.mark.parametrize(
    ("name", "summary", "asked"),
    [
        ("aggregate", "mode", True),
        ("Mehrheit", "mode", True),
        ("r4", "mode", True),
        ("r4", "mean", True),
        ("gold", "none", False),
        ("final", "none", False),
    ],
)
def test_a_column_that_says_what_the_others_say_together_is_asked_about(name: str, summary: str, asked: bool) -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(1, 4, 60)
    ratings = [np.where(rng.random(60) < 0.7, truth, rng.integers(1, 4, 60)) for _ in range(3)]
    together = {
        "mode": [str(max(row, key=list(row).count)) for row in zip(*(one.tolist() for one in ratings), strict=True)],
        "mean": [f"{np.mean(row):.2f}" for row in zip(*ratings, strict=True)],
        "none": rng.integers(1, 4, 60).astype(str).tolist(),
    }
    columns = {f"r{place}": rating.astype(str).tolist() for place, rating in enumerate(ratings, start=1)}
    assert list(odd_columns(columns | {name: together[summary]})) == [name] * asked


@pytest.mark.parametrize(
    ("name", "asked"),
    [("abs_difference", True), ("agree", True), ("Disagree?", True), ("cleo", False), ("cleo's match", False)],
)
def test_a_column_that_compares_the_others_and_is_called_so_is_asked_about(name: str, asked: bool) -> None:
    ann, ben = ([str(row // step % 3) for row in range(24)] for step in (1, 2))
    cells = {
        "abs_difference": [str(abs(int(one) - int(other))) for one, other in zip(ann, ben, strict=True)],
        "cleo's match": [str(row // 4 % 3) for row in range(24)],
        "Disagree?": [str(int(one != other)) for one, other in zip(ann, ben, strict=True)],
    }
    alike = [str(int(one == other)) for one, other in zip(ann, ben, strict=True)]
    assert list(odd_columns({"ann": ann, "ben": ben, name: cells.get(name, alike)})) == [name] * asked


NOT_OF_A_RATER = [
    "ann_confidence", "batch", "difficulty", "needs_review", "Confidence (Ben)", "flagged", "skipReason", "round 2",
    "annComment", "language", "mean_score", "certainty", "Schwierigkeit", "diff_ann_ben", "is_match", "priority",
]  # fmt: skip


@pytest.mark.parametrize("rows", [3, 24])
@pytest.mark.parametrize("name", NOT_OF_A_RATER)
def test_a_name_that_no_rater_has_is_asked_about_though_its_labels_are_those_of_raters(name: str, rows: int) -> None:
    columns = {rater: [str(row // step % 2) for row in range(rows)] for step, rater in ((1, "ann"), (2, "ben"))}
    assert odd_columns(columns | {name: [str(row // 3 % 2) for row in range(rows)]}) == {name: "its name"}


@pytest.mark.parametrize(
    "raters",
    [
        ("ann_score", "ben_score"),
        ("score", "judge"),
        ("reviewer 1", "reviewer 2"),
        ("review 1", "review 2"),
        ("Page", "Lang", "Day"),
        ("P", "M", "ID"),
        ("gpt-4o", "claude", "human"),
        ("error_ann", "error_ben"),
    ],
)
def test_raters_whose_names_are_alike_or_look_like_a_thing_are_not_asked_about(raters: tuple[str, ...]) -> None:
    columns = {rater: [str((row + step) % 3) for row in range(24)] for step, rater in enumerate(raters)}
    assert odd_columns(columns) == {}


@pytest.mark.parametrize("name", ["Unnamed: 0", "index", "row"])
def test_the_number_of_a_row_is_no_rating_though_some_ratings_are_such_numbers(name: str) -> None:
    scores = {rater: [str(row * step % 5) for row in range(24)] for step, rater in ((1, "ann"), (3, "ben"))}
    assert odd_columns(scores | {name: [str(row) for row in range(24)]}) == {name: "its name"}


def test_raters_who_are_all_called_like_a_summary_are_raters() -> None:
    columns = {f"{rater} final": [LABELS[row % 3] for row in range(12)] for rater in ("ann", "ben", "cleo")}
    assert odd_columns(columns) == {}


def test_measures_of_an_interval_scale_need_not_be_equal() -> None:
    columns = {"ann": ["1", "2"] * 6, "ben": ["2", "3"] * 6, "cleo": ["1.5", "2.5"] * 6}
    assert odd_columns(columns, interval=True) == {}
