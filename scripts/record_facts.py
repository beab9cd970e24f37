"""Record the facts of public sets: labels, outcomes, ratings and counts, of the sets that are on this machine.

    python -m scripts.record_facts [SET ...]

Without a name it records all. A set that is not here whole stays as it is recorded.
"""

import csv
import hashlib
import io
import sys
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, TypeVar

from msgspec import Struct, structs

from misstep_analysis.reproduction.recorded import (
    classified,
    fault_data,
    ratings,
    recorded_judges,
    recovery,
    solve_rates,
    watching,
)
from misstep_analysis.reproduction.reflexive import plateau
from misstep_harness.benchmarks.folders import digest_of_sources
from misstep_harness.catalogue import data_set
from misstep_harness.datasets.benchmark import Facts, recorded_folder, whole_folder
from misstep_harness.datasets.upstream import toml_file
from misstep_harness.journal.records import replace_file, toml_text
from misstep_harness.places import data_folder

ROOMS = (solve_rates, ratings, recorded_judges, fault_data, classified, recovery, watching, plateau)

COPYRIGHT = {
    "agent_as_a_judge": "Copyright (c) 2024 metauto.ai",
    "agent_trajs": "Copyright (c) 2024 John Yang, Carlos E. Jimenez, Alexander Wettig, Shunyu Yao, Karthik Narasimhan, "
    "Ofir Press; Copyright (c) 2025 Kilian A. Lieret and Carlos E. Jimenez; Copyright (c) 2024 John Yang",
    "agentless_classes": "Copyright (c) 2024 OpenAutoCoder",
    "agentrx": "Copyright (c) Microsoft Corporation.",
    "devin": "Copyright (c) 2024 Cognition AI",
    "gemmaforge": "Copyright 2026 Ken Rollins",
    "humaneval_codegen16b_samples": "Copyright (c) Microsoft Corporation.",
    "humanevalfix": "Copyright (c) 2023 Muennighoff",
    "intercode": "Copyright (c) 2023 Princeton Natural Language Processing",
    "llm_agents_study": "Copyright (c) 2025 Islem BOUZENIA",
    "mini_swe_agent_runs": "Copyright (c) 2025 Kilian A. Lieret and Carlos E. Jimenez",
    "quixbugs": "Copyright 2017-2019 James Koppel",
    "swe_bench_pro": "Copyright (c) 2026 Scale AI, Inc; Copyright (c) 2026 Fulcrum",
    "swe_bench_resolved_submissions": "Copyright (c) 2026 Fulcrum",
    "taubench": "Copyright (c) 2024 Sierra",
    "trail": "Copyright (c) 2025 patronus-ai",
    "utboost": "Copyright (c) 2025 CUHK-Shenzhen-SE",
    "whoandwhen": "Copyright (c) 2025 Ming Yin",
}
"""The line in a set's licence; a set without one is attributed by its citation."""


Row = TypeVar("Row", bound=Struct)

RECORDING = "recording.toml"


class FactsRecording(Struct, frozen=True):
    """What `recording.toml` says of a set's facts.

    `files` digests the list of the files that they were made of, `rules` by table the code of what is ours in them.
    """

    title: str
    command: str
    licence: str
    attribution: str
    commits: dict[str, str]
    files: str
    tables: dict[str, str]
    rules: dict[str, str] = {}
    evidence: str = "real"


def tables() -> dict[str, list[Facts[Any]]]:
    """Return the tables of every set."""
    by_set: dict[str, list[Facts[Any]]] = defaultdict(list)
    for room in ROOMS:
        for facts in room.FACTS:
            by_set[facts.dataset].append(facts)
    return by_set


def main(names: list[str]) -> None:
    """Record the sets named."""
    known = tables()
    for name in names or known:
        folder = whole_folder(name)
        if folder is None:
            print(f"{name}: not here whole, left as it is")  # noqa: T201
            continue
        attribution = COPYRIGHT.get(name) or f"{data_set(name).citation}; reduced to labels"
        contents = {facts.table: csv_bytes(facts.row, facts.measure(folder)) for facts in known[name]}
        rules = {facts.table: digest_of_sources(*facts.rules) for facts in known[name] if facts.rules}
        place = recorded_folder(name)
        place.mkdir(parents=True, exist_ok=True)
        for table, content in contents.items():
            replace_file(place / f"{table}.csv", content)
        replace_file(place / RECORDING, toml_text(described(name, attribution, contents, rules)))
        print(f"{name}: {sum(map(len, contents.values())):,} bytes")  # noqa: T201


def read_recording(dataset: str) -> FactsRecording:
    """Return what is recorded of a set's facts."""
    return toml_file(recorded_folder(dataset) / RECORDING, FactsRecording)


def described(dataset: str, attribution: str, tables: dict[str, bytes], rules: dict[str, str]) -> FactsRecording:
    """Return the description of a set's facts, table → content of its file."""
    entry = data_set(dataset)
    return FactsRecording(
        f"Facts of: {entry.title}",
        f"python -m scripts.record_facts {dataset}",
        entry.licence,
        attribution,
        {source.repository: source.commit for source in entry.sources.values()},
        hashlib.sha256((data_folder() / "datasets" / f"{dataset}.csv").read_bytes()).hexdigest(),
        {name: hashlib.sha256(content).hexdigest() for name, content in tables.items()},
        rules,
    )


def csv_bytes(row: type[Row], rows: Iterable[Row]) -> bytes:
    """Return rows as the content of a CSV file."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(row.__struct_encode_fields__)
    writer.writerows(structs.astuple(one) for one in rows)
    return text.getvalue().encode()


if __name__ == "__main__":
    main(sys.argv[1:])
