"""Short runs for tests of the observer."""

from misstep_harness.intervention import Feedback, Misbehaviour
from misstep_harness.trajectory import Source, Step, ToolCall, ToolResult, Trajectory


def asked(text: str = "Mend the price. Do not touch config.yaml.") -> Step:
    return Step("user", text)


def call(name: str = "read_file", answer: str = "one = 1", error: bool | None = None, **arguments: str) -> Step:
    return Step("agent", calls=(ToolCall(name, dict(arguments)),), results=(ToolResult(answer, is_error=error),))


def read(path: str = "a.py") -> Step:
    return call(file_path=path)


def run(*steps: Step) -> Trajectory:
    return Trajectory("run-1", Source("made"), "", steps)


def looping(*steps: int, of: str = "read_file(file_path='a.py')") -> Feedback:
    return Feedback((Misbehaviour("infinite_loop", steps, evidence={"call": of}),))
