"""The figures of the notebook on recorded judges, held against counts made straight from the upstream files."""

import json
import os
from pathlib import Path

import pytest

from misstep_analysis.judging.recorded_tables import compared
from misstep_analysis.reproduction.recorded import recorded_judges as studies_judges

Named = dict[str, set[str] | None]
"""Trace → the categories named, `None` without JSON."""


@pytest.fixture
def at_hand(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MISSTEP_DATA", os.fspath(data_folder))
    return data_folder


def named(folder: Path) -> Named:
    """The categories in each file of a folder of annotations or answers, read in the plainest way."""
    results: Named = {}
    for path in folder.iterdir():
        text = path.read_text().strip()
        if text.startswith("```"):
            text = text.split("\n", 1)[1].rsplit("```", 1)[0]
        try:
            document = json.loads(text)
        except json.JSONDecodeError:
            results[path.stem] = None
            continue
        parts = document if isinstance(document, list) else [document]
        results[path.stem] = {error["category"] for part in parts for error in part["errors"]}
    return results


def right(said: set[str] | None, meant: set[str], category: str) -> bool:
    return said is not None and (category in said) == (category in meant)


@pytest.mark.data
def test_trails_judges_differ_on_as_many_items_as_counted_from_their_files(at_hand: Path) -> None:
    trail = at_hand / "trail"
    people = named(trail / "annotations_gaia")
    everywhere = [*people.values(), *named(trail / "annotations_swe_bench").values()]
    categories = set().union(*(result for result in everywhere if result is not None))
    gemini, o4_mini = (named(trail / f"judge_outputs/{judge}_gaia") for judge in ("gemini-2.5-flash", "o4-mini"))
    counts = {(first, second): 0 for first in (True, False) for second in (True, False)}
    for trace, meant in people.items():
        for category in categories:
            assert meant is not None
            counts[right(gemini[trace], meant, category), right(o4_mini[trace], meant, category)] += 1
    match, *_ = compared([one for one in studies_judges.judged_by_category() if one.title.endswith("on gaia")], seed=0)
    pair = match.pair
    assert (pair.a, pair.b, pair.n) == ("gemini-2.5-flash on gaia", "o4-mini on gaia", 117 * 19)
    assert (pair.both, pair.only_a, pair.only_b, pair.neither) == tuple(counts.values())
