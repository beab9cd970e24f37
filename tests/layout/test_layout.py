"""Rules about the tree itself: what stands where, what imports what, what a clone may not carry."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import misstep
from tests.layout.sources import MODULES, NOTEBOOKS, PACKAGES, ROOT, code_of, nodes_of, text_of, tree_of

TRACKED = subprocess.run(
    ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
).stdout.splitlines() or [str(file.relative_to(ROOT)) for file in ROOT.rglob("*") if ".venv" not in file.parts]


PAPERS = {"wink": "observer", "engineering_agent": "repair", "reflexive": "reflexive", "autotriage": "triage"}
"""Slug of a paper → the system that it describes."""


def _name(file: Path) -> str:
    return str(file.relative_to(ROOT))


def test_a_module_opens_by_saying_what_it_is() -> None:
    assert [path for path in MODULES if not ast.get_docstring(tree_of(path))] == []


def test_a_file_over_600_lines_is_two_files() -> None:
    assert [path for path in MODULES if text_of(path).count("\n") > 600] == []


def test_a_measure_reads_no_row_of_a_table_back() -> None:
    rows = {
        path: {node.attr for node in nodes_of(path) if isinstance(node, ast.Attribute)} & {"quantity", "group"}
        for path in MODULES
        if path.startswith("analysis/") and not {"tables", "pages", "page", "plots"} & set(Path(path).parts)
    }
    assert {path: read for path, read in rows.items() if read} == {}


def test_every_room_of_the_tree_in_the_documents_exists_and_none_is_left_out() -> None:
    tree = (ROOT / "docs/layout.md").read_text().split("```text tree\n")[1].split("```")[0]
    drawn = {line.split()[0].rstrip("/") for line in tree.splitlines() if re.match(r"\s*[a-z_]+/ ", line)}
    rooms = {
        folder.name
        for package in PACKAGES
        for folder in [(ROOT / package).parent, ROOT / package, *(ROOT / package).iterdir()]
        if folder.is_dir() and not folder.name.startswith("_") and list(folder.glob("*.py"))
    } | {"notebooks", "data", "examples", "tests", "benchmarks"}
    assert drawn == rooms


def test_help_and_errors_are_quick_because_nothing_heavy_is_imported_for_them() -> None:
    script = (
        "import sys, contextlib, io\n"
        "sys.argv = ['misstep', '--help']\n"
        "from misstep.__main__ import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): main()\n"
        "print(*sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "misstep.__main__" in loaded
    assert not loaded & {"numpy", "pandas", "scipy", "statsmodels", "matplotlib", "jinja2", "nbclient", "rich.console"}


def test_a_notebook_is_prose_and_calls_without_stored_outputs() -> None:
    for file in NOTEBOOKS:
        code = [cell for cell in json.loads(file.read_text())["cells"] if cell["cell_type"] == "code"]
        assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code), file.name
        nodes = ast.walk(ast.parse(code_of(file)))
        assert not [node for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda)], file.name


@pytest.mark.parametrize("slug", sorted(file.stem for file in (ROOT / "data/published").glob("*.toml")))
def test_a_paper_has_figures_a_module_a_notebook_and_a_test_under_one_slug(slug: str) -> None:
    room = f"analysis/misstep_analysis/{PAPERS[slug]}/paper"
    assert (ROOT / room / "__init__.py").is_file()
    assert list((ROOT / "notebooks").glob(f"{slug}_*.ipynb"))
    assert list((ROOT / f"tests/analysis/{PAPERS[slug]}/paper").glob("test_*.py"))


def test_the_constraints_name_no_index_and_no_hash() -> None:
    text = (ROOT / "constraints.txt").read_text()
    assert not re.search(r"://|^--|--hash", text, flags=re.MULTILINE)


def test_no_file_of_another_machine_or_lock_with_addresses_is_kept() -> None:
    assert not [name for name in TRACKED if Path(name).name in {"uv.lock", "poetry.lock", "package-lock.json"}]
    machine_path = re.compile(r"(?<![\w.])/(?:root|work)/")
    kept = [ROOT / name for name in TRACKED if name.endswith((".py", ".md", ".toml", ".ipynb", ".sh", ".yaml"))]
    assert not [_name(file) for file in kept if file.is_file() and machine_path.search(file.read_text())]


def test_only_statistics_and_public_names_have_docstrings_with_sections() -> None:
    sections = re.compile(r"^(?:Parameters|Returns|Raises|Attributes|Yields)\n-{3,}$", re.MULTILINE)
    public = {name for names in misstep._MODULES.values() for name in names} | {"open"}
    results = []
    for path in MODULES:
        if "/stats/" not in path and re.search(r"^ *-{3,}$", text_of(path), re.MULTILINE):
            for node in tree_of(path).body:
                if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name not in public:
                    inner = [one for one in ast.walk(node) if isinstance(one, ast.ClassDef | ast.FunctionDef)]
                    results += [f"{path}: {one.name}" for one in inner if sections.search(ast.get_docstring(one) or "")]
    assert results == [], "write one line, or a list of fields"
