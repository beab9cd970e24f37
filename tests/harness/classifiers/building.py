"""A tiny language for trajectories by hand: `run(user("Fix it."), bash("ls", "a.py"), says("Done."))`."""

from typing import Any

from misstep_harness.classifiers import classify_all
from misstep_harness.trajectory import Source, Step, ToolCall, ToolResult, Trajectory
from misstep_harness.verdict import Verdict


def run(*steps: Step, task: str = "") -> Trajectory:
    return Trajectory(id="by-hand", source=Source(format="by hand"), task=task, steps=steps)


def user(text: str) -> Step:
    return Step("user", text=text)


def says(text: str) -> Step:
    """The agent's turn without a call."""
    return Step("agent", text=text)


def call(
    name: str, answer: str | None = "ok", code: int | None = None, error: bool | None = None, **arguments: Any
) -> Step:
    """The agent's turn with one call; `answer=None` for a call that was not answered."""
    results = () if answer is None else (ToolResult(answer, is_error=error, exit_code=code),)
    return Step("agent", calls=(ToolCall(name, arguments),), results=results)


def bash(command: str, answer: str | None = "", code: int | None = None) -> Step:
    return call("bash", answer, code, command=command)


def read(path: str, answer: str = "1\tdef load():\n2\t    return None\n", **extent: Any) -> Step:
    return call("Read", answer, file_path=path, **extent)


def edit(path: str, old: str = "a = 1", new: str = "a = 2") -> Step:
    return call("Edit", f"The file {path} has been updated.", file_path=path, old_string=old, new_string=new)


def write(path: str, content: str = "x = 1\n") -> Step:
    return call("Write", f"File created successfully at: {path}", file_path=path, content=content)


def misses(path: str, old: str) -> Step:
    answer = "<tool_use_error>String to replace not found in file.</tool_use_error>"
    return call("Edit", answer, None, True, file_path=path, old_string=old, new_string="b")


def verdict(category: str, trajectory: Trajectory) -> Verdict:
    (answer,) = classify_all(trajectory, [category])
    return answer
