"""`misstep reproduce`: notebooks in, pages, tables and an index out; the same seed gives the same bytes."""

import json
import os
import re
import sys
import tempfile
from pathlib import Path

import pytest
from msgspec import Struct
from typer.testing import CliRunner, Result

from misstep import reproduce
from misstep.__main__ import main
from misstep.reproduce import app
from misstep_analysis.reproduction.notebooks import execute, read
from misstep_analysis.reproduction.reproduce import chosen
from misstep_harness import places
from misstep_harness.errors import InputError, MissingPrerequisite, UsageError
from tests.analysis.pages.html_rules import check_page
from tests.analysis.pages.made_up_notebooks import TABLE_SOURCE, code, notebook, printed, prose
from tests.misstep.made_up_runs import benchmark_of_runs, judged_run, verdict

pytest.importorskip("nbclient", reason="pip install 'misstep[notebooks]' brings what runs notebooks")

ENVIRONMENT_SOURCE = "import os; print(os.environ['MISSTEP_SEED'], os.environ.get('MISSTEP_DATA', 'no data'))"


def write(folder: Path, name: str, *cells) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.ipynb"
    path.write_text(json.dumps(notebook(*cells)))
    return path


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def notebooks(tmp_path, monkeypatch) -> Path:
    """A folder that stands for the project's notebooks: one sound, one that fails in its second cell."""
    folder = made_up_notebooks(tmp_path)
    monkeypatch.setattr(places, "notebooks_folder", lambda: folder)
    return folder


def made_up_notebooks(parent: Path) -> Path:
    folder = parent / "notebooks"
    write(folder, "good_one", prose("# A good one"), code(TABLE_SOURCE), code(ENVIRONMENT_SOURCE))
    write(folder, "failing_one", prose("# A failing one"), code("a = 1"), code("a / 0"), code("print('never')"))
    return folder


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


class Finished(Struct):
    """A run of the made-up notebooks: what it said, what it wrote, and what else it left in the folder for such."""

    result: Result
    out: Path
    left: list[Path]


@pytest.fixture(scope="module", params=["text", "json"])
def each_run(request, finished) -> Finished:
    return finished[request.param]


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> dict[str, Finished]:
    """The same run twice, in two places: as text and as JSON."""
    folder = made_up_notebooks(tmp_path_factory.mktemp("project"))
    runs = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places, "notebooks_folder", lambda: folder)
        patch.delenv("MISSTEP_DATA", raising=False)
        for name, options in (("text", []), ("json", ["--json"])):
            own = tmp_path_factory.mktemp(name)
            patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("temporary")))
            result = run("--out", own / "deep" / "out", "--seed", 7, *options)
            runs[name] = Finished(result, own / "deep" / "out", list(Path(tempfile.gettempdir()).iterdir()))
    return runs


def test_a_failing_notebook_is_exit_1_while_the_others_have_their_pages_and_tables(each_run):
    assert each_run.result.exit_code == 1
    assert set(tree(each_run.out)) == {
        "index.html",
        "good_one.html",
        "failing_one.html",
        "failing_one.stderr.txt",
        "provenance.json",
        "tables/made_up/loops.csv",
        "tables/made_up/loops.json",
        "tables/made_up/loops.md",
    }


def test_the_pages_say_what_was_found_and_what_failed(finished):
    out = finished["text"].out
    pages = {path.stem: check_page(path.read_text()) for path in out.glob("*.html")}
    assert "Loops are in 30.0% (19.0–44.0%), not in 20%." in pages["good_one"].text
    assert "7 no data" in pages["good_one"].text
    for name in ("failing_one", "index"):
        assert "ZeroDivisionError: division by zero" in pages[name].text
    linked = {
        address for page in pages.values() for address in page.addresses if not address.startswith(("#", "data:"))
    }
    assert linked
    assert all((out / address).is_file() for address in linked)


def test_the_same_seed_gives_the_same_bytes_wherever_it_runs(finished):
    first, second = tree(finished["text"].out), tree(finished["json"].out)
    assert first == second
    for run_ in finished.values():
        assert str(run_.out.parent).encode() not in b"".join(first.values())


def test_every_figure_of_the_run_is_in_its_provenance(each_run):
    result = json.loads((each_run.out / "provenance.json").read_text())
    assert [(one["table"], one["row"], one["evidence"]) for one in result["figures"]] == [
        ("loops", 0, "published"),
        ("loops", 1, "recomputed"),
    ]
    assert (result["command"], result["seed"]) == ("misstep reproduce --seed 7", 7)


def test_nothing_is_left_behind(each_run):
    assert each_run.left == []


def test_a_few_lines_a_notebook_are_printed_worst_news_first_and_the_index_last(finished):
    out = finished["text"].out
    assert finished["text"].result.stdout.splitlines() == [
        "A failing one",
        "  error: ZeroDivisionError: division by zero",
        f"  {out / 'failing_one.html'}",
        "",
        "A good one",
        "  Loops are in 30.0% (19.0–44.0%), not in 20%.",
        "  printed figures compared: 1 differs",
        f"  {out / 'good_one.html'}",
        "",
        "1 notebook of 2 failed; of 1 printed figure compared, 1 differs; 2 figures in 2 notebooks.",
        str(out / "index.html"),
    ]


def test_quiet_leaves_of_the_text_the_sentence_about_the_run_and_the_index(tmp_path, monkeypatch):
    monkeypatch.setattr(reproduce, "run_notebooks", lambda *_: [])
    lines = run("--out", tmp_path, "--quiet").stdout.splitlines()
    assert len(lines) == 2
    assert lines[1] == str(tmp_path / "index.html")


def test_a_line_a_notebook_is_on_stderr_as_it_ends_also_where_stderr_is_not_a_terminal(each_run):
    lines = [line for line in each_run.result.stderr.splitlines() if " of 2 notebooks, " in line]
    assert [line.split()[0] for line in lines] == ["1", "2"]
    assert {line.rpartition(" s: ")[2] for line in lines} == {"good_one", "failing_one"}


def test_stderr_names_the_error_of_a_failing_notebook_and_a_file_has_its_traceback(each_run):
    file = each_run.out / "failing_one.stderr.txt"
    assert [line for line in each_run.result.stderr.splitlines() if line.startswith("failing_one: ")] == [
        "failing_one: ZeroDivisionError: division by zero",
        f"failing_one: the traceback is in {file}",
    ]
    assert "Traceback" in file.read_text()


def test_of_many_warnings_a_few_are_printed_and_the_rest_is_a_file(notebooks, tmp_path):
    write(notebooks, "warns", code("import sys\nfor n in range(9): print(f'\x1b[31mwarning {n}', file=sys.stderr)"))
    result = run("warns", "--out", tmp_path / "out")
    output = [line for line in result.stderr.splitlines() if line.startswith("warns: ")]
    assert (len(output), output[-1]) == (4, f"warns: all of it is in {tmp_path / 'out' / 'warns.stderr.txt'}")
    assert "warning 8" in (tmp_path / "out" / "warns.stderr.txt").read_text()
    assert "\x1b" not in result.stderr


def test_a_full_disk_in_a_notebook_is_one_sentence(tmp_path, monkeypatch):
    source = "from misstep_harness.errors import CannotWrite\nraise CannotWrite('kept.bin', 'No space left on device')"
    write(tmp_path / "notebooks", "full", prose("# A full disk"), code(source))
    monkeypatch.setattr(places, "notebooks_folder", lambda: tmp_path / "notebooks")
    result = run("--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "full: CannotWrite: kept.bin: cannot write: No space left on device. Free some space there" in result.stderr


def test_json_is_one_document_with_the_worst_news_first(finished):
    document = json.loads(finished["json"].result.stdout)
    failing, good = document["pages"]
    assert (failing["notebook"], failing["error"]) == ("failing_one", "ZeroDivisionError: division by zero")
    assert (good["error"], good["statuses"], good["figures"]) == (None, {"differs": 1}, 2)
    (table,) = good["tables"]
    assert json.loads(Path(table["json"]).read_text())["name"] == "loops"
    assert all(Path(table[format_]).is_file() for format_ in ("csv", "markdown"))
    assert document["seed"] == 7


@pytest.mark.parametrize("named_by", ["the option", "the environment"])
def test_kernels_see_the_data_folder_that_was_named_from_wherever_they_run(notebooks, tmp_path, monkeypatch, named_by):
    write(notebooks, "where", code(ENVIRONMENT_SOURCE))
    (tmp_path / "sets" / "trail").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MISSTEP_DATA", "sets" if named_by == "the environment" else "nowhere")
    options = [] if named_by == "the environment" else ["--data", "sets"]
    assert run("where", "--out", tmp_path / "out", *options).exit_code == 0
    assert f"0 {tmp_path / 'sets'}" in (tmp_path / "out" / "where.html").read_text()


PLOT_SOURCE = """\
import matplotlib.pyplot as plt
figure, axes = plt.subplots()
axes.plot([1, 2, 3])
axes.set_title("Rising <b>")
figure
"""

FRAME_SOURCE = """\
import pandas
pandas.DataFrame({"said": ["<script>alert(1)</script>", "fine"], "n": [1, 2.5]})
"""


def test_a_plotted_figure_and_a_data_frame_are_an_image_and_a_table_of_the_page(notebooks, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("MPLBACKEND", "agg")
    write(notebooks, "mine", prose("# Mine"), code(PLOT_SOURCE), code(FRAME_SOURCE))
    assert run("mine", "--out", tmp_path / "out").exit_code == 0
    text = (tmp_path / "out" / "mine.html").read_text()
    page = check_page(text)
    assert (page.tags.count("img"), page.tags.count("table"), page.tags.count("script")) == (1, 1, 1)
    assert [one[:22] for one in page.addresses if one.startswith("data:image")] == ["data:image/png;base64,"]
    assert 'alt="A figure: Rising &lt;b&gt;"' in text
    assert "<script>alert(1)</script>" in page.text
    assert "<Figure size" not in page.text


def test_stopping_ends_the_kernels_that_still_run(tmp_path):
    note = tmp_path / "pid"
    waits = f"import pathlib, time\nwhile not pathlib.Path({str(note)!r}).exists(): time.sleep(0.01)"
    endless = f"import os, pathlib, time\npathlib.Path({str(note)!r}).write_text(str(os.getpid()))\ntime.sleep(600)"
    running = execute([write(tmp_path, "quick", code(waits)), write(tmp_path, "endless", code(endless))], {})
    path, _ = next(running)
    assert path.stem == "quick"
    running.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def test_a_changed_copy_of_a_notebook_and_a_starter_notebook_are_pages_like_any_other(notebooks, tmp_path, monkeypatch):
    judged = judged_run(tmp_path / "run", benchmark_of_runs(tmp_path / "gates", 4), [verdict(n) for n in range(4)])
    line = ["misstep", "export", str(judged), "--to", "notebook", "--out", str(notebooks / "started.ipynb")]
    monkeypatch.setattr(sys, "argv", line)
    with pytest.raises(SystemExit, match="0"):
        main()
    changed = TABLE_SOURCE.replace("0.3,", "0.4,")
    write(notebooks, "My copy", code(changed), code(changed.replace("0.4,", "0.5,")))
    write(notebooks, "named_badly", code(TABLE_SOURCE.replace('"loops"', '"My loops"')))
    result = run("--out", tmp_path / "first", "--json")
    pages = {one["notebook"]: one for one in json.loads(result.stdout)["pages"]}
    assert {name: [table["name"] for table in one["tables"]] for name, one in pages.items()} == {
        "My copy": ["loops", "loops-my-copy"],
        "failing_one": [],
        "good_one": ["loops-good_one"],
        "named_badly": [],
        "started": [],
    }
    assert "'My loops' is not a valid name" in pages["named_badly"]["error"]
    assert pages["started"]["error"] is None
    (link,) = re.findall(r'href="(tables/[^"]*json)"', (tmp_path / "first" / "good_one.html").read_text())
    assert json.loads((tmp_path / "first" / link).read_text())["rows"][1]["value"] == 0.3


def test_a_notebook_that_would_be_the_index_is_refused(notebooks, tmp_path):
    write(notebooks, "index", prose("# Mine"))
    assert "another name" in str(run("--out", tmp_path / "out").exception)


def test_a_kernel_that_dies_fails_its_notebook_alone(notebooks, tmp_path):
    write(notebooks, "dying", code("import os; os._exit(3)"))
    result = run("dying", "good", "--out", tmp_path / "out", "--json")
    dying, good = json.loads(result.stdout)["pages"]
    assert dying["error"] == "DeadKernelError: Kernel died"
    assert good["error"] is None


def test_stored_outputs_are_not_trusted(tmp_path):
    path = write(tmp_path / "in", "stored", code("1", printed("an old figure")))
    assert read(path).cells[0].outputs == []


def test_a_file_that_is_no_notebook_is_named(tmp_path):
    path = tmp_path / "broken.ipynb"
    path.write_text("{")
    with pytest.raises(InputError, match=r"broken\.ipynb"):
        read(path)


def test_a_prefix_chooses_its_notebooks_and_one_that_fits_none_lists_what_there_is():
    paths = [Path("a_one.ipynb"), Path("a_two.ipynb"), Path("b.ipynb")]
    assert (chosen(paths, ["a"]), chosen(paths, [])) == (paths[:2], paths)
    with pytest.raises(UsageError, match=r"no notebook starts with 'x'. The notebooks are: a_one, a_two, b"):
        chosen(paths, ["x"])
    with pytest.raises(MissingPrerequisite, match="no notebooks"):
        chosen([], [])


@pytest.mark.usefixtures("notebooks")
def test_a_data_folder_without_any_data_set_is_refused_before_anything_runs(tmp_path):
    error = run("--data", tmp_path, "--out", tmp_path / "out").exception
    assert isinstance(error, UsageError)
    assert "holds none of the data sets" in error.line()
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("notebooks")
def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    assert isinstance(run("--out", tmp_path / "file" / "out").exception, UsageError)
