"""A file that holds a part of upstream's rows is cut out of a whole, byte for byte; runs are counted as registered."""

import csv
import gzip
import hashlib
import json
from pathlib import Path

import pytest

from misstep.harness.datasets.catalogue import files_of, inputs_of
from misstep.harness.datasets.derived.derivations import DERIVATIONS
from misstep.harness.datasets.derived.derived_parts import mini_runs


def _registered(name: str, file: str) -> str:
    return next(one.sha256 for one in files_of(name) if one.file == file)


def _content(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


@pytest.mark.data
def test_rows_are_cut_out_of_a_table_that_has_others_between_them(data_folder: Path) -> None:
    file = data_folder / "agentless_classes" / "classifications.csv.gz"
    header, *rows = _content(file).split(b"\r\n")[:-1]
    other = b'made__up-%d,"a text\nof two lines","x ""y""",,none,none,,,'
    whole = [header]
    for number, row in enumerate(rows):
        whole += [other % number, row]
    data = b"".join(row + b"\r\n" for row in whole)
    made = DERIVATIONS["agentless_classes"][file.name]({"upstream.csv": data})
    assert hashlib.sha256(made).hexdigest() == _registered("agentless_classes", file.name)


@pytest.mark.data
@pytest.mark.parametrize("name", ["augmented_tests.json", "reparsed_lite.json.gz", "reparsed_verified.json.gz"])
def test_keys_are_cut_out_of_an_object_however_it_is_laid_out(data_folder: Path, name: str) -> None:
    part = json.loads(_content(data_folder / "utboost" / name))
    whole = {"made__up-1": {}}
    for number, (key, value) in enumerate(part.items()):
        whole |= {key: value, f"another__one-{number}": value}
    made = DERIVATIONS["utboost"][name]({"upstream.json": json.dumps(whole, indent=4).encode()})
    assert hashlib.sha256(made).hexdigest() == _registered("utboost", name)


@pytest.mark.data
def test_the_runs_at_hand_have_the_rows_of_the_registered_table(data_folder: Path) -> None:
    folder = data_folder / "mini_swe_agent_runs"
    paths = {one.upstream_path.rpartition("/")[2]: one.upstream_path for one in inputs_of("mini_swe_agent_runs")}
    inputs = {paths["results_summary.csv"]: (folder / "results_summary.csv").read_bytes()}
    for file in (folder / "trajectories").iterdir():
        inputs[paths[file.name.removesuffix(".gz")]] = _content(file)
    made = mini_runs(inputs).decode().splitlines()
    assert len(made) == 17
    assert set(made) <= set((folder / "runs.csv").read_text().splitlines())


@pytest.mark.data
def test_the_inputs_of_a_table_of_runs_are_its_rows_and_their_outcomes(data_folder: Path) -> None:
    with (data_folder / "mini_swe_agent_runs" / "runs.csv").open(newline="") as stream:
        instances = [row["instance_id"] for row in csv.DictReader(stream)]
    listed = [one.upstream_path.rpartition("/")[2] for one in inputs_of("mini_swe_agent_runs")]
    assert listed == ["results_summary.csv", *(f"{instance}.traj.json" for instance in instances)]
