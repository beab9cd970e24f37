"""Find replies that a harness turns down before a call exists: steps without a call, answered ever the same.

agent: "I will list the files: ls"        user: "Your reply has no action. Reply with one …"
"""

import re
from collections import Counter, defaultdict

from misstep_harness.classifiers.calls.error_lines import has_fault_word, without_particulars
from misstep_harness.classifiers.calls.history import History, goes_on
from misstep_harness.classifiers.calls.others_faults import of_the_environment, refuses
from misstep_harness.classifiers.verdicts import RuleFinding, counted, quoted
from misstep_harness.trajectory import Step

REPEATS = 3
"""As for errors of calls: one is a slip, two a slip and a try at correcting it."""

_COMPARED = 300
_SHORTEST = 20
"""Characters of a complaint that says what was expected."""

_ADDRESSED = re.compile(r"\b(?:you|your|please|expected)\b", re.IGNORECASE)
_FORM = re.compile(r"\b(?:tools?|function calls?|actions?|json|format\w*|code blocks?|tags?)\b", re.IGNORECASE)
"""Who did something wrong, and with which part of a reply: what programs print of the work tells of neither."""


def rejections(history: History) -> RuleFinding | None:
    """The steps that were turned down and a sentence on them; `None` if there are fewer than three of one kind."""
    steps = history.trajectory.steps
    candidates = [index for index in history.agent_steps if not steps[index].calls and _text(history, index)]
    if len(candidates) < REPEATS or len({steps[index].speaker for index in history.agent_steps}) > 1:
        return None
    turned_down: dict[str, list[int]] = defaultdict(list)
    for index in candidates:
        answer = _answer(history, index)
        if answer:
            turned_down[answer].append(index)
    often = {answer: places for answer, places in turned_down.items() if len(places) >= REPEATS}
    if not often:
        return None
    anyhow = Counter(_answer(history, index) for index in history.agent_steps if steps[index].calls)
    for answer, places in often.items():
        text, times = Counter(_text(history, place) for place in places).most_common(1)[0]
        tries = {steps[place].text for place in places}
        marked = _marked(history, places[0])
        of_form = not of_the_environment(text) and (
            _failed(steps[places[0]]) or (has_fault_word(text) and (marked or _is_of_form(text)))
        )
        # What says nothing of a reply's form answers the same thing said again, or in a chat tells what happened.
        if (
            anyhow[answer]
            or goes_on(answer)
            or refuses(answer)
            or times < (1 if marked and of_form else 2 if marked or history.acts else REPEATS)
            or not (of_form or (marked and len(tries) > 1) or (history.acts and len(tries) >= REPEATS))
            or not _runs(history, places)
        ):
            continue
        quotation = quoted(_text(history, places[0]))
        what = f"The harness turns {len(places)} replies without a call down ({quotation}; {counted(places)})."
        return RuleFinding("rejected_reply", places, what)
    return None


def _answer(history: History, index: int) -> str:
    """Return what the harness answers to a step, evened out; nothing where the agent itself goes on."""
    head = _text(history, index)
    return without_particulars(head) if len(head) >= _SHORTEST else ""


def _marked(history: History, index: int) -> bool:
    """Return whether it is the harness that answers: with a failed result, or in a turn of its own."""
    steps = history.trajectory.steps
    return _failed(steps[index]) or steps[index + 1].role == "system"


def _failed(step: Step) -> bool:
    return any(one.is_error for one in step.results)


def _is_of_form(text: str) -> bool:
    """Return whether a complaint is about the form of what somebody wrote."""
    return _ADDRESSED.search(text) is not None and _FORM.search(text) is not None


def _text(history: History, index: int) -> str:
    steps = history.trajectory.steps
    if steps[index].results and not steps[index].calls:
        return steps[index].results[0].text[:_COMPARED]
    following = steps[index + 1] if index + 1 < len(steps) else None
    return following.text[:_COMPARED] if following is not None and following.role != "agent" else ""


def _runs(history: History, places: list[int]) -> bool:
    steps = history.trajectory.steps
    return all(any(step.role == "agent" for step in steps[place + 1 : place + 4]) for place in places[:-1])
