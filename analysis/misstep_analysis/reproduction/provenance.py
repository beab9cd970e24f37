"""Write the sources of a run's pages and figures: source pages, records, examples of runs, `provenance.json`."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version as version_of
from itertools import chain
from pathlib import Path

import msgspec

from misstep_analysis.pages.origins import (
    DataSetRecord,
    RecordFile,
    Upstream,
    data_sets_of,
    example_address,
    origin_pages,
)
from misstep_analysis.pages.page import Foot, versions
from misstep_analysis.pages.trajectory import trajectory_page
from misstep_analysis.provenance import Input, InputFile, Provenance, made_tables, module_sha256
from misstep_analysis.published import published_papers
from misstep_analysis.reproduction.notebook import Report
from misstep_analysis.reproduction.recorded.classified import GENERATED, GENERATED_SET, version
from misstep_analysis.tables import Table
from misstep_analysis.tables.files import file_addresses
from misstep_analysis.tables.summary import figures_of
from misstep_harness.benchmarks.folders import benchmark_folder, read_trajectories
from misstep_harness.catalogue import address_template, data_set, files_of, locate
from misstep_harness.classifiers import classify_all
from misstep_harness.datasets.fetching import check
from misstep_harness.errors import MissingPrerequisite
from misstep_harness.generate.sessions import generate_sessions
from misstep_harness.journal.records import replace_file
from misstep_harness.places import data_folder
from misstep_harness.trajectory import Trajectory


def example_pages(
    tables: Sequence[Table], command: str, seed: int, data: Path | None = None
) -> Iterator[tuple[str, str]]:
    """Return the page of every run that a row is an example of: address beside the page of the table, content."""
    wanted: dict[str, dict[str, str]] = defaultdict(dict)
    for example in (row.example for table in tables for row in table.rows if row.example):
        dataset, _, id_ = example.rpartition("#")[0].partition("/")
        wanted[dataset][id_] = example_address(example).partition("#")[0]
    for dataset, addresses in sorted(wanted.items()):
        is_set = dataset != GENERATED_SET
        foot = Foot(command, inputs=(version(dataset),) if is_set else (), seed=seed)
        generated = (case.trajectory for case in generate_sessions(GENERATED, seed))
        runs = read_trajectories(benchmark_folder(dataset, data)) if is_set else generated
        for run in _first_of_each(runs, set(addresses)):
            yield addresses[run.id], trajectory_page(run, classify_all(run), foot)


def _first_of_each(runs: Iterable[Trajectory], ids: set[str]) -> Iterator[Trajectory]:
    """Return the runs of those ids; of the others nothing is kept, and nothing is read once all are found."""
    for run in runs:
        if run.id in ids:
            ids.remove(run.id)
            yield run
        if not ids:
            return


_FILE = "provenance.json"


def write_provenance(reports: Sequence[Report], out: Path, command: str, seed: int, data: Path | None = None) -> None:
    """Write `provenance.json` and every page that the tables of a run link to."""
    by_name = {(table.paper, table.name): table for report in reports for table in report.tables}
    tables = [by_name[key] for key in sorted(by_name)]
    sets = dict.fromkeys(name for table in tables for name in data_sets_of(table))
    records = {name: data_set_record(name, data) for name in sorted(sets)}
    origins = origin_pages(tables, records, Foot(command, seed=seed)).items()
    for address, text in chain(origins, example_pages(tables, command, seed, data)):
        target = out / address
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, text.encode())
    document = provenance(reports, tables, records, command, seed)
    replace_file(out / _FILE, msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")


def provenance(
    reports: Sequence[Report], tables: Sequence[Table], records: dict[str, DataSetRecord], command: str, seed: int
) -> Provenance:
    """Return every figure of a run with what it is made of."""
    figures = figures_of(tables, published_papers(), seed)
    drawn: dict[tuple[str, str], list[str]] = {}
    for drawing, source in (pair for report in reports for pair in report.drawings):
        if source is not None and source.is_known:
            drawn.setdefault((source.table.paper, source.table.name), []).append(drawing.title)
    files = {
        (table.paper, table.name): {called: f"tables/{address}" for called, address in file_addresses(table).items()}
        for table in tables
    }
    names = sorted({name for figure in figures for name in figure.inputs})
    return Provenance(
        command,
        seed,
        dict(versions()),
        tuple(_input(name, records) for name in names),
        made_tables({report.name: report.tables for report in reports}, drawn, files),
        figures,
    )


def data_set_record(name: str, data: Path | None = None) -> DataSetRecord:
    """Return what a public data set is, and whether the files available are those that are registered."""
    entry, at = data_set(name), address_template().format
    try:
        verified = check(name, locate(name, data)).complete
    except MissingPrerequisite:
        verified = None
    return DataSetRecord(
        name=name,
        title=entry.title,
        licence=entry.licence,
        citation=entry.citation,
        left_out=entry.left_out,
        upstream=tuple(
            Upstream(called, one.repository, one.commit, at(repository=one.repository, commit=one.commit, path=""))
            for called, one in sorted(entry.sources.items())
        ),
        files=tuple(
            RecordFile(
                file.file, file.bytes, file.sha256, file.source, file.upstream_path, entry.derived.get(file.file, "")
            )
            for file in files_of(name)
        ),
        version=version(name),
        list_sha256=_sha256((data_folder() / "datasets" / f"{name}.csv").read_bytes()),
        verified=verified,
    )


def _input(name: str, records: dict[str, DataSetRecord]) -> Input:
    kind, _, own = name.partition("/")
    if kind == "published":
        return Input(name, "published file", "", _sha256((data_folder() / "published" / f"{own}.toml").read_bytes()))
    if kind == "generated":
        digest = module_sha256(own)
        return Input(name, "generated", version_of("misstep"), digest, verified=bool(digest))
    record = records[own]
    return Input(
        name,
        "data set",
        record.version,
        record.list_sha256,
        {source.repository: source.commit for source in record.upstream},
        tuple(InputFile(file.file, file.sha256) for file in record.files),
        record.verified,
    )


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
