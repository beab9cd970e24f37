"""Edit formats on public data: the figures that the sets' documentation gives, and tables that say what is missing."""

from collections import Counter
from pathlib import Path

import pytest

from misstep.analysis.measures.edit_formats import (
    ReadEdit,
    agreements,
    contradictions,
    format_results,
)
from misstep.harness.datasets.aider_leaderboards import edit_runs
from misstep.harness.datasets.patch_corpora import recorded_edits
from misstep.harness.errors import InputError
from misstep.harness.records.recorded_edits import EditRun, RecordedEdit
from misstep.studies.recorded.edit_formats import read_edit


def run(cases: int, malformed: int | None, printed: float | None) -> EditRun:
    return EditRun("b", "n", "m", "diff", cases, malformed, printed, (None, None), (None, None))


def test_a_share_is_over_the_cases_that_are_counted() -> None:
    result = format_results([run(100, 10, 90.0), run(50, None, 80.0)])
    assert (result[0].runs, result[0].kept.n, result[0].kept.value, result[0].mean_well_formed) == (2, 100, 0.9, 85.0)


def test_a_printed_share_that_its_count_does_not_give_is_found() -> None:
    assert not contradictions([run(225, 19, 91.6)])
    assert [one[2:] for one in contradictions([run(225, 0, 90.0)])] == [(90.0, 100.0)]


def test_a_refused_reply_counts_with_its_reason() -> None:
    recorded = RecordedEdit("1", "s", "m", "unified_diff", "", "", {"parses": False, "numstat_ok": False})
    result = agreements([ReadEdit(recorded, refused="malformed"), ReadEdit(recorded, 2)])
    assert [(one.n, one.read, one.refused) for one in result] == [(2, 1, (("malformed", 1),))]


def test_a_leaderboard_that_is_no_list_or_lacks_a_field_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "polyglot_leaderboard.yml"
    for text, said in (("a: 1\n", "no list"), ("- model: m\n", "missing"), ("- [\n", "no YAML")):
        file.write_text(text)
        with pytest.raises(InputError, match=said):
            list(edit_runs(tmp_path))


@pytest.mark.data
def test_the_leaderboards_have_the_figures_of_their_documentation(data_folder: Path) -> None:
    runs = list(edit_runs(data_folder / "aider_leaderboards"))
    assert Counter(one.board for one in runs) == {"edit": 98, "polyglot": 69, "refactor": 14}
    results = {(one.board, one.format): one for one in format_results(runs)}
    means = {
        key: (one.runs, round(one.mean_solved or 0, 2), round(one.mean_well_formed or 0, 2))
        for key, one in results.items()
        if key[0] == "polyglot"
    }
    assert means == {
        ("polyglot", "diff"): (47, 53.31, 92.19),
        ("polyglot", "whole"): (15, 20.57, 98.35),
        ("polyglot", "diff-fenced"): (4, 78.0, 97.32),
        ("polyglot", "architect"): (3, 56.13, 100.0),
    }
    assert (results["edit", "diff"].runs, round(results["edit", "diff"].mean_solved or 0, 2)) == (29, 68.79)
    assert round(results["edit", "udiff"].mean_well_formed or 0, 2) == 95.73


@pytest.mark.data
def test_the_readers_agree_with_upstream_on_what_is_well_formed(data_folder: Path) -> None:
    recorded = [one for one in recorded_edits(data_folder / "patch_corpora") if one.format != "line_edit_list"]
    results = {(one.format, one.upstream): (one.read, one.n) for one in agreements(map(read_edit, recorded))}
    assert results["unified_diff", "unidiff parses it; git takes it"] == (159, 159)
    # Three of these are empty; the fourth has lost a line at its end, which is told from a file alone.
    assert results["unified_diff", "unidiff finds no file; git calls it corrupt"] == (1, 4)
    assert results["search_replace", "markers balanced; applied"] == (80, 80)
    assert results["search_replace", "markers balanced; no match"] == (70, 70)
    assert not any(read for (_, said), (read, _) in results.items() if "not balanced" in said)
    blocks = [one for one in map(read_edit, recorded) if one.recorded.format == "search_replace" and not one.refused]
    assert all(one.blocks == one.recorded.facts["blocks"] for one in blocks)
