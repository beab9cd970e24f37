"""What a notebook computes in sight is what the table below it shows.

A cell that computes ends with a frame whose index is called as fields of a table's row are (`quantity`, `group`) and
whose columns are called so as well (`value`, `low`, `high`, `n`). Each line of the frame is looked for in the table.
"""

import ast
import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from misstep.analysis.pages.notebooks.display import TABLE_TYPE, Shown
from misstep.analysis.papers.wink import simulation
from misstep.analysis.tables import Row, Table
from misstep.analysis.tables.files import from_document
from misstep.harness.datasets.catalogue import data_sets
from misstep.studies.frames import values
from misstep.studies.recorded import again, generated_study, recovery
from misstep.studies.recorded.classified import RUN_SETS
from misstep.studies.reflexive import memory, plateau
from misstep.studies.sessions import watching
from tests.misstep.made_up_runs import four, repaired_run

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
STATISTICS = ("misstep.analysis.stats", "scipy", "sklearn", "statsmodels")
FIGURES = ("value", "low", "high", "n")

_IN_SIGHT = """
autotriage_agreement: reconstructed=annotation agreement=annotation fleiss=real_agreement
autotriage_judges: by_judge=real_judges clustered=real_judges readable=real_marks
  corrected_shares=corrected_prevalence agreements=triage_judges recalls=triage_errors unacceptable=judge
  verified=wink_judge_precision
autotriage_curation: shares=curation of_tasks=real_defects
autotriage_triage: by_judge=nine_judges agreements=nine_judges recalls=judge_errors p_values=direction
  one_answered=real_triage
engineering_agent_repairs: solve_rate=ablation unacceptable=judge_readings model_rates=public_repairs
  between=public_repairs mcnemar=public_repairs passes=broken_programs test_passes=broken_programs
engineering_agent_solve_rates: solve_rate=solve_rates pass_at=pass_at_k pass_at_5=pass_at_k
  pass_hat_4=repeated_trials best_rates=submissions neighbours=ranking mcnemar=ranking of_attempted=denominators
  of_all=denominators unacceptable=judge production=production
judges_compared: difference=recorded_pairs p_value=recorded_pairs accuracies=recorded_both_ways
  shares=recorded_direction rated_alike=recorded_ratings truth=corrected_halves precisions=precision_floors
published_audit: counts=overview found=detection caught=detection_curve
reflexive_loop: solved=ablation hidden_p=ablation_effects
reflexive_runs: rates=fix_rates of_all=outcomes by_category=categories repeats=plateau ratios=budgets
  sudo=failure_modes
wink_interventions: rates=recovery gaps=recovery_difference at_one_mix=recovery_difference
  highest_share=recovery_control precision=recovery_judge repeated=unaided_loops alarmed=lead_time
  false_alarms_on_clean=detectors naive=shadow_mode borne=shadow_mode naive_alarms=false_alarms
  clustered_alarms=false_alarms holm=experiment peeked=peeking
wink_live_experiments: by_arm=recovery_effect flagged=shadow_mode change=experiment_evidence
  by_engineer=experiment_evidence of_loops=recovery_reasons
wink_prevalence: shares=prevalence arms=models by_set=real_prevalence planted_shares=generated_prevalence
  holm_p=generated_models of_disliked=ratings
your_agents: set_shares=by_set shares=prevalence pairs=co_occurrence in_fifths=places recall=validity
  planted=generated
"""
VISIBLE = {
    notebook: dict(pair.split("=") for pair in pairs.split())
    for notebook, pairs in (line.split(": ") for line in _IN_SIGHT.replace("\n  ", " ").splitlines() if line)
}
"""Notebook → the frames that it computes in sight → the table that shows the same."""


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


def lines_without_a_row(frame: Any, table: Table) -> list[dict[str, Any]]:
    """The lines of a frame that no computed row of a table has."""
    rows = [row for row in table.rows if row.evidence != "published"]
    columns = [name for name in FIGURES if name in frame.columns]
    lines = frame.reset_index().to_dict("records")
    return [line for line in lines if not any(_is(line, row, frame.index.names, columns) for row in rows)]


def _is(line: dict[str, Any], row: Row, names: list[str], columns: list[str]) -> bool:
    of_the_same = all(getattr(row, name) == line[name] for name in names)
    return of_the_same and all(_equal(line[name], getattr(row, name)) for name in columns)


def _equal(visible: float, shown: float | str | None) -> bool:
    return math.isnan(visible) if not isinstance(shown, int | float) else math.isclose(visible, shown, rel_tol=1e-9)


@pytest.fixture(scope="session")
def one_cache(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A cache for all notebooks in all processes of the tests, so that runs are generated and classified once."""
    own = tmp_path_factory.getbasetemp()
    return (own if worker_id == "master" else own.parent) / "cache-of-notebooks"


@pytest.fixture
def small_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shrink the studies: what agrees with a table agrees at any size, and `make reproduce` runs them whole."""
    sizes: dict[Any, dict[str, dict[str, Any]]] = {
        generated_study: {"generated_study": {"n": 500, "validation": 400}},
        memory: {"memory_study": {"sets": 2, "rounds": 2}, "drift_study": {"seeds": (0,)}},
        plateau: {"generated_answers": {"n": 120}},
        recovery: {"unaided_loops": {"datasets": RUN_SETS[:3]}},
        simulation: {"power_table": {"samples": 50}},
    }
    for module, functions in sizes.items():
        for name, arguments in functions.items():
            monkeypatch.setattr(module, name, partial(getattr(module, name), **arguments))
    watched_generated, recordings = watching.watched_generated, again.recorded_repairs
    monkeypatch.setattr(watching, "watched_generated", lambda _, seed: watched_generated(250, seed))
    monkeypatch.setattr(again, "recorded_repairs", lambda folder: recordings(folder)[:2])


@pytest.mark.usefixtures("small_studies")
@pytest.mark.parametrize("notebook", sorted(VISIBLE))
def test_what_is_computed_in_sight_is_what_the_table_shows(
    notebook: str, one_cache: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISSTEP_CACHE", str(one_cache))
    monkeypatch.setenv("MISSTEP_DATA", str(data_folder))
    after = executed(notebook)
    for name, table in VISIBLE[notebook].items():
        assert len(after.names[name]), name
        assert lines_without_a_row(after.names[name], after.tables[table]) == [], name


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
def test_a_notebook_runs_where_no_public_data_are_at_hand(
    notebook: str, one_cache: Path, own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISSTEP_DATA", str(tmp_path))
    generated = Path("studies", "generated_study")
    (one_cache / generated).mkdir(parents=True, exist_ok=True)
    (own_cache / "studies").mkdir(parents=True)
    (own_cache / generated).symlink_to(one_cache / generated)  # the same sessions, with public data and without
    tables = executed(notebook).tables.values()
    assert {name for table in tables for row in table.rows for name in row.datasets} <= set(data_sets())


def test_recorded_repairs_stand_beside_the_printed_ones_as_computed_in_sight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "recordings" / "repair"
    for setting, solved in (("react", "apple"), ("react+static+tests", "apple pear plum")):
        attempts = four(solved, setting=setting)
        repaired_run(place / setting, attempts, setting=setting, benchmark="orchard", evidence="generated")
    monkeypatch.setattr("misstep.studies.repair_runs.data_folder", lambda: tmp_path)
    monkeypatch.setenv("MISSTEP_DATA", str(tmp_path))
    after = executed("engineering_agent_repairs")
    frame = after.names["solve_rate"]
    assert sorted(frame.xs("generated", level="evidence").value) == [0.25, 0.75]
    assert lines_without_a_row(frame, after.tables["ablation"]) == []
    assert len(after.tables["ablation_pairs"].rows) > 0


def test_every_notebook_computes_figures_in_sight() -> None:
    assert sorted(VISIBLE) == sorted(file.stem for file in NOTEBOOKS.glob("*.ipynb"))


@pytest.mark.parametrize("notebook", sorted(VISIBLE))
def test_a_notebook_loads_records_as_a_frame_and_calls_a_statistic_in_sight(notebook: str) -> None:
    tree = ast.parse("\n".join(sources(notebook)))
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    methods = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    statistics = {name.name for one in imports if one.module.startswith(STATISTICS) for name in one.names}
    assert called & statistics
    assert any(one.startswith("frames.") for one in methods)


@pytest.mark.parametrize("notebook", sorted(VISIBLE))
def test_each_cell_has_a_name_of_its_own_and_none_that_computes_is_longer_than_15_lines(notebook: str) -> None:
    names = [cell["id"] for cell in json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text())["cells"]]
    assert sorted(names) == sorted(set(names))
    assert [one for one in sources(notebook) if one.count("\n") >= 15 and "import" not in one] == []


def test_a_figure_that_the_table_does_not_show_is_found() -> None:
    table = Table(
        "t", "p", "T", "F.", (Row("Kappa", 0.5, group="a"), Row("Kappa", 0.7, evidence="published", group="a"))
    )
    assert lines_without_a_row(values({("a", "Kappa"): 0.5}, "group", "quantity"), table) == []
    for found in ({("a", "Kappa"): 0.6}, {("b", "Kappa"): 0.5}, {("a", "Kappa"): 0.7}):
        assert len(lines_without_a_row(values(found, "group", "quantity"), table)) == 1
