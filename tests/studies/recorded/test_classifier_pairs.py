"""Prompted judges' answers are read from recordings; if there are none, the sentence says how to get them."""

from pathlib import Path

import msgspec
import pytest

from misstep.analysis.measures.study_prevalence import StudiedSession, Study
from misstep.analysis.papers.wink.classifiers import classifiers_table, kinds_table
from misstep.harness.journal.records import VERDICTS
from misstep.harness.verdict import Verdict
from misstep.studies.recorded import classifier_pairs

SESSIONS = tuple(
    StudiedSession(
        f"s{place}",
        "one",
        1,
        "2026-03-02",
        None,
        frozenset({"infinite_loop"} if place % 2 else ()),
        {"infinite_loop": "yes" if place % 4 == 1 else "no"},
        {"infinite_loop": "reread"} if place % 2 else {},
    )
    for place in range(40)
)
STUDY = Study(SESSIONS, (), ("infinite_loop",), "generated, seed 0, n 40")


@pytest.fixture
def recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(classifier_pairs, "recordings", lambda: tmp_path)
    return tmp_path


def test_without_a_recorded_run_the_columns_of_the_judge_are_empty_and_say_why(recordings: Path) -> None:
    assert recordings.is_dir()
    pairs = classifier_pairs.labelled_runs(STUDY, [])
    table = classifiers_table(pairs)
    rows = {row.quantity: row for row in table.rows}
    assert rows["Recall, rule"].value == 0.5
    assert rows["Recall, prompted"].value is None
    assert "misstep judge run infinite_loop" in rows["Recall, prompted"].reason
    assert "columns are empty" in table.finding


def test_a_recorded_run_stands_beside_the_rule_and_with_it(recordings: Path) -> None:
    folder = recordings / "generated-infinite_loop"
    folder.mkdir()
    lines = [
        Verdict(f"s{place}/infinite_loop", "infinite_loop", "yes" if place % 4 == 3 else "no", "answered", score=0.9)
        for place in range(40)
    ]
    (folder / VERDICTS).write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    pairs = classifier_pairs.labelled_runs(STUDY, [])
    rows = {row.quantity: row for row in classifiers_table(pairs).rows}
    assert [rows[f"Recall, {name}"].value for name in ("rule", "prompted", "both")] == [0.5, 0.5, 1.0]
    assert {row.group for row in kinds_table(pairs).rows} == {"Infinite loops: reread"}
