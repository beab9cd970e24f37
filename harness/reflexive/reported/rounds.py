"""A reported run, round by round, and the cases that are kept beside this module.

name = "committed-each-round"
source = "owner/repository#7"
reported = "What the thread tells, in a paragraph."
expected = "stop"
first = 3
last = 5
why = "Why that is right."
rounds = [{ said = "…", calls = [{ do = "make test", result = "2 failed" }], content = "a", check = "failed" }]
"""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from msgspec import Struct

from misstep.harness.errors import InputError
from misstep.harness.forms import toml_form
from misstep.harness.records.loop_events import CheckStatus

FOLDER = Path(__file__).with_name("cases")
_FORM = "The form is described in harness/reflexive/reported/rounds.py."

START = "start"
"""The content of every target before the first round."""


class RoundCall(Struct, frozen=True, forbid_unknown_fields=True):
    """One call of an agent: what it asked for, what came back, and whether that was an error."""

    do: str
    result: str
    error: bool = False

    @property
    def tool(self) -> str:
        """Return the tool that was called: the first word."""
        return self.do.partition(" ")[0]


class Round(Struct, frozen=True, forbid_unknown_fields=True):
    """One round of a loop, as its breaker can know it.

    - `uncommitted`: The files that differ from the last commit at the end of the round.
    - `commits`: The commits made in it.
    - `content`: A name for the content of the target at its end: equal names, equal content.
    - `check`: The result of the check of the whole task.
    - `announced`: The event that the agent announced to its loop, if its loop has such events.
    - `polling`: Whether the round was declared to wait for something that runs elsewhere.
    - `asks`: The question that it puts to a person, who has not answered at the end of the round.
    """

    said: str
    calls: tuple[RoundCall, ...] = ()
    uncommitted: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    content: str = START
    check: CheckStatus = "failed"
    announced: str = ""
    polling: bool = False
    asks: str = ""

    @property
    def output(self) -> str:
        """Return all that the round printed."""
        return "\n".join((*(call.result for call in self.calls), self.said))


class ReportedCase(Struct, frozen=True, forbid_unknown_fields=True):
    """A reported run, and what a breaker should have done with it.

    - `source`: The thread, as owner/repository#number.
    - `rounds`: The run, in texts made up to fit the report.
    - `first`, `last`: The rounds, from 1, between which a stop is right; none for a run that should go on. `first` is
      where the report, or the run itself, calls for it. `last` is one round later if the work is done, two if nothing
      new comes about, and four if each round still changes something: the same for all cases, whatever a breaker does.
    """

    name: str
    source: str
    reported: str
    expected: Literal["stop", "go on"]
    why: str
    rounds: tuple[Round, ...]
    first: int | None = None
    last: int | None = None


class LoopDecision(Struct, frozen=True):
    """Whether to stop a run, and why."""

    stop: bool
    reason: str = ""


Decide = Callable[[Sequence[Round]], LoopDecision]
"""What a breaker is: the rounds so far in, at least one, and its decision out. It is asked after each round."""


def first_stop(decide: Decide, rounds: Sequence[Round]) -> tuple[int, str] | None:
    """Return the round, from 1, after which a breaker first stops a run, and its reason; `None` where it never does."""
    decisions = ((number, decide(rounds[:number])) for number in range(1, len(rounds) + 1))
    return next(((number, decision.reason) for number, decision in decisions if decision.stop), None)


@cache
def reported_cases(folder: Path = FOLDER) -> tuple[ReportedCase, ...]:
    """Return all cases of a folder, by name."""
    return tuple(_read(file) for file in sorted(folder.glob("*.toml")))


def _read(file: Path) -> ReportedCase:
    case = toml_form(file.read_bytes(), ReportedCase, file, _FORM)
    if case.name != file.stem:
        raise InputError(f"the case is named {case.name!r}", f"Name it {file.stem!r}, as its file is.", file=file)
    if case.expected == "go on":
        if case.first is not None or case.last is not None:
            message = "a run that should go on has rounds for a stop"
            raise InputError(message, "Leave out both.", file=file, field="first")
    elif case.first is None or case.last is None or not 1 <= case.first <= case.last < len(case.rounds):
        raise InputError(
            f"{len(case.rounds)} rounds have no room to stop rightly and too late",
            "Give `first` and `last`, with 1 <= first <= last < the number of rounds.",
            file=file,
            field="first",
        )
    return case
