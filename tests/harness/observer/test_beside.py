"""An agent with a loop of its own is observed from a thread: guidance comes, and the process ends with the block."""

import os
import time
from threading import Event

import pytest

from misstep import MisstepError, Observer, Step, ToolCall, ToolResult

CALL = Step("agent", calls=(ToolCall("bash", {"command": "cat a"}),), results=(ToolResult("Nothing."),))


def test_a_loop_is_spoken_of_and_the_process_ends() -> None:
    steps, reminder = [Step("user", "Read a.")], None
    deadline = time.monotonic() + 60
    with Observer("rules", "Read a.", item="mine") as observer:
        process = observer._process.process_id
        assert process is not None
        while reminder is None and time.monotonic() < deadline:
            steps.append(CALL)
            reminder = observer.after_action(steps)
            Event().wait(0.01)
    assert "cat a" in reminder.text
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    record = observer.observed(steps)
    assert (record.item, record.every) == ("mine", 1)
    assert record.interventions[0].delivered_at == len(steps) - 1


def test_a_question_that_is_open_at_the_end_is_recorded_as_unanswered() -> None:
    steps = [Step("user", "Read a."), CALL]
    with Observer("tests.harness.observer.bad_detectors:Blocking", every=1) as observer:
        observer.after_action(steps)
    assert [one.status for one in observer.observed(steps).invocations] == ["unanswered"]


@pytest.mark.parametrize(("detector", "model"), [("prompted", ""), ("rules", "m"), ("nobody", "")])
def test_a_detector_that_cannot_be_asked_is_refused(detector: str, model: str) -> None:
    with pytest.raises(MisstepError):
        Observer(detector, model=model)
