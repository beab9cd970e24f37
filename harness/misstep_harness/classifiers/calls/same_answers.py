"""One complaint to several calls: what tools answer again and again, whatever it says, tells of no call that worked."""

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import islice, pairwise
from operator import ne

from msgspec import Struct

from misstep_harness.classifiers.calls import programs
from misstep_harness.classifiers.calls.error_lines import OPENING, error_object, exit_code, is_marked, telling
from misstep_harness.classifiers.calls.failures import CallFailure, failed, is_work, own_failure
from misstep_harness.classifiers.calls.history import Act
from misstep_harness.classifiers.calls.identity import Spelling, call_key
from misstep_harness.classifiers.calls.natures import changes_files
from misstep_harness.classifiers.calls.others_faults import declined, of_the_disk
from misstep_harness.classifiers.calls.shell import commands_of, ends_of_names
from misstep_harness.classifiers.calls.tools import bare_name, words_of
from misstep_harness.classifiers.prose import has

TIMES = 4
"""Times running that one complaint makes a failure."""

DIFFERENT = 3
"""Different calls among them: one call over and over is a loop."""

_LONGEST = 1_500
_SHOWN = 160
_SAYS_SOMETHING = 20
"""Characters of an answer that says what is wrong."""

_LOOKED_AT = 12
_FEW = 3
"""Lines of an answer that says no more than what is wrong."""

_FAULT = re.compile(
    r"(?<![a-z])(?:errors?|fail(?:ed|s|ure)?|den(?:ied|y)|refus\w+|forbidden|unauthori[sz]ed|cannot|can't|couldn't|unable|"
    r"invalid|unknown|unsupported|unavailable|missing|exceed\w*|expired|revoked|reject\w*|exception|illegal|timed out|"
    r"not)(?![a-z])"
)
_FAULTS = (
    "not", "error", "fail", "den", "can", "unable", "invalid", "refus", "forbidden", "unauthori", "couldn", "unknown",
    "unsupported", "unavailable", "missing", "exceed", "expired", "revoked", "reject", "exception", "illegal", "timed",
)  # fmt: skip
"""Pieces of which each of those words has one."""


_NOTHING_FOUND = re.compile(
    r"\b(?:no|0|zero|not) (?:\w+ ){0,3}(?:found|match\w*|results?|hits?|issues?|changes?|produce)\b"
)
_WITHOUT_FAULT = re.compile(
    r"\b(?:no|0|without|zero) (?:\w+ ){0,2}(?:errors?|fail(?:ures?|ed)?|problems?|warnings?|issues?|complaints?)\b"
    r"|(?:error: )?\(none\)"
)
_LABEL = re.compile(r"(?:output|stdout|stderr|result):\s*", re.IGNORECASE)
_OPENS = re.compile(r"(?:error|fatal|failed|failure|exception|\w*Error)\b", re.IGNORECASE)
_OPENINGS = ("error", "fatal", "fail", "exception")
"""Pieces of which a line has one that opens as an error."""

_LABELS = ("output:", "stdout:", "stderr:", "result:")

_SHELLS = programs.words("bash sh zsh dash fish ksh")
_SHOW = programs.LOOKS | programs.words("curl wget http https xh journalctl docker kubectl pgrep")
"""Programs whose answers are somebody else's text: what they show may tell of faults that are none of the call's."""

_QUERIES = programs.words("sql query queries database db warehouse")


class Complaint(Struct, frozen=True, gc=False):
    """Which answers complain alike: their places among the acts, and the words."""

    places: tuple[int, ...]
    words: str


def same_complaint(acts: list[Act]) -> Complaint | None:
    """Return the first complaint that several calls get while none of their tools works; `None` if there is none."""
    if (verbatim := _verbatim(acts)) is not None:
        return verbatim
    complaints = {place: words for place, act in enumerate(acts) if (words := _complaint(act)) is not None}
    evened_out = {place: CallFailure("error", words).evened for place, words in complaints.items()}
    if max(Counter(evened_out.values()).values(), default=0) < TIMES:
        return None
    runs: dict[str, list[int]] = {}
    subjects: dict[int, Hashable] = {}
    spelling: Spelling | None = None
    for place, act in enumerate(acts):
        words = complaints.get(place)
        if words is None and not runs:
            continue
        subject = _subject(act)
        if subject is None:
            words = None
        if words is None and runs and changes_files(act):
            runs.clear()  # what is complained of after a change is being worked on
        evened = "" if words is None else evened_out[place]
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


def is_a_search(acts: list[Act], places: Sequence[int]) -> bool:
    """Return whether calls try one value after the other until one works, such as mirrors; a path is no such value."""
    last = places[-1]
    return (
        acts[last].line is not None
        and is_a_series(acts, places)
        and any(is_a_series(acts, [last, place]) and not failed(acts[place]) for place in range(last + 1, len(acts)))
    )


def is_a_series(acts: list[Act], places: Sequence[int]) -> bool:
    """Return whether calls differ in one value alone: what is asked of each host, each port or each broken sample."""
    words = [(acts[place].line or str(acts[place].call.arguments)).replace("=", " ").split() for place in places]
    return all(len(one) == len(other) and sum(map(ne, one, other)) == 1 for one, other in pairwise(words))


def _verbatim(acts: list[Act]) -> Complaint | None:
    """Return calls running that fail with one answer, word for word, though they differ."""
    places: list[int] = []
    for place, act in enumerate(acts):
        text = act.result.text if act.result is not None and is_marked(act.result) else ""
        if (
            not text
            or declined(act)
            or _subject(act) is None
            or of_the_disk(text)
            or changes_files(act)
            or _is_a_guess(act)
        ):
            places = []  # no complaint, or the work, or a try at changing what is complained of
            continue
        if not (places and text == getattr(acts[places[-1]].result, "text", "")):
            places = []
        words = next((line.strip() for line in telling(text.split("\n")[:_LOOKED_AT]) if complains(line)), "")
        if len(words) < _SAYS_SOMETHING:
            places = []
            continue
        places.append(place)
        if len(places) >= TIMES and len({call_key(acts[one]) for one in places}) >= DIFFERENT:
            return Complaint(tuple(places), words[:_SHOWN])
    return None


def _is_a_guess(act: Act) -> bool:
    """Return whether a path does not exist, which is no complaint of the tool's."""
    failure = own_failure(act) if act.kind != "shell" else None
    return failure is not None and failure.fault == "missing file"


def _subject(act: Act) -> Hashable:
    """Return the tool, or in a shell the program, that answers; `None` where an answer tells of the work."""
    if act.kind != "shell":
        return None if is_work(act) and _QUERIES.isdisjoint(words_of(act.call.name)) else bare_name(act.call.name)
    called = [command.program for command in commands_of(act)]
    return None if not called or not programs.BUILDS.isdisjoint(called) else ("program", called[-1])


def _complaint(act: Act) -> str | None:
    """Return the line of an answer that complains; `None` where none does."""
    result = act.result
    if result is None or len(result.text) > _LONGEST:
        return None
    code = exit_code(act)
    marked = result.is_error is True or code not in (None, 0) or (act.kind != "shell" and _opens_as_error(result.text))
    if not marked and (result.is_error is False or code == 0 or act.kind in ("read", "list", "look", "edit", "write")):
        return None
    if not marked and not _may_complain(act, result.text):
        return None
    if _is_a_guess(act):
        return None
    own = str(act.line or "").strip()
    filled = islice(filter(None, map(str.strip, result.text.split("\n"))), _LOOKED_AT)
    lines = [_LABEL.sub("", line, count=1) for line in telling(filled)]
    candidates = [line for line in lines if not (own and own in line)]
    if act.kind == "shell":
        candidates = [line for line in candidates if _is_of_the_program(line, act, marked)]
    elif not marked and result.text.lstrip()[:1] not in "[{":
        candidates = candidates[:2] if len(lines) <= _FEW else []
    faulty = next((line for line in candidates if complains(line) or (marked and _speaker(line) in _SHELLS)), None)
    if faulty is None and result.is_error is True and act.kind != "shell" and candidates:
        faulty = candidates[0]
    return None if faulty is None or declined(act) else faulty[:_SHOWN]


def _opens_as_error(text: str) -> bool:
    return OPENING.match(text) is not None or error_object(text) is not None


def _may_complain(act: Act, text: str) -> bool:
    """Return a cheap look whether an answer that is not marked has a fault in it, and a shell's one who tells of it."""
    lowered = text.lower()
    if not has(lowered, _FAULTS):
        return False
    if act.kind == "shell" and not (has(lowered, _LABELS) or _may_open(lowered) or _may_speak(act, text)):
        return False
    return _FAULT.search(lowered) is not None


def _may_open(lowered: str) -> bool:
    """Return a cheap look whether a line opens as an error: with such a word, or one that ends with it."""
    for word in _OPENINGS:
        place = lowered.find(word)
        while place >= 0:
            before = lowered[lowered.rfind("\n", 0, place) + 1 : place].strip()
            if not before or (word == "error" and " " not in before):
                return True
            place = lowered.find(word, place + 1)
    return False


def _may_speak(act: Act, text: str) -> bool:
    """A cheap look whether an answer has the name of a shell, or what may be one of a program, before a colon."""
    return "sh:" in text or has(text, tuple([f"{name}:" for name in ends_of_names(act)]))


def _is_of_the_program(line: str, act: Act, marked: bool) -> bool:
    called = [command.program for command in commands_of(act)]
    if not called:
        return False
    speaker = _speaker(line)
    if speaker and (speaker in _SHELLS or speaker in called):  # a lone redirection is a program without a name
        return True
    opens = _OPENS.match(line) is not None
    return opens if called[-1] in _SHOW and marked else marked or (opens and called[-1] not in _SHOW)


def _speaker(line: str) -> str:
    """The program in a line of the form `program: …`."""
    return line.partition(":")[0].rsplit("/", 1)[-1]


def complains(line: str) -> bool:
    """Return whether a line tells of a fault, and not that there is none."""
    return _FAULT.search(without_denials(line.lower())) is not None


def without_denials(text: str) -> str:
    """Return a text in small letters without what says that there is no fault: `no errors`, `nothing found`."""
    return _NOTHING_FOUND.sub("", _WITHOUT_FAULT.sub("", text))
