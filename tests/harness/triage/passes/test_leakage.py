"""Leakage: what was kept from the agent was read, and is carried by its result."""

from pathlib import Path

from misstep.harness.triage.passes import attribute_pass
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


def test_a_solution_that_is_read_and_typed_again_is_leakage(tmp_path: Path) -> None:
    found = attribute_pass(texts(tmp_path, {}, shell("cat /oracle/solution/price.py", GOLD), WRITES_GOLD))
    assert (found.label, found.subcategory, found.steps) == ("task", "solution_leakage", (0, 1))
    assert found.evidence[0].text == "cat /oracle/solution/price.py"


def test_a_solution_that_is_copied_or_run_is_leakage(tmp_path: Path) -> None:
    for number, line in enumerate(("cp /oracle/solution/price.py price.py", "bash ../solution/solve.sh")):
        found = attribute_pass(texts(tmp_path / str(number), {}, shell(line)))
        assert found.subcategory == "solution_leakage", line


def test_a_solution_that_could_not_be_opened_leaks_nothing(tmp_path: Path) -> None:
    denied = shell("cat /oracle/solution/price.py", "cat: /oracle/solution/price.py: No such file or directory", 1)
    assert attribute_pass(texts(tmp_path, {}, denied, WRITES_GOLD)).label == "pass"


def test_a_solution_that_is_read_and_not_used_leaves_the_pass_earned(tmp_path: Path) -> None:
    own = shell("echo 'def total(values): return sum(values)' > price.py")
    assert attribute_pass(texts(tmp_path, {}, shell("cat /oracle/solution/price.py", GOLD), own)).label == "pass"


def test_a_file_that_the_instruction_names_may_be_read_whatever_its_name(tmp_path: Path) -> None:
    asked = {"instruction.md": "Improve `reference_prices.py` and write total in price.py.\n"}
    reads = shell("cat /data/reference_prices.py", GOLD)
    assert attribute_pass(texts(tmp_path, asked, reads, WRITES_GOLD)).label == "pass"


def test_a_file_of_the_agents_own_is_no_leak_though_its_name_is_that_of_a_solution(tmp_path: Path) -> None:
    makes = shell(f"cat > my_solution.py <<'END'\n{GOLD}END")
    assert attribute_pass(texts(tmp_path, {}, makes, shell("cp my_solution.py price.py"))).label == "pass"


def test_gold_lines_left_in_the_environment_are_a_leak_when_shown_and_carried(tmp_path: Path) -> None:
    left = {**FILES, "environment/notes/old.txt": GOLD}
    found = attribute_pass(read_only(tmp_path, left, shell("cat notes/old.txt", GOLD), WRITES_GOLD))
    assert found.subcategory == "solution_leakage"
    assert "notes/old.txt" in found.rationale
    assert found.evidence[-1].where == "workspace/price.py:2"


def test_an_agent_that_shows_what_it_wrote_itself_was_shown_nothing(tmp_path: Path) -> None:
    assert attribute_pass(read_only(tmp_path, FILES, WRITES_GOLD, shell("cat price.py", GOLD))).label == "pass"


def test_what_the_agents_own_program_prints_is_its_work_though_it_equals_the_gold_result(tmp_path: Path) -> None:
    report = "region,revenue\nNorth region,1820.50\nSouth region,1733.25\nCoastal region,904.10\n"
    files = {"solution/report.csv": report, "workspace/report.csv": report}
    run = read_only(tmp_path, files, shell("python make_report.py"), shell("cat report.csv", report))
    assert attribute_pass(run).label == "pass"


def test_a_file_that_is_only_named_like_a_test_is_part_of_the_task(tmp_path: Path) -> None:
    notes = "first line of the notes that everybody has\nsecond line of the notes that everybody has\n" * 2
    files = {"environment/test_notes.txt": notes, "workspace/copy.txt": notes}
    assert attribute_pass(read_only(tmp_path, files, shell("cat test_notes.txt", notes))).label == "pass"


def test_a_result_that_lay_ready_in_the_environment_and_was_copied_is_a_leak(tmp_path: Path) -> None:
    left = {**FILES, "environment/archive/price.py": GOLD}
    found = attribute_pass(read_only(tmp_path, left, shell("cp -r archive/. .")))
    assert (found.subcategory, found.evidence[-1].where) == ("solution_leakage", "environment/archive/price.py")


def test_a_template_that_the_instruction_speaks_of_may_be_copied(tmp_path: Path) -> None:
    asked = {"instruction.md": "Start from the files in archive/ and write price.py.\n"}
    left = {**FILES, **asked, "environment/archive/price.py": GOLD}
    assert attribute_pass(read_only(tmp_path, left, shell("cp -r archive/. ."))).label == "pass"


def test_tests_that_are_shown_before_the_work_are_a_leak(tmp_path: Path) -> None:
    shown = shell("cat tests/test_price.py", TEST)
    found = attribute_pass(read_only(tmp_path, {"environment/tests/test_price.py": TEST}, shown, WRITES_GOLD))
    assert (found.label, found.subcategory, found.steps) == ("task", "solution_leakage", (0, 1))


def test_tests_that_the_instruction_speaks_of_may_be_read(tmp_path: Path) -> None:
    asked = {"instruction.md": "Make the tests in tests/ pass: write total in price.py.\n"}
    shown = shell("cat tests/test_price.py", TEST)
    assert attribute_pass(read_only(tmp_path, asked, shown, WRITES_GOLD)).label == "pass"


def test_inputs_of_which_the_tests_have_copies_may_be_read(tmp_path: Path) -> None:
    notes = "".join(f"line {number} of the figures that the task gives\n" for number in range(6))
    files = {"environment/data/figures.txt": notes, "tests/data/figures.txt": notes}
    shown = shell("cat data/figures.txt", notes)
    assert attribute_pass(read_only(tmp_path, files, shown, WRITES_GOLD)).label == "pass"


def test_files_that_the_agents_program_made_are_its_own_under_a_pattern_too(tmp_path: Path) -> None:
    letter = "Dear guest of room 101, you stay for three nights.\nOur wish for you: a room with a view of the lake\n"
    files = {"solution/letters/101.txt": letter, "workspace/letters/101.txt": letter}
    shown = shell("head -n 6 letters/*", letter)
    assert attribute_pass(read_only(tmp_path, files, shell("python write.py"), shown)).label == "pass"
