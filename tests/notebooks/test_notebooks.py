"""Notebooks compute in sight, have their figures checked by `make reproduce`, and run without public data."""

import ast
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from misstep_analysis.pages.page import TABLE_TYPE, Shown
from misstep_analysis.reproduction.recorded import again, generated_study, recovery, watching
from misstep_analysis.reproduction.recorded.classified import RUN_SETS
from misstep_analysis.reproduction.reflexive import plateau
from misstep_analysis.tables import Table
from misstep_analysis.tables.files import from_document
from misstep_harness.catalogue import data_sets
from tests.conftest import MadeOnce
from tests.misstep.made_up_runs import four, repaired_run

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
STATISTICS = ("misstep_analysis.stats", "scipy", "sklearn", "statsmodels")
NAMES = sorted(file.stem for file in NOTEBOOKS.glob("*.ipynb"))


class Executed(Struct):
    """A notebook after its cells ran: the names that they left, and the tables that they showed."""

    names: dict[str, Any]
    tables: dict[str, Table]


def executed(notebook: str) -> Executed:
    """Run the cells of a notebook in this process."""
    names: dict[str, Any] = {}
    tables: dict[str, Table] = {}

    def display(shown: object) -> None:
        data = shown._repr_mimebundle_() if isinstance(shown, Shown) else {}
        if TABLE_TYPE in data:
            table = from_document(data[TABLE_TYPE])
            tables[table.name] = table

    names["display"] = display
    for source in sources(notebook):
        tree = ast.parse(source)
        last = tree.body[-1]
        if isinstance(last, ast.Expr):
            call = ast.Call(ast.Name("display", ast.Load()), [last.value], [])
            tree.body[-1] = ast.Expr(call)
        exec(compile(ast.fix_missing_locations(tree), notebook, "exec"), names)  # noqa: S102 (the project's own)
    return Executed(names, tables)


def sources(notebook: str) -> list[str]:
    cells = json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.fixture(scope="session")
def one_cache(made_once: MadeOnce) -> Path:
    """A cache for all notebooks in all processes of the tests, so that runs are generated and classified once."""
    return made_once("cache-of-notebooks", Path.mkdir)


@pytest.fixture
def small_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shrink the studies: what agrees with a table agrees at any size, and `make reproduce` runs them whole."""
    sizes: dict[Any, dict[str, dict[str, Any]]] = {
        generated_study: {"generated_study": {"n": 250, "validation": 200}},
        plateau: {"generated_answers": {"n": 120}},
        recovery: {"unaided_loops": {"datasets": RUN_SETS[:3]}},
    }
    for module, functions in sizes.items():
        for name, arguments in functions.items():
            monkeypatch.setattr(module, name, partial(getattr(module, name), **arguments))
    watched_generated, recordings = watching.watched_generated, again.recorded_repairs
    monkeypatch.setattr(watching, "watched_generated", lambda _, seed: watched_generated(250, seed))
    monkeypatch.setattr(again, "recorded_repairs", lambda folder: recordings(folder)[:2])


@pytest.mark.usefixtures("small_studies")
@pytest.mark.parametrize(
    "notebook",
    [
        "autotriage_curation",
        "autotriage_triage",
        "engineering_agent_repairs",
        "engineering_agent_solve_rates",
        "judges_compared",
        "wink_prevalence",
        "your_agents",
    ],
)
def test_a_notebook_runs_where_no_public_data_are_at_hand(notebook, one_cache, own_cache, tmp_path, monkeypatch):
    monkeypatch.setenv("MISSTEP_DATA", str(tmp_path))
    generated = Path("studies", "generated_study")
    (one_cache / generated).mkdir(parents=True, exist_ok=True)
    (own_cache / "studies").mkdir(parents=True)
    (own_cache / generated).symlink_to(one_cache / generated)  # the same sessions, with public data and without
    tables = executed(notebook).tables.values()
    assert {name for table in tables for row in table.rows for name in row.datasets} <= set(data_sets())


def test_recorded_repairs_stand_beside_the_printed_ones_as_computed_in_sight(tmp_path, monkeypatch) -> None:
    place = tmp_path / "recordings" / "repair"
    for setting, solved in (("react", "apple"), ("react+static+tests", "apple pear plum")):
        attempts = four(solved, setting=setting)
        repaired_run(place / setting, attempts, setting=setting, benchmark="orchard", evidence="generated")
    monkeypatch.setattr("misstep_analysis.repair.recorded_runs.data_folder", lambda: tmp_path)
    monkeypatch.setenv("MISSTEP_DATA", str(tmp_path))
    after = executed("engineering_agent_repairs")
    frame = after.names["solve_rate"]
    assert sorted(frame.xs("generated", level="evidence").value) == [0.25, 0.75]
    assert {row.value for row in after.tables["ablation"].rows if row.evidence == "generated"} >= {0.25, 0.75}
    assert len(after.tables["ablation_pairs"].rows) > 0


@pytest.mark.parametrize("notebook", NAMES)
def test_a_notebook_has_its_figures_in_sight_checked_when_it_is_reproduced(notebook: str) -> None:
    assert json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text())["metadata"]["misstep"]["checked"]


@pytest.mark.parametrize("notebook", NAMES)
def test_a_notebook_loads_records_as_a_frame_and_calls_a_statistic_in_sight(notebook: str) -> None:
    tree = ast.parse("\n".join(sources(notebook)))
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    methods = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    statistics = {name.name for one in imports if one.module.startswith(STATISTICS) for name in one.names}
    assert called & statistics
    assert any(one.startswith("frames.") for one in methods)


@pytest.mark.parametrize("notebook", NAMES)
def test_each_cell_has_a_name_of_its_own_and_none_that_computes_is_longer_than_15_lines(notebook: str) -> None:
    names = [cell["id"] for cell in json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text())["cells"]]
    assert sorted(names) == sorted(set(names))
    assert [one for one in sources(notebook) if one.count("\n") >= 15 and "import" not in one] == []
