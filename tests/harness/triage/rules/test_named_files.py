"""Files that an instruction names, or does not: what is an input, and what the agent could know."""

from pathlib import Path

import pytest

from misstep_harness.trajectory import Step
from misstep_harness.triage.rules.judging import by_files
from misstep_harness.triage.rules.verdicts import Attribution
from misstep_harness.triage.texts import FilesOfCase
from tests.harness.triage.made_up_cases import a_run, shell, triage_case, written

FAILS = "FAIL: test_total (test_price.Totals)\nAssertionError: 2 != 3\n"
ASKED = "Write the totals."


def subcategory(folder: Path, asked: str, files: dict[str, str], *commands: str) -> str:
    run = a_run(*map(shell, commands or ("cat price.py",)))
    given = {"instruction.md": f"{asked}\n", "trajectory.json": written(run), "logs/tests.log": FAILS, **files}
    result = by_files(FilesOfCase(triage_case(folder / "one", given)))
    assert isinstance(result, Attribution)
    return result.subcategory if result.label == "task" else result.label


@pytest.mark.parametrize(
    ("asked", "files", "said"),
    [
        ("Add up `data/prices.csv`.", {}, "environment_fail"),
        ("Add up `prices.csv`.", {"solution/price.py": "print(open('prices.csv').read())\n"}, "environment_fail"),
        ("Write `out/report.csv`.", {"solution/out/report.csv": "1\n"}, "agent"),
        ("Write `out/report.csv`.", {"workspace/out/report.csv": "1\n"}, "agent"),
        ("Write `out/report.csv`.", {"tests/test_price.py": "open('out/report.csv')\n"}, "agent"),
        ("Write `out/report.csv`.", {"solution/solve.sh": "mkdir out; cd out; echo 1 > report.csv\n"}, "agent"),
        ("Write each as `new/NAME.json`.", {}, "agent"),
        ("Write each as `new/YYYY-MM.json`.", {}, "agent"),
        ("Write each as `new/city.json`.", {"solution/new/ulm.json": "{}\n"}, "agent"),
        ("Add the numbers in `rows.txt`.", {"environment/rows.txt": ""}, "environment_fail"),
        ("Fill in `rows.txt`.", {"environment/rows.txt": "", "workspace/rows.txt": "1\n"}, "agent"),
        ("Fill in `rows.txt`.", {"environment/rows.txt": "", "solution/rows.txt": "1\n"}, "agent"),
        ("Keep `app/__init__.py`.", {"environment/app/__init__.py": ""}, "agent"),
    ],
)
def test_an_output_and_a_placeholder_are_no_inputs(tmp_path, asked, files, said):
    assert subcategory(tmp_path, asked, files) == said


@pytest.mark.parametrize(
    ("asked", "files", "said"),
    [
        (ASKED, {}, "ambiguous_spec"),
        (f"{ASKED} The file is called Totals.csv.", {}, "agent"),
        (f"{ASKED} See README.csv.", {"environment/README.csv": "1\n"}, "ambiguous_spec"),
        (f"{ASKED} Follow docs/FORM.md.", {"environment/docs/FORM.md": "The table is `totals.csv`.\n"}, "agent"),
        (f"{ASKED} Follow the settings.", {"environment/settings.ini": "out = totals.csv\n"}, "agent"),
        (f"{ASKED} Follow form.pdf.", {}, "agent"),
        (f"{ASKED} Each is a file `<kind>.csv`.", {}, "agent"),
        (f"{ASKED} Each is a file `NAME.csv`.", {}, "agent"),
    ],
)
def test_a_name_is_unstated_where_neither_instruction_nor_document_nor_record_gives_it(tmp_path, asked, files, said):
    made = {"solution/totals.csv": "1\n", "workspace/sums.csv": "1\n", "tests/test_price.py": "open('totals.csv')\n"}
    assert subcategory(tmp_path, asked, {**made, **files}) == said


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (shell("man totals", "writes totals.csv"), "agent"),
        (Step("user", "They belong into totals.csv."), "agent"),
        (Step("agent", "They may belong into totals.csv."), "ambiguous_spec"),
    ],
    ids=["an output", "the user", "a guess of the agent"],
)
def test_a_name_that_the_agent_was_shown_or_told_is_stated_but_not_what_it_guesses(tmp_path, step, said):
    made = {"solution/totals.csv": "1\n", "workspace/sums.csv": "1\n", "tests/test_price.py": "open('totals.csv')\n"}
    run = written(a_run(step, shell("cat price.py")))
    assert subcategory(tmp_path, ASKED, {**made, "trajectory.json": run}) == said
