"""`misstep experiment codes` on the command line: blind sheets of a sample, decisions, the table."""

import csv
import json
from pathlib import Path

import pytest

from misstep_harness.observer.records import LIVE_RECORDS
from tests.misstep.as_a_user import CommandLine


def _rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_sample_is_drawn_coded_settled_and_shown(run: Path, tmp_path: Path, experiment: CommandLine) -> None:
    folder = tmp_path / "codes"
    line = ("codes", run, "--out", folder, "--coders", "ann,bob", "--n", 3)
    assert experiment(*line)[0] == 0
    ann, bob = (_rows(folder / f"sheet-{name}.csv") for name in ("ann", "bob"))
    assert sorted(row["item"] for row in ann) == sorted(row["item"] for row in bob)
    assert {row["code"] for row in ann + bob} == {""}
    item = next(row["item"] for row in ann if row["outcome"] == "recovered")
    page = (folder / "items" / f"{item.replace('#', '-')}.html").read_text()
    assert "heeds" not in page
    assert experiment(*line)[0] == 2

    with (folder / "decisions.csv").open("a") as stream:
        for settled in ("recover_from_infinite_loops", "ask_not_to_overdo"):
            stream.write(f"{item},{settled},ann and bob,\n")
    code, out, _ = experiment("codes", folder, "--json")
    assert code == 0
    recovered = json.loads(out)["outcomes"][0]
    assert (recovered["n"], recovered["shares"]["ask_not_to_overdo"]["value"]) == (1, 1.0)
    assert "ask_not_to_overdo" in {row["code"] for row in _rows(folder / "codes.csv")}


@pytest.mark.parametrize("coders", ["ann", "ann,ann", "ann,../bob"])
def test_coders_are_two_or_more_and_name_files(run: Path, tmp_path: Path, coders: str, experiment: CommandLine) -> None:
    code, _, err = experiment("codes", run, "--out", tmp_path / "codes", "--coders", coders)
    assert (code, "two or more" in err) == (2, True)
    assert (run / LIVE_RECORDS.file).exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--out", "codes"), "--out has no effect"),
        (("--coders", "ann,bob"), "--coders without a folder"),
        ((), "it has no sheet"),
    ],
)
def test_sheets_are_drawn_with_coders_and_a_folder(
    run: Path, options: tuple[str, ...], message: str, experiment: CommandLine
) -> None:
    code, _, err = experiment("codes", run, *options)
    assert (code, message in err) == (2, True)
