"""A folder whose name is not UTF-8: what needs no record of it works, and what does is refused in one line."""

import os
from pathlib import Path

import pytest

from misstep_harness.journal.records import read_manifest
from tests.harness.repair.cases import price_case
from tests.misstep.as_a_user import misstep
from tests.misstep.made_up import atif

REFUSED = "misstep: {}/caf\ufffd/{}: the path is not UTF-8, and no record can hold it. Rename the folder.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / os.fsdecode(b"caf\xe9")
    place.mkdir()
    return place


def test_sessions_in_it_are_read_and_runs_in_it_are_written_and_gone_on_with(folder: Path) -> None:
    (folder / "good.json").write_bytes(atif("good"))
    for _ in range(2):  # the second goes on with it
        classified = misstep("classify", folder / "good.json", "--out", folder / "run")
        assert (classified.returncode, "Traceback" in classified.stderr) == (0, False)
    manifest = read_manifest(folder / "run")
    assert manifest is not None
    assert manifest.arguments[-1].endswith("caf\ufffd/run")


def test_a_case_of_triage_in_it_is_refused(folder: Path) -> None:
    (folder / "case").mkdir()
    (folder / "case" / "case.toml").write_text('id = "case"\noutcome = "failed"\n')
    refused = misstep("triage", folder)
    assert (refused.returncode, refused.stderr) == (2, REFUSED.format(folder.parent, "case"))


def test_a_repository_in_it_is_refused_before_its_tests_are_run(folder: Path) -> None:
    repository = price_case(folder / "shop").folder / "before"
    (repository / ".git").mkdir()
    refused = misstep("repair", "run", repository, "--test-command", "pytest", "--out", folder.parent / "run")
    assert (refused.returncode, refused.stderr) == (2, REFUSED.format(folder.parent, "shop/before"))
