"""`provenance.json` has every figure of a run with the hashes of its inputs, and no link of its pages is dead."""

import hashlib
import json
from pathlib import Path
from urllib.parse import urldefrag

import pytest
from msgspec import structs

from misstep_analysis.observer.paper import prevalence as wink
from misstep_analysis.pages import Foot, show_figure
from misstep_analysis.plots.rows import bars
from misstep_analysis.reproduction.notebook import notebook_page, read_notebook, write_figures
from misstep_analysis.reproduction.provenance import data_set_record, write_provenance
from misstep_analysis.tables import Row, Table, made_by_this
from misstep_analysis.tables.files import write_table
from misstep_harness.catalogue import files_of
from misstep_harness.places import data_folder
from tests.analysis.pages.html_rules import check_page
from tests.analysis.pages.made_up_notebooks import code, displayed, notebook, shown

GENERATOR = "misstep_harness.generate.sessions.generate_sessions"
COMMAND = "misstep reproduce made_up --seed 5"


@made_by_this
def measured() -> Table:
    rows = (
        Row("Loops", 0.1, 0.05, 0.2, 40, "real", "mast@1a2b", unit="share"),
        Row("Loops", 1.0, n=9, evidence="generated", source="generated, seed 5, n 9", unit="share"),
    )
    return Table("measured", "made_up", "Measured", "It is 10%.", rows, datasets=("mast",), generator=GENERATOR)


def write_run(out: Path) -> tuple[Table, ...]:
    """Write what a run of one notebook would write, and give its tables."""
    printed = structs.replace(
        wink.prevalence_table(), made_by="misstep_analysis.observer.paper.prevalence.prevalence_table"
    )
    figure = show_figure(bars(printed.rows[:2], printed.title), "Shares.")._repr_mimebundle_()
    executed = notebook(code("1", displayed(figure)), code("2", shown(printed)), code("3", shown(measured())))
    report = read_notebook("made_up", executed)
    out.mkdir(parents=True)
    (out / "index.html").write_text("")
    (out / "made_up.html").write_text(notebook_page(report, executed, Foot(COMMAND, seed=5)))
    write_figures(report, out)
    for table in report.tables:
        write_table(table, out / "tables")
    with pytest.MonkeyPatch.context() as patch:  # no data set is available
        patch.delenv("MISSTEP_DATA", raising=False)
        patch.setenv("MISSTEP_CACHE", str(out / "no cache"))
        write_provenance([report], out, COMMAND, 5)
    return report.tables


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> tuple[Path, tuple[Table, ...]]:
    out = tmp_path_factory.mktemp("run") / "out"
    return out, write_run(out)


@pytest.fixture(scope="module")
def document(run):
    return json.loads((run[0] / "provenance.json").read_text())


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_every_row_of_every_table_is_there_as_it_stands_in_its_file(run, document):
    out, _ = run
    results = {(one["paper"], one["table"], one["row"]): one for one in document["figures"]}
    expected = {
        (table["paper"], table["name"], place): row
        for table in (json.loads(path.read_text()) for path in sorted(out.glob("tables/*/*.json")))
        for place, row in enumerate(table["rows"])
    }
    assert results.keys() == expected.keys()
    assert len(results) == len(document["figures"]) > 20
    for key, row in expected.items():
        told = {name: results[key][name] for name in ("quantity", "group", "evidence", "source")}
        assert told == {name: row[name] for name in told}


def test_every_input_that_a_figure_names_is_there_and_none_besides(document):
    named = {name for figure in document["figures"] for name in figure["inputs"]}
    assert [one["name"] for one in document["inputs"]] == sorted(named)
    assert named == {"published/wink", "datasets/mast", f"generated/{GENERATOR}"}
    assert all(figure["inputs"] for figure in document["figures"])


def test_hashes_are_those_of_the_files(document):
    root = Path(wink.__file__).parents[4]
    inputs = {one["name"]: one for one in document["inputs"]}
    assert inputs["published/wink"]["sha256"] == sha256(data_folder() / "published/wink.toml")
    assert inputs["datasets/mast"]["sha256"] == sha256(data_folder() / "datasets/mast.csv")
    assert inputs[f"generated/{GENERATOR}"]["sha256"] == sha256(root / "harness/misstep_harness/generate/sessions.py")
    (table,) = (one for one in document["tables"] if one["paper"] == "wink")
    assert table["function_sha256"] == sha256(Path(wink.__file__))


def test_a_data_set_has_its_commits_and_the_hash_of_each_file(document):
    (one,) = (one for one in document["inputs"] if one["kind"] == "data set")
    assert [(file["file"], file["sha256"]) for file in one["files"]] == [
        (file.file, file.sha256) for file in files_of("mast")
    ]
    assert all(len(commit) == 40 for commit in one["commits"].values())
    assert one["verified"] is None


def test_a_table_names_its_function_its_notebook_its_files_and_what_is_drawn_from_it(run, document):
    out, _ = run
    tables = {one["name"]: one for one in document["tables"]}
    assert tables["prevalence"]["function"] == "misstep_analysis.observer.paper.prevalence.prevalence_table"
    assert tables["prevalence"]["drawn"] == [tables["prevalence"]["title"]]
    assert tables["measured"]["drawn"] == []
    assert all(one["notebooks"] == ["made_up"] for one in document["tables"])
    assert all((out / file).is_file() for one in document["tables"] for file in one["files"].values())


def test_command_seed_and_versions_are_there(document):
    assert (document["command"], document["seed"]) == (COMMAND, 5)
    assert {"misstep", "Python", "numpy", "scipy", "pandas"} <= document["versions"].keys()
    assert {figure["seed"] for figure in document["figures"]} == {5}


def test_a_second_run_writes_the_same_bytes_and_none_of_the_machine(run, tmp_path):
    first = {path.relative_to(run[0]): path.read_bytes() for path in run[0].rglob("*") if path.is_file()}
    write_run(tmp_path / "other")
    second = {path.relative_to(tmp_path / "other"): path.read_bytes() for path in (tmp_path / "other").rglob("*.*")}
    assert first == {path: second[path] for path in first}
    machine = (str(run[0].parent), str(Path(wink.__file__).parents[4]))
    assert not [path for path, content in first.items() for place in machine if place.encode() in content]


def test_no_link_on_any_page_is_dead(run):
    out, _ = run
    pages = {path: check_page(path.read_text()) for path in out.rglob("*.html") if path.name != "index.html"}
    assert {path.parent.name for path in pages} == {"out", "code", "records"}
    for path, page in pages.items():
        for link in page.addresses:
            address, place = urldefrag(link)
            target = (path.parent / address).resolve() if address else path
            if not link.startswith("data:"):
                assert target.is_file(), link
                assert place in ("", *(pages[target].ids if target in pages else ())), link


@pytest.mark.data
def test_the_files_at_hand_are_checked_against_the_registry(data_folder, tmp_path):
    assert data_set_record("mast", data_folder).verified is True
    (tmp_path / "mast").mkdir()
    (tmp_path / "mast" / "human_labels.csv").write_text("others")
    assert data_set_record("mast", tmp_path).verified is False
