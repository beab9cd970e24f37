"""Find tool call failures (Wink, 2.1.3): errors of the agent's own making, repeated and not corrected.

They are told from what happened and not from how a tool words it. Not tool call failures: failing tests and builds, a
search that finds nothing, a network that is down, a declined call, an error that the next attempt corrects.

A harness may turn down replies before a call exists: steps without a call, answered ever the same.

agent: "I will list the files: ls"        user: "Your reply has no action. Reply with one …"
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from itertools import pairwise

from msgspec import Struct

from misstep_harness.classifiers.effects import changes_files, nature_of
from misstep_harness.classifiers.error_lines import exit_code, has_fault_word, without_particulars
from misstep_harness.classifiers.failures import CallFailure, failed, of_the_environment, own_failure, refuses
from misstep_harness.classifiers.history import Act, History, goes_on
from misstep_harness.classifiers.identity import Spelling, arguments_key, call_key
from misstep_harness.classifiers.last_words import Corrections, passed_over, program_at_fault, subject_of, tells
from misstep_harness.classifiers.oscillation import is_a_search, is_a_series, same_complaint
from misstep_harness.classifiers.prose import parts_of
from misstep_harness.classifiers.shell import commands_of
from misstep_harness.classifiers.tools import LOOKS, bare_name, path_of
from misstep_harness.classifiers.verdicts import RuleFinding, absent, counted, nothing_to_judge, quoted, shown_by_rule
from misstep_harness.trajectory import Step, Trajectory
from misstep_harness.verdict import Verdict

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


CATEGORY = "tool_call_failure"

ERRORS = 3
"""Errors about calls before a success that make a failure: one is a slip, two are a slip and a try at correcting it."""

SAME_ERRORS = 4
"""Times running that any one error makes a failure, even one that may be about the matter rather than the call."""

_WANTS_FAILURE = re.compile(
    r"\b(?:show|verif\w+|check|prove|confirm|ensure|demonstrate) (?:me )?that [^.\n]{0,80}?"
    r"\b(?:fail|refus|reject|block|den(?:y|ie)|crash|error|forbid)"
    r"|\b(?:must|should|ha(?:s|ve) to|needs? to) (?:all |each )?(?:fail|be (?:refus|reject|block|deni|forbid)\w+)\b",
)
"""How a user asks for failures: what programs then complain of is what was wanted."""

_A_REQUEST = 500
"""Characters of a turn that asks for something; a longer one tells of what happened, failures among it."""

_OF_A_SAMPLE = ("error", "invalid arguments")
_FORM_of_tool_call_failure = re.compile(r"\bmust\b|\bexpect", re.IGNORECASE)
"""How a call is told what form it should have had."""

_NO_SUCH_PROGRAM = 127
_OF_THE_MATTER = ("missing file", "error")
"""Faults that say nothing of the form of a call."""


class _Error(Struct, frozen=True, gc=False):
    place: int
    failure: CallFailure
    subject: Hashable


class _Run(Struct, frozen=True):
    history: History
    acts: list[Act]
    corrections: Corrections


def classify(trajectory: Trajectory) -> Verdict:
    """Return whether a run shows tool call failures."""
    return judge(History(trajectory))


def judge(history: History) -> Verdict:
    """Return the verdict on a run whose view is already made."""
    if not history.agent_steps:
        return nothing_to_judge(history, CATEGORY)
    shown = rejections(history)
    errors: list[_Error] = []
    wanted = any(len(turn.text) <= _A_REQUEST and _WANTS_FAILURE.search(turn.lowered) for turn in history.turns)
    if shown is None:
        errors = [
            _Error(place, failure, subject_of(act, failure))
            for place, act in enumerate(history.acts)
            if (failure := own_failure(act)) is not None
            and not (wanted and act.line and failure.fault in ("error", "missing file", "wrong usage"))
        ]
        errors = _not_told(history, _not_by_waiting(history.acts, errors))
        run = _Run(history, history.acts, Corrections(history.acts))
        ways = (
            _before_success,
            _one_error_running,
            _same_mistake,
            _unknown_programs,
            _invented_paths,
            _made_again,
            _left_undone,
        )
        shown = next((result for way in ways if errors and (result := way(run, errors)) is not None), None)
    if shown is None and not wanted:
        shown = _one_complaint(history) or passed_over(history, Corrections(history.acts))
    if shown is None and not errors:
        return absent(history, CATEGORY, "No call fails by the agent's own error.")
    if shown is None:
        return absent(history, CATEGORY, f"The agent's own errors ({len(errors)}) are single or put right.")
    return shown_by_rule(history, CATEGORY, shown)


def _not_by_waiting(acts: list[Act], errors: list[_Error]) -> list[_Error]:
    """Return the errors without those of a call that works unchanged later: the call was not at fault."""
    calls = {
        error.place: arguments_key(acts[error.place].call.arguments)
        for error in errors
        if error.failure.fault != "failed edit"
    }
    calls_made = {(acts[place].call.name, key) for place, key in calls.items()}
    tools = {name for name, _ in calls_made}
    worked: dict[Hashable, int] = {}
    for place, act in enumerate(acts) if tools else ():
        name = act.call.name
        if name in tools and (call := (name, arguments_key(act.call.arguments))) in calls_made and not failed(act):
            worked[call] = place
    return [
        error for error in errors if worked.get((acts[error.place].call.name, calls.get(error.place)), -1) < error.place
    ]


def _not_told(history: History, errors: list[_Error]) -> list[_Error]:
    """Return the errors without those of a series that is told of at the end: what each of the samples came to."""
    told: set[int] = set()
    by_words: dict[str, list[_Error]] = defaultdict(list)
    for error in errors:
        act = history.acts[error.place]
        faults = _OF_A_SAMPLE if act.line else ("error",)
        if (
            nature_of(act) != "look"
            and error.failure.fault in faults
            and not _FORM_of_tool_call_failure.search(error.failure.words)
        ):
            by_words[error.failure.evened].append(error)
    for alike in by_words.values():
        places = [error.place for error in alike]
        if (
            len(places) >= ERRORS
            and is_a_series(history.acts, places)
            and tells(history, alike[0].failure.words, places)
        ):
            told.update(places)
    return [error for error in errors if error.place not in told]


def _before_success(run: _Run, errors: list[_Error]) -> RuleFinding | None:
    by_subject: dict[Hashable, list[_Error]] = defaultdict(list)
    about_calls = [error for error in errors if error.failure.fault not in _OF_THE_MATTER]
    for error in about_calls:
        alike = by_subject[error.subject]
        if alike and run.corrections.put_right(error.subject, alike[-1].place, error.place):
            alike.clear()
        _add(run.acts, alike, error)
        if len(alike) == ERRORS:
            return _shown(
                run, alike + [one for one in about_calls if one.place > error.place and one.subject == error.subject]
            )
    return None


def _one_error_running(run: _Run, errors: list[_Error]) -> RuleFinding | None:
    runs: dict[Hashable, tuple[str, list[_Error]]] = {}
    at_fault = {error.place: error for error in errors}
    for place, act in enumerate(run.acts):
        error = at_fault.get(place)
        name = bare_name(act.call.name)
        if error is None:
            runs.pop(name, None)
            for subject in _programs(act) if any(one.__class__ is tuple for one in runs) else ():
                runs.pop(subject, None)
            if runs and changes_files(act):  # what fails again after a change is being worked on
                runs = {key: tail for key, tail in runs.items() if tail[1][0].failure.fault not in _OF_THE_MATTER}
            continue
        subject = name if act.line is None else ("program", program_at_fault(act, error.failure))
        known, alike = runs.get(subject, ("", []))
        evened = error.failure.evened
        if known != evened:
            alike = []
        _add(run.acts, alike, error)
        runs[subject] = (evened, alike)
        if (
            len(alike) >= SAME_ERRORS
            and evened
            and (error.failure.fault not in _OF_THE_MATTER or _differ(run.acts, alike))
            and not (error.failure.fault == "error" and is_a_search(run.acts, [one.place for one in alike]))
            and (error.failure.fault != "missing file" or not _are_a_look(run.acts, alike))
        ):
            return _shown(run, alike)
    return None


def _differ(acts: list[Act], errors: list[_Error]) -> bool:
    """Whether errors are of several calls: one call over and over is a loop, and its error may be the matter's."""
    spelling = Spelling(acts)
    return len({call_key(acts[error.place], spelling) for error in errors}) >= ERRORS


def _programs(act: Act) -> Iterator[Hashable]:
    for command in commands_of(act):
        yield "program", command.program


def _same_mistake(run: _Run, errors: list[_Error]) -> RuleFinding | None:
    by_complaint: dict[Hashable, list[_Error]] = defaultdict(list)
    for error in errors:
        if error.failure.fault in ("invalid arguments", "wrong usage"):
            _add(run.acts, by_complaint[error.subject, error.failure.evened], error)
    return next((_shown(run, alike) for alike in by_complaint.values() if len(alike) >= ERRORS), None)


def _unknown_programs(run: _Run, errors: list[_Error]) -> RuleFinding | None:
    """Return different commands running that the machine does not have."""
    names: dict[str, _Error] = {}
    last = -1
    for error in errors:
        act = run.acts[error.place]
        if error.place != last + 1:
            names.clear()
        last = error.place
        if act.line is None or not (exit_code(act) == _NO_SUCH_PROGRAM or "command not found" in error.failure.words):
            names.clear()
            continue
        names.setdefault(program_at_fault(act, error.failure), error)
        if len(names) >= SAME_ERRORS:
            return _shown(run, list(names.values()), "unknown_command")
    return None


def _invented_paths(run: _Run, errors: list[_Error]) -> RuleFinding | None:
    """Return guesses of paths that do not exist, made without a look at what there is, or in spite of one."""
    missing = {error.place: error for error in errors if error.failure.fault == "missing file"}
    alike: list[_Error] = []
    tried: set[str] = set()
    looked = False
    for place, act in enumerate(run.acts):
        error = missing.get(place)
        path = path_of(act.call) or (act.line or "")
        if error is None:
            if alike and _lists(act):
                looked = len(tried) >= ERRORS
            if alike and (_finds(act, path, tried) or (_lists(act) and not looked)):
                alike, tried = [], set()
            continue
        if path not in tried:
            tried.add(path)
            _add(run.acts, alike, error)
        deep = _beliefs(tried)
        given_up = deep >= ERRORS and not any(map(_looks, run.acts[place + 1 :]))
        if min(deep, len(alike)) >= SAME_ERRORS + looked or (len(alike) >= ERRORS and given_up):
            return _shown(run, alike, "invented_path")
    return None


def _beliefs(paths: Iterable[str]) -> int:
    """Return how many paths are a belief: bare names, and names tried in one folder, are a look (README, …)."""
    names = [one.split()[-1] for one in paths if one.strip()]
    folders = Counter(one.rpartition("/")[0] for one in names if one.startswith("/"))
    return sum(len(parts_of(one)) > 1 and folders[one.rpartition("/")[0]] < ERRORS for one in names)


def _are_a_look(acts: list[Act], errors: list[_Error]) -> bool:
    """Return whether each of some calls reads another file that is guessed by its bare name."""
    paths = {_file_read(acts[one.place], one.failure.words) for one in errors}
    return "" not in paths and len(paths) == len(errors) and _beliefs(paths) <= 1


def _file_read(act: Act, complaint: str) -> str:
    if act.line is None:
        return path_of(act.call)
    commands = commands_of(act)
    path = commands[0].words[-1] if len(commands) == 1 and commands[0].program in LOOKS else ""
    return path if path in complaint else ""


def _lists(act: Act) -> bool:
    return act.kind in ("list", "search", "shell") and not failed(act)


def _finds(act: Act, path: str, tried: set[str]) -> bool:
    """Return whether a look reaches a file of the name of one that was tried."""
    return _looks(act) and any(one.rstrip("/").rsplit("/", 1)[-1] in path for one in tried)


def _looks(act: Act) -> bool:
    return act.kind in ("read", "list", "search", "shell") and not failed(act)


def _made_again(run: _Run, errors: list[_Error]) -> RuleFinding | None:
    """Return the very same failing call twice in a row, where it is never put right."""
    for one, other in pairwise(errors):
        if other.place != one.place + 1 or other.subject != one.subject or one.failure.fault in _OF_THE_MATTER:
            continue
        same = call_key(run.acts[one.place]) == call_key(run.acts[other.place])
        if same and not run.corrections.put_right(one.subject, other.place, len(run.acts)):
            return _shown(run, [one, other])
    return None


def _left_undone(run: _Run, errors: list[_Error]) -> RuleFinding | None:
    undone: list[_Error] = []
    for error in errors:
        if error.failure.fault == "failed edit" and not run.corrections.put_right(
            error.subject, error.place, len(run.acts)
        ):
            _add(run.acts, undone, error)
    return _shown(run, undone, "undone_edit") if len(undone) >= ERRORS else None


def _one_complaint(history: History) -> RuleFinding | None:
    acts = history.acts
    complaint = same_complaint(acts)
    if complaint is None or is_a_search(acts, complaint.places):
        return None
    looks = nature_of(acts[complaint.places[0]]) == "look"
    if not looks and is_a_series(acts, complaint.places) and tells(history, complaint.words, complaint.places):
        return None
    steps = [acts[place].step for place in complaint.places]
    name = quoted(bare_name(acts[complaint.places[0]].call.name), 40).strip('"')
    text = f"{name} gives one answer to {len(steps)} different calls running ({quoted(complaint.words)})"
    return RuleFinding("same_complaint", steps, f"{text} ({counted(steps)}).")


def _add(acts: list[Act], alike: list[_Error], error: _Error) -> None:
    if not alike or acts[alike[-1].place].step != acts[error.place].step:
        alike.append(error)


def _shown(run: _Run, errors: list[_Error], family: str = "own_error") -> RuleFinding:
    first, last = errors[0], errors[-1]
    act = run.acts[first.place]
    steps = [run.acts[error.place].step for error in errors]
    name = quoted(bare_name(act.call.name), 40).strip('"')
    sort = first.failure.fault if first.failure.fault != "error" else "one error"
    fails = f"{name} fails {len(errors)} times by the agent's own error, {sort} ({quoted(first.failure.words)})"
    works = run.corrections.works(run.acts[last.place], last.failure, last.place)
    if works is None:
        works = run.corrections.works(act, first.failure, first.place)
    if works is not None:
        what = "it" if isinstance(first.subject, tuple) else "a call"
        return RuleFinding(family, steps, f"{fails} ({counted(steps)}); {what} works in step {run.acts[works].step}.")
    after = len(run.acts) - 1 - last.place
    if not after:
        return RuleFinding(family, steps, f"{fails}, and no call comes after ({counted(steps)}).")
    return RuleFinding(family, steps, f"{fails}, and is not put right in the {after} calls after ({counted(steps)}).")
