"""The walks and CONTRIBUTING name files and functions; all exist, and the way from a figure leads to its arithmetic."""

import re
import sys
from collections.abc import Callable
from importlib import import_module

import pytest

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging import scores
from misstep_analysis.judging.scores import scores_table
from misstep_analysis.stats.clusters import clustered_bounds
from misstep_analysis.stats.estimate import Estimate
from misstep_harness.verdict import Verdict
from tests.docs.documents import DOCUMENTS, EVERYTHING, ROOT

PATHS = ("README.md", "CONTRIBUTING.md", "DECISIONS.md", "docs/**/*.md", "examples/**/*.md")
FOLDERS = "harness|analysis|misstep|tests|scripts|data|docs|examples|notebooks|benchmarks"
TEXT = DOCUMENTS["docs/walks.md"]
WAYS = [line for line in TEXT.splitlines() if line.count("| `") == 4 and "`misstep_analysis.stats." in line]
NAMES = sorted({name for line in WAYS for name in re.findall(r"`(misstep_analysis\.[\w.]+)`", line)})


def test_a_file_or_folder_that_a_document_names_exists() -> None:
    files = [file for pattern in PATHS for file in sorted(ROOT.glob(pattern))]
    named = [
        (file.name, path) for file in files for path in re.findall(rf"`((?:{FOLDERS})/[\w./*-]*)", file.read_text())
    ]
    assert [(file, path) for file, path in named if not any(ROOT.glob(path))] == []


def test_each_walk_says_what_it_touches_and_goes_through_files() -> None:
    walks = TEXT.split("\n## ")[1:]
    assert len(walks) == 3
    assert all("\nTouched: " in walk and "`" in walk for walk in walks)


def replace(monkeypatch: pytest.MonkeyPatch, statistic: Callable[..., object], by: Callable[..., object]) -> None:
    """Put another function in the place of a statistic, in every module of `analysis` that has it by its name."""
    name = statistic.__name__
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("misstep_analysis.") and getattr(module, name, None) is statistic:
            monkeypatch.setattr(module, name, by)


def test_three_ways_are_written_down_and_their_figures_stand_in_the_documents() -> None:
    figures = [re.search(r"\d+\.\d+%?", line)[0] for line in WAYS]
    assert len(figures) == 3
    assert all(figure in EVERYTHING for figure in figures)


@pytest.mark.parametrize("name", NAMES)
def test_each_name_on_the_way_is_a_function(name: str) -> None:
    module, function = name.rsplit(".", 1)
    assert callable(getattr(import_module(module), function))


def test_notebooks_on_the_way_exist() -> None:
    notebooks = re.findall(r"`(notebooks/\w+\.ipynb)`", "".join(WAYS))
    assert notebooks
    assert all((ROOT / notebook).is_file() for notebook in notebooks)


def test_the_accuracy_of_a_judge_is_what_the_statistic_gives(monkeypatch) -> None:
    replace(monkeypatch, clustered_bounds.korn_graubard, lambda _: Estimate(0.25, n=2))
    verdicts = [Verdict(item, "judge", "yes", "answered") for item in ("a", "b")]
    gold = [GoldLabel(item, "rater", "yes") for item in ("a", "b")]
    scored = scores.score(verdicts, gold, clusters=dict.fromkeys("ab", "run"), resamples=10)
    assert scored.accuracy_all.value == 0.25
    assert scores_table(scored, "").rows[1].value == 0.25
