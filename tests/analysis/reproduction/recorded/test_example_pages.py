"""A row that is an example of a run leads to the page of that run, at the step that shows it."""

import json
from pathlib import Path

from misstep_analysis.pages.origins import origins
from misstep_analysis.reproduction.provenance import example_pages
from misstep_analysis.reproduction.recorded.classified import example_sets
from misstep_analysis.sessions.run_findings import examples_table
from misstep_analysis.tables import Row, Table
from tests.analysis.pages.html_rules import Page, check_page

ROW = Row("the run", "steps 1", evidence="real", source="whoandwhen@1", example="whoandwhen/1#1")


def table_of(*rows: Row) -> Table:
    return Table("examples", "made_up", "Examples", "One.", rows, datasets=("whoandwhen",))


def test_each_example_of_generated_runs_has_a_page_with_the_step_that_its_link_names(monkeypatch) -> None:
    monkeypatch.delenv("MISSTEP_DATA", raising=False)
    monkeypatch.setattr("misstep_analysis.reproduction.recorded.classified.GENERATED", 40)
    monkeypatch.setattr("misstep_analysis.reproduction.provenance.GENERATED", 40)
    table = examples_table(example_sets())
    assert table.rows
    pages = dict(example_pages([table], "misstep reproduce", 0, None))
    for row in table.rows:
        address, _, place = origins(table).rows[row].partition("#")
        page = check_page(pages[address])
        assert place in page.ids
        assert row.quantity in page.text
        assert row.reason in page.text


def page_of_a_public_run(data: Path, question: str) -> Page:
    """The example page of a run that asks this, written as the data set Who&When writes it."""
    folder = data / "whoandwhen" / "logs"
    folder.mkdir(parents=True)
    said = [{"content": question, "role": "human"}, {"content": "8", "role": "A (x)", "name": "A"}]
    log = {"question": "How many?", "question_ID": "q", "level": "1", "ground_truth": "8", "is_correct": False}
    log |= {"history": said, "mistake_agent": "A", "mistake_step": "0", "mistake_reason": "r"}
    (folder / "1.json").write_text(json.dumps(log))
    ((address, text),) = example_pages([table_of(ROW, ROW)], "misstep reproduce", 0, data)
    assert address.startswith("runs/whoandwhen/1-")
    return check_page(text)


def test_a_run_of_a_public_set_is_read_from_its_benchmark(tmp_path: Path) -> None:
    plain = page_of_a_public_run(tmp_path / "plain", "How many?")
    hostile = page_of_a_public_run(tmp_path / "hostile", "How many? <script>a()</script>")
    assert "<script>a()</script>" in hostile.text
    assert hostile.tags == plain.tags


def test_tables_without_examples_have_no_such_pages() -> None:
    assert list(example_pages([table_of(Row("a", 1))], "misstep reproduce", 0, None)) == []
