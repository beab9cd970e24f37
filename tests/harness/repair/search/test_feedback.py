"""What the policy makes of feedback, whatever the words: files in memory, observations by hand."""

import asyncio

from misstep.harness.agent.actions import Action, EditFeedback, Observation
from misstep.harness.agent.protocols import Task
from misstep.harness.repair.attempt import SETTINGS, CaseWorkspace
from misstep.harness.repair.case import RepairCase
from misstep.harness.repair.search.policy import SearchPolicy, carried_out
from misstep.harness.trajectory import Step, ToolCall, ToolResult
from tests.harness.agent.folders import FilesInMemory, NoModel

FILES = {
    "one.py": "from two import half\n\n\ndef one(a):\n    return half(a) + 1\n",
    "two.py": "def half(a):\n    return a / 2\n",
    "tests/test_one.py": "from one import one\n\n\ndef test_one():\n    assert one(3) == 2\n",
}
TASK = 'Tests fail:\n  File "one.py", line 5, in one\n  File "two.py", line 2, in half\nassert 2.5 == 2'
NOTHING = Observation("")
COMPLAINT = Observation("", feedback=EditFeedback(complaint=True))
SUCCESS = Observation("", feedback=EditFeedback())


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
            assert after is not None
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
