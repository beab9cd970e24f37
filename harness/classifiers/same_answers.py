"""One complaint to several calls: what tools answer again and again, whatever it says, tells of no call that worked.

Nothing is known here of the wording but that it complains: the answers are marked as errors, or hold one of a few
general words for a fault, and are equal once all that is particular to a call is evened out.
"""

import re
from collections.abc import Hashable

from msgspec import Struct

from harness.classifiers import programs
from harness.classifiers.effects import CHANGES_FILES, effects
from harness.classifiers.failures import Failure, exit_code, is_work
from harness.classifiers.history import Act
from harness.classifiers.identity import Spelling, call_key
from harness.classifiers.shell import commands_of
from harness.classifiers.tools import bare_name, words_of

TIMES = 4
"""Times running that one complaint makes a failure."""

DIFFERENT = 3
"""Different calls among them: one call over and over is a loop."""

_LONGEST = 1_500
_SHOWN = 160
_LOOKED_AT = 12
_FEW = 3
"""Lines of an answer that says no more than what is wrong."""

_FAULT = re.compile(
    r"(?<![a-z])(?:errors?|fail(?:ed|s|ure)?|den(?:ied|y)|refus\w+|forbidden|unauthori[sz]ed|cannot|can't|couldn't|unable|"
    r"invalid|unknown|unsupported|unavailable|missing|exceed\w*|expired|revoked|reject\w*|exception|illegal|timed out|"
    r"not)(?![a-z])",
    re.IGNORECASE,
)
"""General words for a fault."""

_NOTHING_FOUND = re.compile(
    r"\b(?:no|0|zero|not) (?:\w+ ){0,3}(?:found|match\w*|results?|hits?|issues?|changes?|produce)\b", re.IGNORECASE
)
_WITHOUT_FAULT = re.compile(r"\b(?:no|0|without|zero) (?:errors?|fail(?:ures|ed)?)\b|\(none\)", re.IGNORECASE)
_LABEL = re.compile(r"(?:output|stdout|stderr|result):\s*", re.IGNORECASE)
_OPENS = re.compile(r"(?:error|fatal|failed|failure|exception|\w*Error)\b", re.IGNORECASE)
_SHELLS = programs.words("bash sh zsh dash fish ksh")
_SHOW = programs.LOOKS | programs.words("curl wget http https xh journalctl docker kubectl pgrep")
"""Programs whose answers are somebody else's text: what they show may tell of faults that are none of the call's."""

_QUERIES = programs.words("sql query queries database db warehouse")


class Complaint(Struct, frozen=True, gc=False):
    """Which answers complain alike: their places among the acts, and the words."""

    places: tuple[int, ...]
    words: str


def same_complaint(acts: list[Act]) -> Complaint | None:
    """The first complaint that several calls get while none of their tools works; `None` where there is none."""
    runs: dict[str, list[int]] = {}
    subjects: dict[int, Hashable] = {}
    spelling: Spelling | None = None
    for place, act in enumerate(acts):
        subject = _subject(act)
        words = None if subject is None else _complaint(act)
        if words is None and runs and any(effect.verb in CHANGES_FILES for effect in effects(act)):
            runs.clear()  # what is complained of after a change is being worked on
        evened = "" if words is None else Failure("error", words).evened
        if subject is None:
            continue
        for other in [one for one in runs if one != evened and any(subjects[at] == subject for at in runs[one])]:
            del runs[other]
        if words is None:
            continue
        subjects[place] = subject
        places = runs.setdefault(evened, [])
        places.append(place)
        if len({acts[one].step for one in places}) >= TIMES:
            spelling = spelling or Spelling(acts)
            if len({call_key(acts[one], spelling) for one in places}) >= DIFFERENT:
                return Complaint(tuple(places), words)
    return None


def _subject(act: Act) -> Hashable:
    """The tool, or in a shell the program, that answers; `None` where an answer tells of the work."""
    if act.kind != "shell":
        return None if is_work(act) and _QUERIES.isdisjoint(words_of(act.call.name)) else bare_name(act.call.name)
    called = [command.program for command in commands_of(act)]
    return None if not called or not programs.BUILDS.isdisjoint(called) else ("program", called[-1])


def _complaint(act: Act) -> str | None:
    """The line of an answer that complains; `None` where none does."""
    result = act.result
    if result is None or not result.text.strip() or len(result.text) > _LONGEST:
        return None
    code = exit_code(act)
    marked = result.is_error is True or code not in (None, 0)
    if not marked and (result.is_error is False or code == 0 or act.kind in ("read", "list", "look", "edit", "write")):
        return None
    if not marked and _FAULT.search(result.text) is None:
        return None
    own = str(act.line or "").strip()
    lines = [_LABEL.sub("", line.strip(), count=1) for line in result.text.split("\n") if line.strip()][:_LOOKED_AT]
    said = [line for line in lines if not (own and own in line)]
    if act.kind == "shell":
        said = [line for line in said if _is_of_the_program(line, act, marked)]
    elif not marked and result.text.lstrip()[:1] not in "[{":
        said = said[:1] if len(lines) <= _FEW else []
    faulty = next((line for line in said if _is_fault(line) or (marked and _speaker(line) in _SHELLS)), None)
    if faulty is None and result.is_error is True and act.kind != "shell" and said:
        faulty = said[0]
    return None if faulty is None else faulty[:_SHOWN]


def _is_of_the_program(line: str, act: Act, marked: bool) -> bool:
    """Whether a line is what a shell or a program says of its call, and nothing that it was asked to show."""
    called = [command.program for command in commands_of(act)]
    if _speaker(line) in _SHELLS or _speaker(line) in called:
        return True
    opens = _OPENS.match(line) is not None
    return opens if called[-1] in _SHOW and marked else marked or (opens and called[-1] not in _SHOW)


def _speaker(line: str) -> str:
    """Who says a line of the form `program: …`."""
    return line.partition(":")[0].rsplit("/", 1)[-1]


def _is_fault(line: str) -> bool:
    return _FAULT.search(_NOTHING_FOUND.sub("", _WITHOUT_FAULT.sub("", line))) is not None
