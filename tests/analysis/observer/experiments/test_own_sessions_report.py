"""A user's own sessions reported: an effect only against a control, by a named judge; a benchmark without gold."""

from pathlib import Path

import pytest

from misstep_analysis.observer.experiments.own_sessions import NOBODY_TOLD
from misstep_analysis.observer.experiments.own_sessions_report import report_of_own, write_own_benchmark
from misstep_analysis.observer.experiments.recovery_benchmark import LABELS
from misstep_harness.journal.records import encode_lines
from misstep_harness.observer.arms import hears_guidance
from misstep_harness.observer.experiment.own_sessions import Assignment
from misstep_harness.observer.records import DECISIONS
from misstep_harness.verdict import Verdict
from tests.harness.observer.experiment.own_transcripts import (
    LOOP_CALL,
    calm,
    session,
    watched_session,
    write_lines,
    write_sessions,
)

HALF = Assignment(0.5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sessions(tmp_path_factory.mktemp("own") / "sessions", 40)


def test_with_a_control_the_difference_is_told_with_judge_and_interval(folder: Path) -> None:
    report = report_of_own([folder], HALF)
    assert "40 sessions" in report.finding
    assert "as recovery@rule judges: a difference of +60" in report.finding
    assert "95% interval" in report.finding
    assert [table.name for table in report.tables][:2] == ["own_spoken", "own_recovery"]
    assert {row.group for table in report.tables for row in table.rows} >= {"Steps of the agent per session"}


def test_without_a_control_no_effect_is_claimed(folder: Path) -> None:
    report = report_of_own([folder], Assignment())
    assert "No session is known as a control" in report.finding
    assert "a difference of" not in report.finding
    assert len(report.tables) == 2


def test_arms_of_whom_nobody_was_told_anything_have_no_effect(tmp_path: Path) -> None:
    for number in range(12):
        lines = session(f"session-{number}", told=False, recovers=number % 2 == 0)
        write_lines(tmp_path / f"{number}.jsonl", lines)
    assert NOBODY_TOLD in report_of_own([tmp_path], HALF).finding


def test_people_and_other_judges_label_the_benchmark_which_has_no_gold(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "benchmark"
    assert write_own_benchmark([folder], out, HALF, LABELS) >= 40
    assert (out / "gold.csv").read_text() == "item,rater,label\n"
    assert 'evidence = "real"' in (out / "benchmark.toml").read_text()
    (out / "gold.csv").write_text("item,rater,label\n" + "".join(f"session-{n}#0,ann,recovered\n" for n in range(30)))
    assert "as people judges" in report_of_own([folder], HALF, out).finding
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.toml").write_text("")
    verdicts = [Verdict(f"session-{n}#0", "own", "recovered" if n % 2 else "not_recovered") for n in range(40)]
    (run / "verdicts.jsonl").write_bytes(encode_lines(verdicts))
    assert "as own judges" in report_of_own([folder], HALF, run).finding


ONCE, GOES_ON = [LOOP_CALL], [LOOP_CALL] * 15
ENDINGS = {
    "guide": (calm(12), [*ONCE, *calm(8)], [*ONCE * 2, *calm(6)], GOES_ON),
    "shadow": (GOES_ON, [*ONCE, *calm(8)], [*ONCE * 4, *calm(6)], [*GOES_ON, *calm(3)]),
}
"""What agents do after the word: in either arm it ends in some sessions, most of which repeat the call first."""

SHARES = {"guide": 0.75, "shadow": 0.5}


@pytest.mark.parametrize("late", [False, True], ids=["results are written first", "the hook comes first"])
def test_the_log_and_the_transcripts_of_the_same_sessions_give_the_same_recoveries(tmp_path: Path, late: bool) -> None:
    names: dict[str, list[str]] = {"guide": [], "shadow": []}
    for name in (f"s-{number}" for number in range(60)):
        names["guide" if hears_guidance(name, share=0.5) else "shadow"].append(name)
    for arm, own in names.items():
        for place, name in enumerate(own[:8]):
            watched_session(tmp_path, name, ENDINGS[arm][place % 4], late=late)
    shares = []
    for path, assignment in ((tmp_path / DECISIONS, Assignment()), (tmp_path / "sessions", HALF)):
        (table,) = [one for one in report_of_own([path], assignment).tables if one.name == "own_recovery"]
        shares.append({row.quantity: row.value for row in table.rows if "recovered" in row.quantity})
    assert shares[0] == shares[1]
    assert list(shares[0].values()) == list(SHARES.values())
