"""The facts of public sets that come with Misstep are those of the pinned files, and no more than facts."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.catalogue import data_set
from misstep_harness.datasets.benchmark import Facts, recorded_folder
from scripts.record_facts import RECORDING, described, read_recording, tables

TABLES = tables()
LONGEST = 140
"""Characters of the longest name or label; what is longer is counts or a few labels over and over, or a text."""
DIGITS = re.compile(r"\d+")


@pytest.mark.data
@pytest.mark.parametrize("facts", [one for each in TABLES.values() for one in each], ids=lambda one: str(one.file.stem))
def test_measured_anew_the_facts_are_those_recorded(facts: Facts[Any], data_folder: Path, monkeypatch) -> None:
    monkeypatch.setenv("MISSTEP_DATA", os.fspath(data_folder))
    assert tuple(facts.measure(data_folder / facts.dataset)) == facts.recorded()


@pytest.mark.parametrize("dataset", TABLES)
def test_a_recording_is_of_the_registered_set_and_says_whose_it_is(dataset: str) -> None:
    folder, recording = recorded_folder(dataset), read_recording(dataset)
    contents = {facts.table: facts.file.read_bytes() for facts in TABLES[dataset]}
    assert recording == described(dataset, recording.attribution, contents, recording.rules)
    assert recording.attribution.startswith("Copyright") or data_set(dataset).citation in recording.attribution
    assert {file.name for file in folder.iterdir()} == {RECORDING, *(f"{table}.csv" for table in contents)}


@pytest.mark.parametrize("dataset", TABLES)
def test_recorded_rows_are_short_names_and_rows_of_counts_or_labels(dataset: str) -> None:
    rows = [row for facts in TABLES[dataset] for row in facts.recorded()]
    cells = {str(getattr(row, name)) for row in rows for name in row.__struct_fields__}
    assert [cell for cell in cells if len(cell) > LONGEST and len(set(DIGITS.sub("", cell).split())) > 3] == []


def test_all_facts_together_stay_small() -> None:
    assert sum(facts.file.stat().st_size for each in TABLES.values() for facts in each) <= 2 << 20
