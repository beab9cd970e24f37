"""Leakage: what was kept from the agent was read, and is carried by its result."""

from pathlib import Path

import pytest

from misstep_harness.trajectory import Step
from misstep_harness.triage.passes import attribute_pass
from tests.harness.triage.made_up_cases import TEST, shell
from tests.harness.triage.passes.made_up_passes import read_only, texts

GOLD = """def total(values):
    running_total_of_all_values = 0
    for current_value in values:
        running_total_of_all_values += current_value
    return running_total_of_all_values
"""
WRITES_GOLD = shell(f"cat > price.py <<'END'\n{GOLD}END")
FILES = {"solution/price.py": GOLD, "workspace/price.py": GOLD}


FIGURES = "".join(f"line {number} of the figures that the task gives\n" for number in range(6))
LETTER = "Dear guest of room 101, you stay for three nights.\nOur wish for you: a room with a view of the lake\n"
REPORT = "region,revenue\nNorth region,1820.50\nSouth region,1733.25\nCoastal region,904.10\n"
DENIED = "cat: /oracle/solution/price.py: No such file or directory"
READS = shell("cat /oracle/solution/price.py", GOLD)
OWN = shell("echo 'def total(values): return sum(values)' > price.py")
SHOWN_TESTS = shell("cat tests/test_price.py", TEST)


def asked(text: str) -> dict[str, str]:
    return {"instruction.md": f"{text}\n"}


def test_a_solution_that_is_read_and_typed_again_is_leakage(tmp_path: Path) -> None:
    result = attribute_pass(texts(tmp_path, {}, READS, WRITES_GOLD))
    assert (result.label, result.subcategory, result.steps) == ("task", "solution_leakage", (0, 1))
    assert result.evidence[0].text == "cat /oracle/solution/price.py"


@pytest.mark.parametrize("line", ["cp /oracle/solution/price.py price.py", "bash ../solution/solve.sh"])
def test_a_solution_that_is_copied_or_run_is_leakage(tmp_path: Path, line: str) -> None:
    assert attribute_pass(texts(tmp_path, {}, shell(line))).subcategory == "solution_leakage"


@pytest.mark.parametrize(
    ("files", "steps"),
    [
        ({}, [shell("cat /oracle/solution/price.py", DENIED, 1), WRITES_GOLD]),  # it could not be opened
        ({}, [READS, OWN]),  # it is not used
        (
            asked("Improve `reference_prices.py` and write total in price.py."),
            [shell("cat /data/reference_prices.py", GOLD), WRITES_GOLD],
        ),
        ({}, [shell(f"cat > my_solution.py <<'END'\n{GOLD}END"), shell("cp my_solution.py price.py")]),  # its own
    ],
)
def test_what_the_record_shows_is_no_leak(tmp_path: Path, files: dict[str, str], steps: list[Step]) -> None:
    assert attribute_pass(texts(tmp_path, files, *steps)).label == "pass"


def test_gold_lines_left_in_the_environment_are_a_leak_when_shown_and_carried(tmp_path: Path) -> None:
    left = {**FILES, "environment/notes/old.txt": GOLD}
    result = attribute_pass(read_only(tmp_path, left, shell("cat notes/old.txt", GOLD), WRITES_GOLD))
    assert result.subcategory == "solution_leakage"
    assert "notes/old.txt" in result.rationale
    assert result.evidence[-1].where == "workspace/price.py:2"


def test_a_result_that_lay_ready_in_the_environment_and_was_copied_is_a_leak(tmp_path: Path) -> None:
    left = {**FILES, "environment/archive/price.py": GOLD}
    result = attribute_pass(read_only(tmp_path, left, shell("cp -r archive/. .")))
    assert (result.subcategory, result.evidence[-1].where) == ("solution_leakage", "environment/archive/price.py")


def test_tests_that_are_shown_before_the_work_are_a_leak(tmp_path: Path) -> None:
    result = attribute_pass(read_only(tmp_path, {"environment/tests/test_price.py": TEST}, SHOWN_TESTS, WRITES_GOLD))
    assert (result.label, result.subcategory, result.steps) == ("task", "solution_leakage", (0, 1))


@pytest.mark.parametrize(
    ("files", "steps"),
    [
        (FILES, [WRITES_GOLD, shell("cat price.py", GOLD)]),  # what it wrote itself
        (
            {"solution/report.csv": REPORT, "workspace/report.csv": REPORT},  # what its own program made
            [shell("python make_report.py"), shell("cat report.csv", REPORT)],
        ),
        (
            {"solution/letters/101.txt": LETTER, "workspace/letters/101.txt": LETTER},
            [shell("python write.py"), shell("head -n 6 letters/*", LETTER)],
        ),
        (
            {"environment/test_notes.txt": FIGURES, "workspace/copy.txt": FIGURES},  # a name like that of a test
            [shell("cat test_notes.txt", FIGURES)],
        ),
        (
            {
                **FILES,
                **asked("Start from the files in archive/ and write price.py."),
                "environment/archive/price.py": GOLD,
            },
            [shell("cp -r archive/. .")],
        ),
        (asked("Make the tests in tests/ pass: write total in price.py."), [SHOWN_TESTS, WRITES_GOLD]),
        (
            {"environment/data/figures.txt": FIGURES, "tests/data/figures.txt": FIGURES},  # inputs that tests copy
            [shell("cat data/figures.txt", FIGURES), WRITES_GOLD],
        ),
    ],
)
def test_what_the_files_show_is_no_leak(tmp_path: Path, files: dict[str, str], steps: list[Step]) -> None:
    assert attribute_pass(read_only(tmp_path, files, *steps)).label == "pass"
