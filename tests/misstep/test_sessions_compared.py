"""`misstep report` over runs of `classify`: two compared, or one by project, model, agent or week."""

import json
from collections.abc import Sequence
from datetime import date
from functools import partial
from pathlib import Path

import pytest

from misstep.classify.findings import classified_findings
from misstep.runs.report import app
from misstep_harness.errors import UsageError
from misstep_harness.journal.records import MANIFEST, encode_lines, replace_file
from misstep_harness.readers.interchange.atif import to_atif
from misstep_harness.runs.classify import ClassifyPlan
from misstep_harness.runs.spread import Spread
from misstep_harness.trajectory import Source, Step, Trajectory
from misstep_harness.verdict import Verdict
from tests.analysis.pages.html_rules import check_page
from tests.misstep.as_a_user import command_of
from tests.misstep.made_up import CATEGORIES, atif_lines
from tests.misstep.made_up_runs import benchmark_of_runs, judged_run, verdict

HOSTILE = "<script>window.ran = 1</script>"


command = command_of(app)


def _labelled(flagged: int, one: Trajectory, categories: Sequence[str]) -> list[Verdict]:
    """The first `flagged` sessions of each file show the first category, all are checked for it alone."""
    first, second = categories
    number = int(one.id.rpartition("-")[2])
    return [
        Verdict(one.id, first, "yes" if number < flagged else "no", steps=(1,), rationale=HOSTILE),
        Verdict(one.id, second, None, "abstained"),
    ]


def _classified(run: Path, sessions: Path, flagged: int, names: str) -> Path:
    """A run over two projects of ten sessions, each a folder."""
    for project in ("shop", "bank"):
        (sessions / project).mkdir(parents=True, exist_ok=True)
        atif_lines(sessions / project / f"{names}.jsonl", (f"{names}-{project}-{number}" for number in range(10)))
    files = [sessions / project / f"{names}.jsonl" for project in ("shop", "bank")]
    line = [*map(str, files), "--out", str(run)]
    classified_findings(files, ClassifyPlan(CATEGORIES, partial(_labelled, flagged), line, spread=Spread(1)), run)
    return run


@pytest.fixture
def before(tmp_path: Path) -> Path:
    return _classified(tmp_path / "before", tmp_path / "sessions", 9, "monday")


@pytest.fixture
def after(tmp_path: Path) -> Path:
    return _classified(tmp_path / "after", tmp_path / "sessions", 1, "tuesday")


def test_two_runs_become_a_page_whose_first_sentence_names_the_change(before: Path, after: Path) -> None:
    own = (before / "report.html").read_bytes()
    result = command(before, after)
    assert (result.exit_code, result.stdout) == (0, f"{before / 'comparison.html'}\n")
    page = check_page((before / "comparison.html").read_text())
    assert "From before to after, first fell by 80.0 points" in page.text
    assert "No session could be checked for second." in page.text
    assert "2 projects in before and 2 in after are too few" in page.text
    assert (before / "report.html").read_bytes() == own


def test_json_has_the_figures_and_no_page_is_written(before: Path, after: Path) -> None:
    result = command(before, after, "--json")
    document = json.loads(result.stdout)
    first, second, _ = document["changes"]
    assert (first["category"], first["difference"]["value"], first["unit"]) == ("first", pytest.approx(-0.8), "session")
    assert (second["difference"]["value"], second["p_value"]) == (None, None)
    assert "could be checked" in second["reason"]
    assert not (before / "comparison.html").exists()


def test_the_same_sessions_classified_by_other_rules_are_pairs(before: Path, tmp_path: Path) -> None:
    again = _classified(tmp_path / "again", tmp_path / "sessions", 3, "monday")
    manifest = (again / MANIFEST).read_text()
    replace_file(again / MANIFEST, manifest.replace('misstep = "', 'misstep = "9.').encode())
    assert command(before, again).exit_code == 0
    text = check_page((before / "comparison.html").read_text()).text
    assert "The same 20 sessions are in both runs and are compared pair by pair." in text
    assert "rules may have changed between them" in text


def test_one_run_is_shown_by_the_fact_that_is_asked_for(before: Path) -> None:
    result = command(before, "--by", "project")
    assert (result.exit_code, result.stdout) == (0, f"{before / 'by_project.html'}\n")
    assert (
        "Cases of first are most frequent in the project" in check_page((before / "by_project.html").read_text()).text
    )
    groups = json.loads(command(before, "--by", "agent", "--json").stdout)["groups"]
    assert [(name, outcome["n"]) for name, outcome in groups.items()] == [("made-up", 20)]


def test_an_unfinished_run_says_how_it_is_continued(before: Path, after: Path) -> None:
    manifest = (after / MANIFEST).read_text()
    unfinished = "\n".join(line for line in manifest.splitlines() if not line.startswith("finished"))
    replace_file(after / MANIFEST, unfinished.encode())
    error = command(before, after).exception
    assert isinstance(error, UsageError)
    assert "is not finished" in error.line()
    assert "misstep classify" in error.line()


def test_what_cannot_be_compared_is_refused_in_a_sentence(before: Path, after: Path, tmp_path: Path) -> None:
    judged = judged_run(tmp_path / "judged", benchmark_of_runs(tmp_path / "gates", 2), [verdict(0), verdict(1)])
    for arguments, said in (
        ((before, judged), "one page cannot show these runs together"),
        ((before, after, judged), "one page cannot show these runs together"),
        ((before, before), "is named twice"),
        ((before, before.parent / "after" / ".." / "before"), "is named twice"),
        ((judged, "--json"), "are for runs of `misstep classify`"),
        ((before, "--json"), "are for runs of `misstep classify`"),
        ((before, after, "--by", "week"), "--by is for the groups of one run"),
        ((judged, "--fail-on", "any.change>0"), "--fail-on is for a change"),
        ((before, "--compare", "a", "b"), "--compare is for the groups of one run"),
    ):
        error = command(*arguments).exception
        assert isinstance(error, UsageError), arguments
        assert said in error.line()


def _by_week(folder: Path, flagged: dict[str, int]) -> Path:
    """A run over weeks of ten sessions each, so many of which show the first category."""
    days = {week: f"{date.fromisoformat(f'{week}-3')}T10:00:00Z" for week in flagged}
    steps = {week: (Step("agent", "Look.", timestamp=day),) for week, day in days.items()}
    runs = [Trajectory(f"{week}-{n}", Source("made up"), steps=steps[week]) for week in flagged for n in range(10)]
    folder.mkdir()
    (folder / "all.jsonl").write_bytes(encode_lines(map(to_atif, runs)))

    def classify(one: Trajectory, categories: Sequence[str]) -> list[Verdict]:
        return _labelled(flagged[one.id.rpartition("-")[0]], one, categories)

    classified_findings([folder / "all.jsonl"], ClassifyPlan(CATEGORIES, classify, spread=Spread(1)), folder / "run")
    return folder / "run"


def test_weeks_and_spans_of_weeks_of_one_run_are_compared(tmp_path: Path) -> None:
    run = _by_week(tmp_path / "weeks", {"2026-W05": 1, "2026-W06": 1, "2026-W07": 8, "2026-W08": 9})
    for first, second, difference in (
        ("2026-W05", "2026-W08", 0.8),
        ("2026-W05..2026-W06", "2026-W07..2026-W08", 0.75),
    ):
        result = command(run, "--by", "week", "--compare", first, second)
        assert (result.exit_code, result.stdout) == (0, f"{run / 'comparison.html'}\n"), result.output
        page = check_page((run / "comparison.html").read_text())
        assert f"From {first} to {second}, first rose by {100 * difference:.1f} points (95% interval" in page.text
        assert f"Newly flagged in {second}" in page.text
        document = json.loads(command(run, "--by", "week", "--compare", first, second, "--json").stdout)
        assert document["changes"][0]["difference"]["value"] == pytest.approx(difference)
        assert document["changes"][0]["p_adjusted"] < 0.05
    for names, said in (
        (("2026-W05", "2026-W31"), "no session of the run is of the week '2026-W31'. The weeks are: 2026-W05, "),
        (("2026-W05..2026-W07", "2026-W07"), "--compare takes week 2026-W07 twice"),
    ):
        error = command(run, "--by", "week", "--compare", *names).exception
        assert isinstance(error, UsageError)
        assert said in error.line()


def test_what_only_the_second_run_flags_is_listed(before: Path, after: Path, tmp_path: Path) -> None:
    again = _classified(tmp_path / "again", tmp_path / "sessions", 10, "monday")
    result = json.loads(command(before, again, "--json").stdout)["newly_flagged"]
    assert [(one["item"], one["category"], one["before"], one["steps"]) for one in result] == [
        ("monday-shop-9", "first", "no", [1]),
        ("monday-bank-9", "first", "no", [1]),
    ]
    assert {one["before"] for one in json.loads(command(before, after, "--json").stdout)["newly_flagged"]} == {
        "not in it"
    }
    assert command(before, again).exit_code == 0
    page = check_page((before / "comparison.html").read_text())
    assert "2 sessions of again are flagged for what before does not flag: 2 findings." in page.text
    assert f"monday.jsonl:10; no in before. {HOSTILE}" in page.text
    assert json.loads(command(before, before.parent / "after", "--json").stdout)["newly_flagged"]
    assert json.loads(command(again, before, "--json").stdout)["newly_flagged"] == []


@pytest.mark.parametrize(
    ("limit", "code", "message"),
    [
        ("first.change>-90%", 1, "failed: first.change is −80.0 pp"),
        ("first.change.lower>0", 0, "passed: first.change is −80.0 pp"),
        ("second.change>0", 1, "undecided: second.change cannot be computed"),
    ],
)
def test_a_change_beyond_a_limit_stops_a_pipeline(before, after, tmp_path, limit, code, message) -> None:
    result = command(before, after, "--fail-on", limit, "--json", "--junit", tmp_path / "junit.xml")
    assert (result.exit_code, message in result.stderr) == (code, True), result.stderr
    assert json.loads(result.stdout)["a"] == "before"
    assert message.partition(": ")[2] in (tmp_path / "junit.xml").read_text()
