"""Who&When, algorithm-generated half: failed runs of several agents, with the agent and the step that decided.

One file of `logs/` (126), shortened:

    {"question": "How many bridges …?", "question_ID": "0a1b…", "level": "2", "ground_truth": "8",
     "history": [{"content": "I will count them.", "role": "assistant", "name": "Counting_Expert"}, …],
     "mistake_agent": "Counting_Expert", "mistake_step": "0", "mistake_reason": "It counted one twice."}

In a log of hand-made agents an entry has no `name`, and the role is the name: "Orchestrator (-> WebSurfer)".
`mistake_step` is a string and counts from 0: an entry of `history` is a step, and what the terminal printed is a step
of the system. `whoandwhen` asks which agent decided the failure, `whoandwhen-step` which step; items name their labels,
the speakers of the log or the numbers of its steps. `whoandwhen-fault` asks whose fault it is
(`data/fault_mappings.toml`).
"""

import re
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.datasets.benchmark import Gold, GoldError, Item, SetWriter
from misstep_harness.datasets.upstream import each_or_left_out, files_in, json_file
from misstep_harness.errors import InputError
from misstep_harness.fault_mappings import mapping_of
from misstep_harness.protocols import ReadFile
from misstep_harness.trajectory import Outcome, Role, Source, Step, Trajectory

NAME = "whoandwhen"
RATER = "annotators"
DECISIVE = "decisive error"
TERMINALS = ("Computer_terminal", "ComputerTerminal")
"""The agents that only print what a program said."""


class _Entry(Struct, frozen=True):
    content: str
    role: str
    name: str = ""

    @property
    def speaker(self) -> str:
        return self.name or self.role.partition(" (")[0]


class _Log(Struct, frozen=True):
    question: str
    question_ID: str  # noqa: N815 (upstream's name)
    history: tuple[_Entry, ...]
    mistake_agent: str
    mistake_step: str | int
    mistake_reason: str
    level: str | int = ""
    ground_truth: str = ""
    is_correct: bool = False


def load(folder: Path, out: Path, read: ReadFile) -> None:  # noqa: ARG001 (the logs are in no known format)
    """Write `whoandwhen`, `whoandwhen-step` and `whoandwhen-fault`."""
    paths = sorted(
        files_in(folder / "logs", "*.json"),
        key=lambda path: (int(path.stem) if path.stem.isdecimal() else 0, path.stem),
    )
    read_logs, left_out = each_or_left_out(paths, _log)
    logs = {path.stem: log for path, log in read_logs.items()}
    steps = {name: int(log.mistake_step) for name, log in logs.items()}
    runs = [_trajectory(name, log) for name, log in logs.items()]
    errors = [
        GoldError(
            trajectory=name,
            label=DECISIVE,
            step=steps[name],
            location=str(log.mistake_step),
            agent=log.mistake_agent,
            root_cause=True,
            reason=log.mistake_reason,
        )
        for name, log in logs.items()
    ]
    questions = SetWriter(NAME, folder, out)
    items = [_item(name, log, _speakers(log)) for name, log in logs.items()]
    agents = [Gold(name, RATER, log.mistake_agent) for name, log in logs.items()]
    questions.write(items, agents, {"runs": runs}, errors, left_out=left_out)
    items = [_item(name, log, tuple(map(str, range(len(log.history))))) for name, log in logs.items()]
    places = [Gold(name, RATER, str(step)) for name, step in steps.items()]
    questions.write(items, places, {"runs": runs}, errors, further="step", left_out=left_out)
    fault = mapping_of(NAME, DECISIVE).fault
    items = [replace(_item(name, log, ()), unaskable="") for name, log in logs.items()]
    faults = [Gold(name, RATER, fault) for name in logs if fault]
    questions.write(items, faults, {"runs": runs}, errors, further="fault", left_out=left_out)


def _log(path: Path) -> _Log:
    log = json_file(path, _Log)
    step = str(log.mistake_step)
    if not step.isdecimal() or int(step) >= len(log.history):
        problem = f"step {step!r} does not exist: the history has {len(log.history)} steps"
        raise InputError(problem, file=path, field="mistake_step")
    return replace(log, mistake_agent=_as_speaking(log))


def _as_speaking(log: _Log) -> str:
    """Return the blamed agent as the log spells it: letter case, spaces and punctuation do not count."""
    same = {entry.speaker for entry in log.history if _letters(entry.speaker) == _letters(log.mistake_agent)}
    return same.pop() if log.mistake_agent not in same and len(same) == 1 else log.mistake_agent


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.partition(" (")[0]).casefold()


def _trajectory(name: str, log: _Log) -> Trajectory:
    return Trajectory(
        id=name,
        source=Source(format=NAME, file=f"logs/{name}.json", dataset=NAME),
        task=log.question,
        steps=tuple(Step(role=_role(entry), text=entry.content, speaker=entry.speaker) for entry in log.history),
        outcome=Outcome(status="passed" if log.is_correct else "failed"),
    )


def _role(entry: _Entry) -> Role:
    if not entry.name and entry.role == "human":
        return "user"
    return "system" if entry.speaker in TERMINALS else "agent"


def _speakers(log: _Log) -> tuple[str, ...]:
    """Return who speaks in a log, in order; nobody if the agent that is blamed never does."""
    speakers = tuple(dict.fromkeys(entry.speaker for entry in log.history))
    return speakers if log.mistake_agent in speakers else ()


def _item(name: str, log: _Log, labels: tuple[str, ...]) -> Item:
    return Item(
        id=name,
        kind="triage",
        trajectory_id=name,
        task=log.question,
        labels=labels,
        unaskable="" if labels else "the agent that is blamed does not speak in the log",
        extra={"question_id": log.question_ID, "level": str(log.level), "correct_answer": log.ground_truth},
    )
