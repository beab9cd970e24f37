"""Rules that every loader of a public data set meets; loaders are found by the registry, so none is left out.

The rule on gold labels: an item never holds its label, and a trajectory keeps its outcome only where the outcome is not
what the judge is asked for. It is checked by what a judge could do: no field of an item or of its trajectory, but the
text of the run itself, may tell the label.
"""

import csv
import hashlib
import pkgutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from misstep_harness import datasets
from misstep_harness.benchmarks.folders import read_trajectories
from misstep_harness.catalogue import data_sets
from misstep_harness.datasets import LOADERS, loader_for
from misstep_harness.datasets.benchmark import Item, read_benchmark
from misstep_harness.items import read_items
from misstep_harness.readers import read_file
from misstep_harness.runs.inputs import trajectories
from misstep_harness.trajectory import Skipped, Trajectory, Unreadable

EVERY = sorted(LOADERS)
OUTCOMES = {"passed", "failed"}


@pytest.fixture(scope="module", params=EVERY)
def written(request: pytest.FixtureRequest, loaded: Callable[[str], list[Path]]) -> list[Path]:
    """What one loader makes of its upstream files, in a folder of its name."""
    return loaded(request.param)


@lru_cache(2)
def runs_of(folder: Path) -> tuple[Trajectory, ...]:
    return tuple(read_trajectories(folder))


def gold_rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "gold.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def fields(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Path → value of every field below `value`, lists as one value."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from fields(part, f"{path}.{key}" if path else str(key))
    else:
        yield path, str(value)


def seen_of_item(item: Item) -> dict[str, str]:
    """Every field of an item."""
    return dict(fields(msgspec.to_builtins(item)))


def seen_of(run: Trajectory) -> dict[str, str]:
    """Every field of a trajectory; of what steps hold in `extra` the last value."""
    about = msgspec.to_builtins(msgspec.structs.replace(run, steps=()))
    seen = {f"trajectory.{path}": value for path, value in fields(about)}
    for step in run.steps:
        for part in (step, *step.calls, *step.results):
            seen |= {f"trajectory.steps.{path}": value for path, value in fields(part.extra)}
    return seen


def telling(rows: Iterable[tuple[dict[str, str], str]]) -> set[str]:
    """The fields whose values tell the label: each value goes with one label, and values recur, so it is not a name."""
    labels_by_value: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    counts: dict[str, int] = defaultdict(int)
    for seen, label in rows:
        for field, value in seen.items():
            labels_by_value[field][value].add(label)
            counts[field] += 1
    return {
        field
        for field, values in labels_by_value.items()
        if len(set().union(*values.values())) > 1
        and all(len(labels) == 1 for labels in values.values())
        and 2 * len(values) <= counts[field]
    }


@pytest.mark.parametrize("name", EVERY)
def test_a_loader_has_the_name_of_its_set_and_opens_with_what_that_is_and_the_shape_of_a_row(name: str) -> None:
    assert name == loader_for(name).NAME
    assert name in data_sets()
    opening = loader_for(name).__doc__ or ""
    assert opening.partition("\n")[0].endswith(".")
    assert any(line.startswith("    ") for line in opening.splitlines())


def test_every_module_that_loads_is_registered() -> None:
    modules = {module.name for module in pkgutil.walk_packages(datasets.__path__, f"{datasets.__name__}.")}
    loading = {module for module in modules if hasattr(__import__(module, fromlist=["load"]), "load")}
    assert loading == set(LOADERS.values())


@pytest.mark.data
def test_items_have_ids_of_their_own_and_the_kind_of_their_benchmark(written: list[Path]) -> None:
    for folder in written:
        items = list(read_items(folder))
        assert items
        assert len({item.id for item in items}) == len(items)
        assert {item.kind for item in items} == {read_benchmark(folder).kind}


@pytest.mark.data
def test_a_gold_label_is_of_an_item_by_a_rater_and_among_the_declared_labels(written: list[Path]) -> None:
    for folder in written:
        benchmark = read_benchmark(folder)
        ids = {item.id for item in read_items(folder)}
        rows = gold_rows(folder)
        assert {row["item"] for row in rows} <= ids
        assert {row["rater"] for row in rows} == set(benchmark.raters)
        if benchmark.labels:
            assert {row["label"] for row in rows} <= set(benchmark.labels)
        assert not benchmark.positive or benchmark.positive in benchmark.labels
        assert all(row["label"] for row in rows)


@pytest.mark.data
def test_the_benchmark_file_counts_what_stands_in_the_folder(written: list[Path]) -> None:
    for folder in written:
        counts = read_benchmark(folder).counts
        assert counts["items"] == len(list(read_items(folder)))
        assert counts["labels"] == len(gold_rows(folder))
        assert counts["trajectories"] == len(runs_of(folder))


@pytest.mark.data
def test_every_run_of_a_loaded_set_is_read_by_whoever_is_given_its_folder(written: list[Path]) -> None:
    for folder in written:
        results = list(trajectories([folder]))
        assert not [one for one in results if isinstance(one, Unreadable)]
        ids = [one.id for one in results if isinstance(one, Trajectory)]
        assert ids == [run.id for run in runs_of(folder)]
        others = {Path(one.file).name for one in results if isinstance(one, Skipped)}
        assert not [name for name in others if name != "benchmark.toml" and not name.startswith("gold")]


@pytest.mark.data
def test_a_trajectory_reads_back_and_says_of_which_set_it_is_but_not_where_it_lay(written: list[Path]) -> None:
    name = written[0].name
    for folder in written:
        runs = {run.id: run for run in runs_of(folder)}
        wanted = {item.trajectory_id for item in read_items(folder) if item.trajectory_id is not None}
        assert wanted <= set(runs)
        assert {run.source.dataset for run in runs.values()} <= {name}
        assert not [run.source.file for run in runs.values() if Path(run.source.file).is_absolute()]


@pytest.mark.data
def test_nothing_that_a_judge_sees_tells_the_gold_label(written: list[Path]) -> None:
    for folder in written:
        runs = {run.id: run for run in runs_of(folder)}
        seen_of_run = {name: seen_of(run) for name, run in runs.items()}
        seen = {
            item.id: seen_of_item(item) | seen_of_run.get(item.trajectory_id or "", {}) for item in read_items(folder)
        }
        rows: dict[str, list[tuple[dict[str, str], str]]] = defaultdict(list)
        for row in gold_rows(folder):
            rows[row["rater"]].append((seen[row["item"]], row["label"]))
        assert {rater: told for rater, rated in rows.items() if (told := telling(rated))} == {}, folder.name


@pytest.mark.data
def test_where_the_outcome_is_asked_for_no_trajectory_has_it(written: list[Path]) -> None:
    for folder in written:
        if set(read_benchmark(folder).labels) == OUTCOMES:
            outcomes = {(run.outcome.status, run.outcome.reward) for run in runs_of(folder)}
            assert outcomes <= {("unknown", None)}


@pytest.mark.data
def test_loading_twice_gives_the_same_bytes(written: list[Path], data_folder: Path, tmp_path: Path) -> None:
    name = written[0].parent.name
    loader_for(name).load(data_folder / name, tmp_path / name, read_file)
    first, second = (
        {
            f"{folder.name}/{path.relative_to(folder)}": hashlib.sha256(path.read_bytes()).hexdigest()
            for folder in made
            for path in folder.rglob("*")
            if path.is_file()
        }
        for made in (written, sorted(tmp_path.iterdir()))
    )
    assert first == second
    assert {"benchmark.toml", "items.jsonl", "gold.csv"} <= {Path(path).name for path in first}


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (["1.0", "0.0", "1.0", "0.0"], True),  # a reward
        (["1.0", "0.2", "1.0", "0.2"], True),  # the best of several rewards
        (["1.0", "0.2", "1.0", "1.0"], False),  # a number that goes with both
        (["a", "b", "c", "d"], False),  # a name
        (["a", "a", "a", "a"], False),  # always the same
    ],
)
def test_the_check_for_telling_fields_finds_a_planted_one(values: list[str], told: bool) -> None:
    labels = ["passed", "failed", "passed", "failed"]
    rows = [({"field": value}, label) for value, label in zip(values, labels, strict=True)]
    assert telling(rows) == ({"field"} if told else set())


def test_the_check_sees_the_outcome_of_a_trajectory_and_what_a_loader_left_in_extra() -> None:
    run = msgspec.convert(
        {
            "id": "r",
            "source": {"format": "f"},
            "outcome": {"status": "passed"},
            "extra": {"info": {"reward": 1.0}},
            "steps": [{"role": "agent", "extra": {"reward": 0.5}}, {"role": "agent", "extra": {"reward": 1.0}}],
        },
        Trajectory,
    )
    seen = seen_of(run)
    assert seen["trajectory.outcome.status"] == "passed"
    assert seen["trajectory.extra.info.reward"] == "1.0"
    assert seen["trajectory.steps.reward"] == "1.0"
