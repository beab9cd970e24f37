"""A run of an agent as a report's item browser opens it: shortened to a bound, its evidence in full.

The page holds it as JSON, shown here with made-up values:

    {"id": "run-7", "task": {"start": "Sort the list."}, "facts": [["Outcome", "failed"]], "n_steps": 31,
     "view": "misstep view runs.jsonl --id run-7",
     "steps": [{"number": 0, "role": "agent", "text": {"start": "I will", "cut": 9120, "end": "done."}, …},
               {"number": 20, "role": "agent", "skipped": 19, …}]}
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from itertools import accumulate

from msgspec import Struct

from misstep_analysis.pages.browser.embedding import embedded
from misstep_analysis.sessions.trajectory_page import Passage, StepView, passage, run_facts, step_view, text_lengths
from misstep_harness.trajectory import Trajectory

EVIDENCE_SHOWN = 6_000
STEPS_SHOWN = 200
"""How many steps are shown at most besides the evidence and its neighbours, half from each end of the run."""

_MOST_OF_A_TEXT = (4_000, 2_000, 1_000, 500, 250, 120)
_FEWEST_STEPS = 6
_NEIGHBOURS = 1
_TASK_SHOWN = 4_000


class ShownRun(Struct, frozen=True, omit_defaults=True):
    """A run as the browser opens it; `view` is the command that shows all of it."""

    id: str
    n_steps: int
    task: Passage = Passage()
    facts: tuple[tuple[str, str], ...] = ()
    steps: tuple[StepView, ...] = ()
    view: str = ""


def shown_run(
    run: Trajectory,
    evidence: Collection[int],
    most_characters: int,
    view: str = "",
    *,
    evidence_shown: int = EVIDENCE_SHOWN,
) -> ShownRun:
    """Return a run with its evidence in full and the rest shortened."""
    shown, most = _shape(run, evidence, most_characters)
    views, previous = [], -1
    for number in shown:
        most_here = evidence_shown if number in evidence else most
        views.append(step_view(number, run.steps[number], (), number - previous - 1, most_here))
        previous = number
    task = passage(run.task, max(most, min(_TASK_SHOWN, most_characters)), always_open=True)
    return ShownRun(run.id, len(run.steps), task, run_facts(run), tuple(views), view)


def _shape(run: Trajectory, evidence: Collection[int], room: int) -> tuple[Sequence[int], int]:
    lengths = [[length for length in text_lengths(step) if length] for step in run.steps]
    near = {
        number + away
        for number in evidence
        for away in range(-_NEIGHBOURS, _NEIGHBOURS + 1)
        if 0 <= number + away < len(lengths)
    }
    half = STEPS_SHOWN // 2
    while True:
        ends = {number for number in range(len(lengths)) if number < half or number >= len(lengths) - half}
        shown = sorted(ends | near)
        cuttable = sorted(length for number in shown if number not in evidence for length in lengths[number])
        up_to = [0, *accumulate(cuttable)]
        for most in _MOST_OF_A_TEXT:
            whole = bisect_right(cuttable, most)
            if up_to[whole] + most * (len(cuttable) - whole) <= room:
                return shown, most
        if half <= _FEWEST_STEPS // 2:
            return shown, _MOST_OF_A_TEXT[-1]
        half //= 2


SESSION_CHARACTERS = 24_000
_EVIDENCE_CHARACTERS = 96_000
"""How many characters of evidence are shown at most if every step of it has one long text."""


def show_session(session: Trajectory, evidence: Collection[int]) -> str:
    """Return a session with its evidence in full and the rest shortened, as the content of a script element."""
    most = min(EVIDENCE_SHOWN, _EVIDENCE_CHARACTERS // max(len(evidence), 1))
    return embedded(shown_run(session, evidence, SESSION_CHARACTERS, evidence_shown=most))
