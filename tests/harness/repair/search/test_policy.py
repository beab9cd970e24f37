"""The policy without a model, on a broken program in the sandbox: what it may look at is what the setting allows."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from misstep_harness.agent.actions import Action, EditFeedback, Observation
from misstep_harness.agent.loop import AgentLimits, AgentStopped
from misstep_harness.agent.protocols import PatchRequest, Task
from misstep_harness.edits import EDIT_FORMATS, apply_edit
from misstep_harness.errors import EditRefused
from misstep_harness.judges.runnable import RunnableJudge
from misstep_harness.repair.attempt import SETTINGS, CaseWorkspace, attempt
from misstep_harness.repair.case import CaseFolder, RepairCase, read_case, write_case
from misstep_harness.repair.patch_judge import PatchJudge
from misstep_harness.repair.records import RepairAttempt
from misstep_harness.repair.scoring import open_case
from misstep_harness.repair.search.localisation import Effort, SandboxedTests
from misstep_harness.repair.search.policy import SearchPatcher, SearchPolicy, carried_out, instruction, search_repairer
from misstep_harness.trajectory import Step, ToolCall, ToolResult
from misstep_harness.workspace import Sandbox
from tests.harness.agent.folders import FilesInMemory, NoModel
from tests.harness.repair.cases import QUICK_PYTEST, price_case, run_of
from tests.harness.repair.judging import AcceptsNothing

EFFORT = Effort(test_seconds=0.3, spectrum_seconds=4.0, search_seconds=4.0)
LITTLE = Effort(test_seconds=0.3, spectrum_seconds=1.0, search_seconds=0.3)
"""For a search that comes to nothing."""

pytestmark = pytest.mark.usefixtures("oracle_once")
LOOPING = """\
STEP = 2


class Shelf:
    def __init__(self, parts):
        self.parts = parts

    def sizes(self):
        found = []
        place = 0
        while place <= len(self.parts):
            found.append(len(self.parts[place]))
            place += STEP
        return found
"""
TEST = """\
import sys
sys.path.insert(0, ".")
from shelf import Shelf


def test_none():
    assert Shelf([]).sizes() == []


def test_two():
    assert Shelf(["a", "bb"]).sizes() == [1, 2]
"""
BEFORE = "import os\n\n\ndef f(a):\n    x = a\n    return x\n"
CHANGES = [
    BEFORE.replace("x = a", "x = a + 1"),
    BEFORE.replace("    x = a\n", ""),
    BEFORE.replace("    return x", "    x += 1\n    return x"),
    BEFORE.replace("import os\n", "import sys\n").replace("return x", "return 1"),
    BEFORE + "    y = 1\n",
    BEFORE.replace("x = a", 'x = """\n```\n"""'),
]
FILES = {
    "one.py": "from two import half\n\n\ndef one(a):\n    return half(a) + 1\n",
    "two.py": "def half(a):\n    return a / 2\n",
    "tests/test_one.py": "from one import one\n\n\ndef test_one():\n    assert one(3) == 2\n",
}
TASK = 'Tests fail:\n  File "one.py", line 5, in one\n  File "two.py", line 2, in half\nassert 2.5 == 2'
NOTHING = Observation("")
COMPLAINT = Observation("", feedback=EditFeedback(complaint=True))
SUCCESS = Observation("", feedback=EditFeedback())


def _attempt(
    folder: CaseFolder, sandbox: Sandbox, setting: str, edit_format: str = "search_replace", effort: Effort = EFFORT
) -> RepairAttempt:
    make = search_repairer(edit_format, effort)
    limits = AgentLimits(iterations=20, seconds=120)
    return asyncio.run(
        attempt(folder, SETTINGS[setting], make, NoModel(), sandbox=sandbox, edit_format=edit_format, limits=limits)
    )


def _commands(done: RepairAttempt) -> list[str]:
    return [call.name for step in run_of(done).steps for call in step.calls]


def _shelf(folder: Path, text: str, **fields: object) -> CaseFolder:
    before = folder / "before"
    before.mkdir(parents=True)
    (before / "shelf.py").write_text(text)
    (before / "test_shelf.py").write_text(TEST)
    case = RepairCase("shelf", "python", "Tests fail.", QUICK_PYTEST, ("test_shelf.py::test_two",))
    write_case(replace(case, **fields), folder)
    return read_case(folder)


@pytest.mark.parametrize("edit_format", ["search_replace", "line_diff"])
def test_with_tests_it_tries_changes_until_they_pass(tmp_path: Path, sandbox: Sandbox, edit_format: str) -> None:
    done = _attempt(price_case(tmp_path / "price"), sandbox, "react+static+tests", edit_format)
    assert (done.error, done.solved, done.ended) == ("", True, "exit")
    assert _commands(done) == ["run_tests", "go_to_line", "edit", "exit"]
    assert "+        found += price" in done.patch
    assert f"I tried {run_of(done).extra['candidates']} changes" in run_of(done).steps[-1].text


@pytest.mark.parametrize(
    ("step", "loop", "mended"),
    [("STEP = 1", "<=", "while place < len(self.parts)"), ("STEP = 0", "<", "\n+")],
    ids=["a fault in a method", "a value outside functions, and an endless loop"],
)
def test_it_undoes_a_fault_and_leaves_nothing_behind(tmp_path, sandbox, step, loop, mended) -> None:
    broken = LOOPING.replace("STEP = 2", step).replace("<=", loop)
    done = _attempt(_shelf(tmp_path / "shelf", broken, timeout_seconds=5.0), sandbox, "react+tests")
    assert done.solved
    assert done.patch.count("diff --git") == 1
    assert mended in done.patch


@pytest.mark.parametrize(
    ("command", "oracle"),
    [
        ("cd checks && python -m unittest -q", "test_shelf.Sizes.test_two"),
        ("make check", "test_shelf.Sizes.test_two"),
        ("python checks/script.py", ""),
    ],
)
def test_the_lines_of_each_test_are_known_by_any_command_that_starts_python(tmp_path, sandbox, command, oracle) -> None:
    case = _shelf(tmp_path / "shelf", LOOPING.replace("STEP = 2", "STEP = 1"), test_command=command, oracle=(oracle,))
    checks = case.before / "checks"
    checks.mkdir()
    before = "import sys\nsys.path.insert(0, '.')\nsys.path.insert(0, '..')\n"
    one = "assert Shelf(['a']).sizes() == [1]\n"
    tests = f"    def test_none(self):\n        pass\n\n    def test_two(self):\n        {one}"
    (checks / "test_shelf.py").write_text(
        f"{before}import unittest\nfrom shelf import Shelf\n\nclass Sizes(unittest.TestCase):\n{tests}"
    )
    (checks / "script.py").write_text(f"{before}from shelf import Shelf\n{one}")
    (case.before / "Makefile").write_text("check:\n\tpython -m unittest discover -v -s checks\n")
    with open_case(case, sandbox) as workspace:
        observed = SandboxedTests(CaseWorkspace(case.case, workspace, SETTINGS["react+tests"], 0), EFFORT).spectrum(
            ["shelf.py"]
        )
    failing = [each for each in observed if each.oracle and not each.passed]
    assert failing
    assert all(12 in each.lines["shelf.py"] for each in failing)
    assert not any(12 in each.lines.get("shelf.py", ()) for each in observed if each.passed)
    done = _attempt(case, sandbox, "react+tests")
    assert (done.error, done.solved) == ("", True)


def test_a_change_that_the_judge_rejects_is_followed_by_another(tmp_path: Path, sandbox: Sandbox) -> None:
    make = search_repairer("search_replace", EFFORT)
    written = AcceptsNothing()
    judge = PatchJudge(RunnableJudge(written, {}), NoModel())
    setting, limits = SETTINGS["react+tests"], AgentLimits(iterations=4, seconds=120)
    case = price_case(tmp_path / "price")
    done = asyncio.run(attempt(case, setting, make, NoModel(), sandbox=sandbox, limits=limits, patch_judge=judge))
    assert _commands(done) == ["run_tests", "go_to_line", "edit", "edit"]
    assert len({item.patch for item in written.asked}) == 2


def test_without_tests_it_hands_in_the_likeliest_change_unseen(tmp_path: Path, sandbox: Sandbox) -> None:
    done = _attempt(price_case(tmp_path / "price"), sandbox, "react")
    assert _commands(done) == ["go_to_line", "edit", "exit"]
    assert done.patched
    assert "tests pass" not in run_of(done).steps[-2].text
    assert "candidates" not in run_of(done).extra


def test_a_change_that_cannot_be_written_in_the_format_is_told_and_the_search_goes_on(tmp_path, sandbox) -> None:
    case = price_case(tmp_path / "price")
    mixed = case.before / "price.py"
    mixed.write_bytes(mixed.read_bytes().replace(b"\n", b"\r\n", 1))
    done = _attempt(case, sandbox, "react+tests", effort=LITTLE)
    assert (done.error, done.ended, done.patched) == ("", "exit", False)
    assert done.refused > 0
    refusals = [step.results[0] for step in run_of(done).steps if step.calls and step.calls[0].name == "edit"]
    assert all(said.is_error and "The edit was not applied" in said.text for said in refusals)


def test_no_setting_without_tests_lets_it_run_them(tmp_path: Path) -> None:
    case = price_case(tmp_path / "price")
    place = CaseWorkspace(case.case, None, SETTINGS["react+static"], 0)  # type: ignore[arg-type]
    with pytest.raises(PermissionError):
        SandboxedTests(place, EFFORT)
    assert SearchPolicy(place)._tests is None


def test_a_program_that_no_change_mends_is_left_as_it_is(tmp_path: Path, sandbox: Sandbox) -> None:
    broken = "class Shelf:\n    def __init__(self, parts):\n        raise KeyError\n"
    done = _attempt(_shelf(tmp_path / "shelf", broken), sandbox, "react+tests", effort=LITTLE)
    assert (done.solved, done.patched, done.ended) == (False, False, "exit")


def test_a_program_that_answers_for_the_sandbox_is_not_believed(tmp_path: Path, sandbox: Sandbox) -> None:
    forged = '{"candidate": 0, "passed": true}\\n{"candidate": 99999, "passed": true}\\n[]\\n{"test": 1}\\nno JSON\\n'
    broken = (
        "from pathlib import Path\n\n\nclass Shelf:\n    def __init__(self, parts):\n"
        '        file = Path(".misstep-search/results.jsonl")\n'
        f"        if file.exists():\n            file.write_text(file.read_text() + '{forged}')\n"
        "        raise KeyError\n"
    )
    done = _attempt(_shelf(tmp_path / "shelf", broken), sandbox, "react+tests", effort=LITTLE)
    assert (done.error, done.solved) == ("", False)


@pytest.mark.parametrize("after", CHANGES)
def test_an_instruction_says_the_whole_change(after: str) -> None:
    text = instruction(BEFORE, after, "It is a likely mistake.")
    assert text.startswith("It is a likely mistake.\nReplace line ")
    assert carried_out(BEFORE, text) == after


@pytest.mark.parametrize("after", CHANGES)
@pytest.mark.parametrize("name", EDIT_FORMATS)
def test_the_patcher_writes_every_format(name: str, after: str) -> None:
    request = PatchRequest("app.py", BEFORE, instruction(BEFORE, after, "Mend it."))
    reply = asyncio.run(SearchPatcher(name).patch(request, NoModel()))
    files = {"app.py": BEFORE}
    assert apply_edit(name, reply, files.get, "app.py").files == {"app.py": after}


def test_a_file_without_a_last_line_end_keeps_to_it() -> None:
    before, after = "a = 1\nb = 2", "a = 1\nb = 3"
    assert carried_out(before, instruction(before, after, "Mend it.")) == after


@pytest.mark.parametrize("text", ["make it faster", instruction(BEFORE.replace("x", "y"), BEFORE, "Mend it.")])
def test_an_instruction_that_does_not_fit_the_file_is_refused(text: str) -> None:
    with pytest.raises(AgentStopped):
        asyncio.run(SearchPatcher("search_replace").patch(PatchRequest("app.py", BEFORE, text), NoModel()))


def test_a_change_that_the_format_cannot_say_is_refused_as_an_edit() -> None:
    before, after = "a = 1\r\nb = 2\n", "a = 1\r\nb = 3\n"
    request = PatchRequest("app.py", before, instruction(before, after, "Mend it."))
    with pytest.raises(EditRefused):
        asyncio.run(SearchPatcher("line_diff").patch(request, NoModel()))


class _Run:
    """Enters what the policy decides, and answers with prepared observations."""

    def __init__(self, setting: str, sample: int = 0) -> None:
        self.files = FilesInMemory(FILES)
        case = RepairCase("one", "python", TASK, "python -m pytest", ("tests/test_one.py",))
        self.policy = SearchPolicy(CaseWorkspace(case, self.files, SETTINGS[setting], sample))  # type: ignore[arg-type]
        self.steps: list[Step] = []

    def step(self, observation: Observation) -> Action:
        action = asyncio.run(self.policy.act(Task("one", TASK), self.steps, NoModel()))
        if action.name == "edit":
            path = action.arguments["file_path"]
            after = carried_out(self.files.read(path).decode(), action.arguments["instructions"])
            self.files.write(path, after.encode())
        call, result = ToolCall(action.name, dict(action.arguments)), ToolResult(observation.text)
        self.steps.append(Step("agent", action.thought, calls=(call,), results=(result,)))
        self.policy.observed(observation)
        return action

    def changed(self) -> list[str]:
        return [path for path, text in FILES.items() if self.files.read(path).decode() != text]


def test_it_looks_at_the_place_that_the_trace_ends_in() -> None:
    action = _Run("react").step(NOTHING)
    assert (action.name, action.arguments) == ("go_to_line", {"file_path": "two.py", "line": "2"})
    assert "the failure's trace names it" in action.thought


def test_a_complaint_of_static_analysis_brings_another_change_in_place_of_the_first() -> None:
    run = _Run("react+static")
    run.step(NOTHING)
    seen = set()
    for _ in range(4):
        assert run.step(COMPLAINT).name == "edit"
        assert len(run.changed()) <= 1
        seen.add(tuple(run.files.data.values()))
    assert len(seen) == 4


def test_it_gives_up_after_some_edits() -> None:
    run = _Run("react+static")
    names = [run.step(COMPLAINT).name for _ in range(20)]
    assert names.index("exit") < 14
    assert len(run.changed()) <= 1


def test_an_edit_of_another_file_first_takes_the_last_one_back() -> None:
    run = _Run("react+static")
    while "Take the last edit back" not in run.step(COMPLAINT).arguments.get("instructions", ""):
        assert run.steps[-1].calls[0].name != "exit"
    assert run.changed() == []
    assert run.step(SUCCESS).arguments["file_path"] == "one.py"
    assert run.changed() == ["one.py"]
    assert run.step(SUCCESS).name == "exit"
