"""A triage verdict with its evidence; folders of triage cases: what is read, and what is refused."""

from pathlib import Path

import msgspec
import pytest

from misstep_harness.errors import InputError
from misstep_harness.triage.records import Evidence, TriageVerdict, read_triage_case, read_triage_cases
from misstep_harness.verdict import Verdict


def test_a_triage_verdict_reads_as_a_verdict_and_keeps_its_evidence():
    written = TriageVerdict(
        "case-1",
        "triage@rules",
        "agent",
        subcategory="logical_failure",
        evidence=(Evidence("log", "tests.log:3", "1 != 2"),),
    )
    line = msgspec.json.encode(written)
    assert msgspec.json.decode(line, type=TriageVerdict) == written
    assert msgspec.json.decode(line, type=Verdict).label == "agent"


def case_in(folder: Path, text: str = 'id = "one"\ntest_command = "true"\n') -> Path:
    folder.mkdir(parents=True)
    (folder / "case.toml").write_text(text)
    return folder


def test_a_case_needs_nothing_but_its_description(tmp_path):
    case = read_triage_case(case_in(tmp_path / "one"))
    assert (case.id, case.file.outcome, case.part("tests")) == ("one", None, None)


def test_limits_that_are_not_given_have_defaults(tmp_path):
    case = read_triage_case(case_in(tmp_path / "one", 'id = "one"\n[limits]\nseconds = 5\n'))
    assert (case.file.limits.seconds, case.file.limits.memory_mb) == (5, 1024)


def test_the_cases_of_a_folder_come_by_name(tmp_path):
    for name in ("b", "a"):
        case_in(tmp_path / name, f'id = "{name}"\n')
    assert [case.id for case in read_triage_cases(tmp_path)] == ["a", "b"]
    assert [case.id for case in read_triage_cases(tmp_path / "b")] == ["b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('id = "../up"\n', "is not a file name"),
        ('id = "one"\noutcome = "solved"\n', "outcome"),
        ('id = "one"\ntest_comand = "true"\n', "test_comand"),
        ("test_command = 'true'\n", "id"),
    ],
)
def test_what_breaks_the_form_is_named(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_triage_case(case_in(tmp_path / "one", text))


def test_two_cases_of_one_id_are_refused(tmp_path):
    for name in ("a", "b"):
        case_in(tmp_path / name)
    with pytest.raises(InputError, match="too"):
        list(read_triage_cases(tmp_path))


def test_neither_a_case_nor_its_description_is_read_through_a_link(tmp_path):
    own, case = case_in(tmp_path / "own"), tmp_path / "cases/one"
    case.mkdir(parents=True)
    (case / "case.toml").symlink_to(own / "case.toml")
    with pytest.raises(InputError, match=r"'case\.toml' is a link"):
        read_triage_case(case)
    (case / "case.toml").unlink()
    case.rmdir()
    case.symlink_to(own)
    with pytest.raises(InputError, match="'one' is a link"):
        list(read_triage_cases(tmp_path / "cases"))
