"""Run the notebooks headless, and write their pages and tables, the index, and a summary as text or JSON."""

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain, count
from pathlib import Path
from typing import Any

from msgspec import Struct

from misstep_analysis.audit.overview import PAPERS
from misstep_analysis.pages.page import Dataset, Foot, datasets, described, render, table_id
from misstep_analysis.published import load_paper
from misstep_analysis.reproduction.notebook import (
    Report,
    notebook_page,
    read_notebook,
    with_table_names,
    write_figures,
)
from misstep_analysis.reproduction.notebooks import execute
from misstep_analysis.tables import FAILED, STATUS_WORDS, WORST_FIRST, Row, Status, Table
from misstep_analysis.tables.files import file_addresses, write_table
from misstep_analysis.tables.summary import counted, counted_by_paper, measured_rows, row_text
from misstep_analysis.tables.wording import counted_text
from misstep_harness import places
from misstep_harness.catalogue import data_sets, named_data_folder
from misstep_harness.errors import MissingPrerequisite, UsageError, writing
from misstep_harness.escaping import plain
from misstep_harness.journal.records import replace_file
from misstep_harness.progress import say

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


_INDEX = "index"
_WARNINGS_SHOWN = 3
_NO_SLUG = re.compile(r"[^a-z0-9_-]+")


def chosen(paths: Sequence[Path], prefixes: Sequence[str]) -> list[Path]:
    """Return the notebooks whose names start with one of the prefixes; all if there is none."""
    if not paths:
        raise MissingPrerequisite("this installation has no notebooks", "Install Misstep again from a clone.")
    for prefix in prefixes:
        if not any(path.stem.startswith(prefix) for path in paths):
            known = ", ".join(path.stem for path in paths)
            raise UsageError(f"no notebook starts with {prefix!r}", f"The notebooks are: {known}.")
    return [path for path in paths if not prefixes or path.stem.startswith(tuple(prefixes))]


def kernel_folders(data: Path | None) -> dict[str, str]:
    """Return where kernels find data sets and caches; they run in another folder, so that paths are absolute."""
    folders = {"MISSTEP_CACHE": str(places.cache_folder().resolve())}
    folder = named_data_folder(data)
    if folder is not None:
        if not any((folder / name).is_dir() for name in data_sets()):
            raise UsageError(
                f"{folder} holds none of the data sets",
                "Give the parent folder of the data sets; `misstep datasets fetch NAME --out DIR` makes one.",
            )
        folders["MISSTEP_DATA"] = str(folder.resolve())
    return folders


def notebooks_in(folder: Path) -> list[Path]:
    """Return the notebooks in a folder, by name."""
    notebooks = sorted(path for path in folder.glob("*.ipynb") if not path.name.startswith("."))
    if index := next((path for path in notebooks if path.stem == _INDEX), None):
        raise UsageError(f"the page of {index} would be the index of the run", "Give the notebook another name.")
    return notebooks


def make_folder(out: Path) -> None:
    """Make the folder that pages go to."""
    try:
        with writing(out):
            out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"--out {out} cannot be made: {error.strerror}"
        raise UsageError(message, "Name a folder that can be written.") from error


def run_notebooks(paths: Sequence[Path], environment: dict[str, str], out: Path, seed: int) -> list[Report]:
    """Run notebooks and write the page and the tables of each as it ends; returns their reports, by name.

    Of two that show different tables of one name the first by name keeps it, whichever ends first: the other's page and
    tables are written again.
    """
    executed: dict[str, tuple[Report, dict[str, Any]]] = {}
    reports: dict[str, tuple[Report, list[str]]] = {}
    begun = time.monotonic()
    with closing(execute(paths, environment)) as notebooks:
        for n, (path, notebook) in enumerate(notebooks, start=1):
            executed[path.stem] = read_notebook(path.stem, notebook), notebook
            done = sorted(executed)
            for name, names in zip(done, names_apart([executed[name][0] for name in done]), strict=True):
                if name not in reports or reports[name][1] != names:
                    renamed = with_table_names(executed[name][1], names)
                    reports[name] = read_notebook(name, renamed), names
                    _write(reports[name][0], renamed, out, seed)
            say(f"{n} of {len(paths)} notebooks, {time.monotonic() - begun:.0f} s: {path.stem}")
            for line in _said_of(reports[path.stem][0], out):
                say(f"{path.stem}: {plain(line)}")
    return [report for _, (report, _) in sorted(reports.items())]


def names_apart(reports: Sequence[Report]) -> Iterator[list[str]]:
    """Name the tables of each report; different tables of one name get that of their notebook as well."""
    by_name: dict[tuple[str, str], Table] = {}
    for report in reports:
        own = _NO_SLUG.sub("-", report.name.lower())
        names = []
        for table in report.tables:
            wanted = chain([table.name, f"{table.name}-{own}"], (f"{table.name}-{own}-{n}" for n in count(2)))
            names.append(next(name for name in wanted if by_name.setdefault((table.paper, name), table) == table))
        yield names


def _said_of(report: Report, out: Path) -> Iterator[str]:
    """List the error of a notebook and a few of its lines on stderr; all lines and the traceback go to a file."""
    lines = report.warnings.splitlines()
    traceback = report.error.traceback if report.error else ""
    file = out / f"{report.name}.stderr.txt"
    yield from lines[:_WARNINGS_SHOWN]
    if report.error:
        yield report.error.sentence()
    if not traceback and len(lines) <= _WARNINGS_SHOWN:
        file.unlink(missing_ok=True)
        return
    replace_file(file, f"{report.warnings}{traceback}\n".encode())
    yield f"{'the traceback' if traceback else 'all of it'} is in {file}"


def _write(report: Report, notebook: dict[str, Any], out: Path, seed: int) -> None:
    foot = Foot(
        command=f"misstep reproduce {report.name} --seed {seed}",
        datasets=tuple(name for table in report.tables for name in table.datasets),
        seed=seed,
    )
    replace_file(out / f"{report.name}.html", notebook_page(report, notebook, foot).encode())
    write_figures(report, out)
    for table in report.tables:
        write_table(table, out / "tables")


def write_index(reports: Sequence[Report], out: Path, command: str, seed: int) -> None:
    """Write `index.html`: what was found, a line a notebook and a line a data set."""
    sets = tuple(name for report in reports for table in report.tables for name in table.datasets)
    replace_file(out / "index.html", index_page(reports, Foot(command, datasets=sets, seed=seed)).encode())


def text_summary(reports: Sequence[Report], out: Path, *, quiet: bool = False) -> str:
    """Return a paragraph a notebook, worst news first, and the end, which `quiet` leaves alone."""
    lines = notebook_lines(reports)
    end = f"{summary(lines)}\n{out / 'index.html'}\n"
    if quiet:
        return end
    parts = []
    for line in lines:
        counts = ", ".join(f"{count:,} {STATUS_WORDS[status][count != 1]}" for status, count in line.statuses)
        news = [plain(line.report.title)]
        news += [f"  error: {plain(line.report.error.sentence())}"] if line.report.error else []
        news += [f"  {plain(line.report.finding)}"] if line.report.finding else []
        news += [f"  printed figures compared: {counts}"] if counts else []
        parts.append("\n".join([*news, f"  {out / line.address}"]) + "\n")
    return "\n".join([*parts, end])


def json_summary(reports: Sequence[Report], out: Path, seed: int) -> str:
    """Return one JSON document with a value a notebook, worst news first."""
    pages = [
        {
            "notebook": line.report.name,
            "title": line.report.title,
            "finding": line.report.finding,
            "error": line.report.error and line.report.error.sentence(),
            "statuses": dict(line.statuses),
            "figures": line.figures,
            "page": str(out / line.address),
            "tables": [
                {"paper": table.paper, "name": table.name, "finding": table.finding}
                | {called.lower(): str(out / "tables" / file) for called, file in file_addresses(table).items()}
                for table in line.report.tables
            ],
        }
        for line in notebook_lines(reports)
    ]
    return json.dumps({"index": str(out / "index.html"), "seed": seed, "pages": pages}, indent=1) + "\n"
