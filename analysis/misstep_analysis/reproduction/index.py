"""The index of a run: how the figures of each paper fared and its main finding, then notebooks and data sets."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from misstep_analysis.audit.overview import PAPERS
from misstep_analysis.pages.foot import Dataset, Foot, datasets, described
from misstep_analysis.pages.page import table_id
from misstep_analysis.pages.rendering import render
from misstep_analysis.published import load_paper
from misstep_analysis.reproduction.notebook import Report
from misstep_analysis.tables import FAILED, STATUS_WORDS, WORST_FIRST, Row, Status
from misstep_analysis.tables.summary import counted, counted_by_paper, measured_rows, row_text
from misstep_analysis.tables.wording import counted_text

_FIGURES_TOLD = 2
_STATED_ELSEWHERE = "Rates stated with public results"


class NotebookLine(Struct, frozen=True):
    """A notebook's line: finding or error, and how many printed figures have which status.

    A printed figure counts once, by its worst status in the notebook, as in the sentence on the whole run.
    """

    report: Report
    statuses: tuple[tuple[Status, int], ...]
    figures: int

    @property
    def address(self) -> str:
        """Return the page, beside the index."""
        return f"{self.report.name}.html"


class PaperLine(Struct, frozen=True):
    """A paper's line: how many of its printed figures have which status, worst first.

    `finding` is its main one, and `address` its table; empty if the run has no such table. The last line may be of
    rates that are stated with public results, which no paper prints.
    """

    title: str
    counts: tuple[int, ...]
    finding: str = ""
    address: str = ""


class DatasetLine(Struct, frozen=True):
    """A data set's line; `figures` is 0 if the set was not available or nothing was measured on it."""

    dataset: Dataset
    found: str
    figures: int
    notebooks: tuple[str, ...]


def index_page(reports: Iterable[Report], foot: Foot) -> str:
    """Return the index of a run, from its notebooks' reports and its origin."""
    lines = notebook_lines(reports)
    sets = dataset_lines(lines)
    return render(
        "index.html.jinja",
        title="Findings of this run",
        news=_sentence(_news(lines)),
        bookkeeping=_sentence(_bookkeeping(lines)),
        papers=paper_lines(lines),
        statuses=WORST_FIRST,
        lines=lines,
        sets=sets,
        foot=described(foot),
    )


def notebook_lines(reports: Iterable[Report]) -> list[NotebookLine]:
    """Return a line a notebook, worst news first: errors, then impossible and differing figures, then by name."""
    lines = [_notebook_line(report) for report in reports]

    def badness(line: NotebookLine) -> tuple[bool, list[bool], str]:
        statuses = dict(line.statuses)
        return line.report.error is None, [status not in statuses for status in FAILED], line.report.name

    return sorted(lines, key=badness)


def paper_lines(lines: Iterable[NotebookLine]) -> list[PaperLine]:
    """Return a line a paper of which the run compares a figure; their counts add up to those of the whole run."""
    reports = sorted((line.report for line in lines), key=lambda report: report.name)
    counts = counted_by_paper([row for report in reports for table in report.tables for row in table.rows])
    remembered = {
        table.paper: (table.finding, f"{report.name}.html#{table_id(table)}")
        for report in reports
        for table in report.tables
        if f"{table.paper}/{table.name}" in report.remember
    }
    titles = {slug: load_paper(slug).title for slug in PAPERS} | {"": _STATED_ELSEWHERE}
    return [
        PaperLine(title, tuple(counts[slug][status] for status in WORST_FIRST), *remembered.get(slug, ()))
        for slug, title in titles.items()
        if slug in counts
    ]


def dataset_lines(lines: Iterable[NotebookLine]) -> list[DatasetLine]:
    """Return a line a data set that a notebook names: first those on which nothing was measured, then by name."""
    reports = [line.report for line in lines]
    tables = [(report.name, table) for report in reports for table in report.tables]
    wanted = [name for report in reports for name in report.datasets]
    summaries = []
    for dataset in datasets([*wanted, *(name for _, table in tables for name in table.datasets)]):
        using = [(notebook, table) for notebook, table in tables if dataset.name in table.datasets]
        measured = [rows for _, table in using if (rows := measured_rows(table, dataset.name))]
        summaries.append(
            DatasetLine(
                dataset,
                "; ".join(row_text(rows[0]) for rows in measured[:_FIGURES_TOLD]),
                sum(map(len, measured)),
                tuple(dict.fromkeys(notebook for notebook, _ in using)),
            )
        )
    return sorted(summaries, key=lambda line: (line.figures > 0, line.dataset.name))


def summary(lines: Sequence[NotebookLine]) -> str:
    """Return the whole run in one sentence: failed notebooks, figures that differ or cannot be, figures in all."""
    return _sentence([*_news(lines), *_bookkeeping(lines)])


def _news(lines: Sequence[NotebookLine]) -> list[str]:
    failed = sum(line.report.error is not None for line in lines)
    statuses = counted(_rows(lines)).statuses
    counts, compared = Counter(statuses), len(statuses)
    parts = [f"{counted_text(failed, 'notebook')} of {len(lines)} failed"] if failed else []
    if compared:
        numbers = ", ".join(
            f"{counts[status]:,} {STATUS_WORDS[status][counts[status] != 1]}"
            for status in WORST_FIRST
            if counts[status]
        )
        parts.append(f"of {counted_text(compared, 'printed figure')} compared, {numbers}")
    return parts


def _bookkeeping(lines: Sequence[NotebookLine]) -> list[str]:
    figures = counted(_rows(lines))
    parts = [f"{counted_text(figures.figures, 'figure')} in {counted_text(len(lines), 'notebook')}"]
    if figures.repeated:
        parts.append("a printed figure counts once, with its worst status")
    return parts


def _rows(lines: Iterable[NotebookLine]) -> list[Row]:
    return [row for line in lines for table in line.report.tables for row in table.rows]


def _sentence(parts: Sequence[str]) -> str:
    joined = "; ".join(parts)
    return f"{joined[0].upper()}{joined[1:]}." if joined else ""


def _notebook_line(report: Report) -> NotebookLine:
    rows = [row for table in report.tables for row in table.rows]
    counts = Counter(counted(rows).statuses)
    return NotebookLine(report, tuple((status, counts[status]) for status in WORST_FIRST if counts[status]), len(rows))
