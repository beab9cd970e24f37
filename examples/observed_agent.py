"""An agent of your own with the observer beside it: `python examples/observed_agent.py`; no step waits for it."""

import time

from misstep import Observer, Step, ToolCall, ToolResult

REQUEST = "Say what the notes contain."

with Observer("rules", REQUEST) as observer:  # or Observer("prompted", REQUEST, model="M", base_url="http://…/v1")
    steps = [Step("user", REQUEST)]
    while len(steps) < 100:
        time.sleep(0.1)  # here your agent thinks and acts; this one reads the same file again and again
        call = ToolCall("bash", {"command": "cat notes.txt"})
        steps.append(Step("agent", calls=(call,), results=(ToolResult("Nothing is written here yet."),)))
        if (reminder := observer.after_action(steps)) is not None:
            print(reminder.text)  # noqa: T201 -- your agent reads this before its next step
            break
