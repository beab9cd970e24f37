"""An edit that is made, taken back and made again: the third rule of `infinite_loop`, whatever ends it.

    edit a.py: 1 → 2, pytest: `E assert 3 == 4`, edit a.py: 2 → 1, pytest: the same, edit a.py: 1 → 2, pytest: the same

An edit comes back when it puts in what an earlier edit of the same file took out, or takes out what one put in. What
the user asks for meanwhile is new work, and a run that goes well shows that the agent gets on.
"""

import re
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import islice, pairwise
from operator import ne

from msgspec import Struct

from misstep_harness.classifiers import tools
from misstep_harness.classifiers.effects import changes_files, command_effects, effects, is_run, nature_of
from misstep_harness.classifiers.error_lines import (
    OPENING,
    error_object,
    exit_code,
    has_fault_word,
    is_marked,
    telling,
)
from misstep_harness.classifiers.failures import CallFailure, declined, failed, is_work, of_the_disk, own_failure
from misstep_harness.classifiers.history import Act, History
from misstep_harness.classifiers.identity import Spelling, call_key, without_times
from misstep_harness.classifiers.prose import has
from misstep_harness.classifiers.shell import commands_of, ends_of_names
from misstep_harness.classifiers.tools import PATCH_KEYS, bare_name, edit_texts, first_text, path_of, words_of
from misstep_harness.classifiers.verdicts import RuleFinding, counted, quoted

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

_SHELLS = tools.words("bash sh zsh dash fish ksh")
_SHOW = tools.LOOKS | tools.words("curl wget http https xh journalctl docker kubectl pgrep")
"""Programs whose answers are somebody else's text: what they show may tell of faults that are none of the call's."""

_QUERIES = tools.words("sql query queries database db warehouse")


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
    return None if not called or not tools.BUILDS.isdisjoint(called) else ("program", called[-1])


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


ROUNDS = 3
"""Failures with one error, each after an edit: Wink's three or more."""

RETURNS = 2
"""Edits that come back among them: one that does is a trial taken back, two are going back and forth."""

FLIPS = 3
"""Edits of one file one after the other that each put back what was there, after the one that made it."""

MANY_FLIPS = 6
"""Those where a run between them went well: a switch that is tried both ways is moved once or twice."""

SAME_ERRORS, ATTEMPTS = 4, 2
"""Failures with one error, word for word, and the edits between them that never help."""

_ERROR_LINE = re.compile(
    r"(?:E  +.+|.*\b\w*(?:Error|Exception)\b: ?.*|.*\berror(?:\[\w+\]| TS\d+)?: .+|FAILED .+|"
    r"--- FAIL: .+|\[ERROR\] .+|.*[✗✘] .+|panicked at .+|.*\(core dumped\).*|npm ERR! .+|make(?:\[\d+\])?: \*\*\* .+)$"
)
_ERROR_WORDS = (
    "Error:", "Exception:", "error: ", "error[", "error TS", "E  ", "FAILED ", "--- FAIL: ", "✗ ", "✘ ", "panicked at ",
    "[ERROR] ", "(core dumped)", "npm ERR! ", ": *** ",
)  # fmt: skip
"""Pieces of which every such line has one."""

_NOT_PASSED = re.compile(r"\b[1-9]\d* (?:failed|failing|failures?|errors?)\b", re.IGNORECASE)
"""How those that run tests count what did not pass."""

_PLACE = re.compile(
    r"(?<=\.\w):\d+(?::\d+)?|(?<=\.\w\w):\d+(?::\d+)?|(?<=\.\w\w\w):\d+(?::\d+)?|\bl(?:ine |\.)\d+|\[\d+,\d+\]"
    r"|\b\d+:\d+\b"
)
"""A line of a file: edits above move it, and the error is the same one."""

_SUBSTITUTION = re.compile(r"(?<![A-Za-z_.-])s([/|#,@])((?:\\.|(?!\1)[^\\\n])*+)\1((?:\\.|(?!\1)[^\\\n])*+)\1")
"""What sed puts in the place of what; a folder such as `crates/core/src/` has an s and slashes as well."""

_EDITING = frozenset(("edit", "write", "patch", "undo"))
_SHELL_EDITS = ("sed -i", "edit ", "apply_patch", "str_replace", ">", "patch ", "write")
_TAKEN = re.compile(r"^-(?!--)(.*)$", re.MULTILINE)
_PUT = re.compile(r"^\+(?!\+\+)(.*)$", re.MULTILINE)
_BLOCK = re.compile(
    r"^([<-])\1{3,}+[^\n]*+\n(?>((?:(?!\n\1{4}).)*?)\n={4,}\n)((?:(?!\n\1{4}).)*?)\n(?:>{4,}|\+{4,})",
    re.DOTALL | re.MULTILINE,
)
"""Old and new text as between the marks of a conflict: how several editors take an edit."""

_COMMANDS = re.compile(r"&&|\|\||[;|\n]")
_OWN_WORDS = re.compile(r"\b(?:echo|printf)\b|<<")
_OVERWRITES = re.compile(r"(?<!>)>(?!>)")

_FLAGGED = re.compile(r"--old_str '(?>((?:(?!--old_str ').)*?)' --new_str ')((?:(?!--old_str ').)*?)'", re.DOTALL)
_SHOWN_LINES = 5
_SHORT = 400
"""Characters of an answer that is a complaint and nothing else."""

_NOTICE = re.compile(
    r"^[ \t\[(*#]*+(?:warn(?:ing)?|note|notice|hint|info|debug)\b[^\n]*+", re.IGNORECASE | re.MULTILINE
)

_READ = 20_000
"""Characters at the end of an answer in which its error is looked for, and of a command in which its edit is."""


class _Edit(Struct, frozen=True, gc=False):
    path: str
    comes_back: bool
    made_again: bool = False


def oscillation(history: History) -> RuleFinding | None:
    """Return the steps of an oscillation and a sentence on them; `None` if there is none."""
    acts = history.acts
    tried = _edits(history, all_tried=True)
    if not _may_oscillate(tried):
        return None
    back = [edit.path for edit in tried.values() if edit.comes_back]
    errors = {place: error for place, act in enumerate(acts) if _runs(act) and (error := _error(act)) is not None}
    often = _most(errors.values()) >= (ROUNDS if len(back) >= RETURNS else SAME_ERRORS)
    if not often and _most(back) < FLIPS:
        return None
    edits = _edits(history)  # which of them failed costs most to tell
    if not _may_oscillate(edits):
        return None
    return (_worst(acts, edits, errors) if often else None) or _flips(history, edits)


def _may_oscillate(edits: dict[int, _Edit]) -> bool:
    returns = _most(edit.path for edit in edits.values() if edit.comes_back)
    return returns >= RETURNS or len(edits) >= ATTEMPTS


def _most(values: Iterable[str]) -> int:
    return max(Counter(values).values(), default=0)


def _runs(act: Act) -> bool:
    """Return a cheap look whether a call may run something."""
    return act.line is not None or nature_of(act) in ("test", "run")


def _flips(history: History, edits: dict[int, _Edit]) -> RuleFinding | None:
    by_path: dict[str, list[int]] = defaultdict(list)
    worked = -1
    for place, act in enumerate(history.acts):
        edit = edits.get(place)
        if edit is None:
            if by_path and nature_of(act) in ("test", "run") and act.answer is not None and error_of(act) is None:
                worked = place
            continue
        alike = by_path[edit.path]
        if not edit.comes_back:
            alike.clear()
        alike.append(place)
        since = sum(one > worked for one in alike)
        if since > FLIPS or (len(alike) > MANY_FLIPS and not history.repeats_asked_for):
            steps = [history.acts[one].step for one in alike]
            return RuleFinding(
                "to_and_fro", steps, f"{quoted(edit.path)} is edited to and fro {len(alike)} times ({counted(steps)})."
            )
    return None


class _Texts(Struct):
    """What the edits of a file put in and took out, and what the last of them put in."""

    put: set[str] = set()
    taken: set[str] = set()
    last: str = ""

    def edited(self, path: str, old: str, new: str) -> _Edit:
        """Return an edit with whether it goes back, and whether it was made before and taken back since; note it."""
        if old:
            back = new in self.taken if new.strip() else old in self.put
        else:
            back = new in self.taken or (new in self.put and new != self.last)
        edit = _Edit(path, back, back and bool(new.strip()) and new in self.put)
        self.put.add(new)
        self.taken.update([old] if old.strip() else [])
        self.last = new
        return edit


def _edits(history: History, all_tried: bool = False) -> dict[int, _Edit]:
    """Place of an edit among the calls → the edit; those that failed as well where all that were tried are asked."""
    acts = history.acts
    places = [
        place
        for place, act in enumerate(acts)
        if act.kind in _EDITING
        or (act.line is not None and has(act.line, _SHELL_EDITS))
        or (act.kind == "change" and path_of(act.call) and edit_texts(act.call)[1])
    ]
    edits: dict[int, _Edit] = {}
    if len(places) < ATTEMPTS:
        return edits
    texts: dict[tuple[int, str], _Texts] = defaultdict(_Texts)
    for place in places:
        act = acts[place]
        path, old, new = _edited(act)
        # A line that edits and then runs a test fails by the test.
        if (act.line is not None and not path) or (not all_tried and failed(act) and not _runs_behind(act)):
            continue
        # Where the texts are not known, such as of an edit that is asked for in words, nothing is seen to come back.
        known = texts[bisect(history.news, act.step), path]
        undone = _Edit(path, act.kind == "undo", act.kind == "undo")
        edits[place] = known.edited(path, old, new) if old or new else undone
    return edits


def _edited(act: Act) -> tuple[str, str, str]:
    """Return the path that a call edits, the text that it takes out and the text that it puts in, where it says so."""
    if act.line is not None:
        path = next((effect.target for effect in effects(act) if effect.verb in ("edit", "write")), "")
        return path, *_exchanged(act.line)
    if act.kind == "patch":
        changes = effects(act)
        path = changes[0].target if changes else path_of(act.call)
        return path, *_exchanged(first_text(act.call.arguments, PATCH_KEYS))
    old, new = edit_texts(act.call) if act.kind != "undo" else ("", "")
    if not old and not new:
        old, new = _exchanged(first_text(act.call.arguments, ("diff",)))
    return path_of(act.call), old, new


def _exchanged(line: str) -> tuple[str, str]:
    """Return what a command line puts in the place of what; all of it where it writes its own words."""
    head = line[:_READ]
    match = _SUBSTITUTION.search(head)
    if match:
        return match.group(2), match.group(3)
    block = _BLOCK.search(head) or _FLAGGED.search(head)
    if block:
        *_, old, new = block.groups()
        return old, new
    removed = "\n".join(_TAKEN.findall(line))
    put = "\n".join(_PUT.findall(line))
    return removed, put or (line if _writes_own_words(head) else "")


def _writes_own_words(line: str) -> bool:
    """Return whether a command writes its own words into a file; what a program writes there is new each time."""
    return any(_OWN_WORDS.search(one) and _OVERWRITES.search(one) for one in _COMMANDS.split(line))


def _runs_behind(act: Act) -> bool:
    """Return whether a command line that edits runs something as well: `sed -i … && pytest`."""
    return act.line is not None and any(not command_effects(one) and is_run(one) for one in commands_of(act))


class _Round(Struct, frozen=True, gc=False):
    place: int
    error: str
    edits: tuple[int, ...]


def _worst(acts: list[Act], edits: dict[int, _Edit], errors: dict[int, str]) -> RuleFinding | None:
    rounds: dict[str, list[_Round]] = defaultdict(list)
    last_error = ""
    pending: list[int] = []
    for place, act in enumerate(acts):
        if place in edits:
            pending.append(place)
        error = errors.get(place)
        if (pending or error) and (_runs_behind(act) if place in edits else nature_of(act) in ("test", "run")):
            if error is None:
                shown = next((pair for one in rounds.values() if (pair := _to_and_fro(acts, edits, one))), None)
                if shown is not None:
                    return shown
                rounds.clear()
            else:
                rounds[error].append(_Round(place, error, tuple(pending)))
                last_error = error
            pending = []
    for error, failures in rounds.items():
        shown = _to_and_fro(acts, edits, failures) or (_stuck(acts, edits, failures) if error == last_error else None)
        if shown is not None:
            return shown
    return None


def _to_and_fro(acts: list[Act], edits: dict[int, _Edit], failures: list[_Round]) -> RuleFinding | None:
    edited = [edit for failure in failures for edit in failure.edits]
    back = sum(edits[place].comes_back for place in edited)
    # Changes that are each tried and taken back are trials; one that is then made again is not.
    if len(failures) < ROUNDS or back < RETURNS or not any(edits[place].made_again for place in edited):
        return None
    return _evidence(acts, edits, failures, "to_and_fro", f"{back} of the edits put back what was there before")


def _stuck(acts: list[Act], edits: dict[int, _Edit], failures: list[_Round]) -> RuleFinding | None:
    attempts = sum(bool(failure.edits) for failure in failures)
    if len(failures) < SAME_ERRORS or attempts < ATTEMPTS:
        return None
    return _evidence(acts, edits, failures, "same_error", "no edit changes it")


def _evidence(acts: list[Act], edits: dict[int, _Edit], failures: list[_Round], family: str, how: str) -> RuleFinding:
    edited = [edit for failure in failures for edit in failure.edits]
    path = Counter(edits[place].path for place in edited).most_common(1)[0][0]
    steps = [acts[place].step for place in (*edited, *(failure.place for failure in failures))]
    error = quoted(failures[0].error)
    return RuleFinding(
        family,
        steps,
        f"The error {error} comes back {len(failures)} times after edits of {quoted(path)}: {how} ({counted(steps)}).",
    )


def error_of(act: Act) -> str | None:
    """Return the error that a run ended with, without line numbers and times; `None` where it did not fail."""
    result = act.answer
    # The exit code behind a pipe is that of what shows the answer.
    if result is None or (exit_code(act) == 0 and "|" not in (act.line or "")):
        return None
    text = result.text[-_READ:]
    words = tuple([word for word in _ERROR_WORDS if word in text])
    matches = (line for line in text.split("\n") if has(line, words) and _ERROR_LINE.match(line))
    lines = list(islice(telling(matches), _SHOWN_LINES)) if words else []
    if not lines:
        lines = text.strip().split("\n")[-3:]
        if not result.is_error and exit_code(act) in (None, 0) and not any(map(_NOT_PASSED.search, lines)):
            return None
    return "\n".join(_PLACE.sub("", without_times(line)).strip() for line in lines)


def _error(act: Act) -> str | None:
    """Return the error of a run, or a short answer that complains in a form of its own and has no exit code for it."""
    error = error_of(act)
    if error is not None or act.answer is None or (exit_code(act) == 0 and "|" not in (act.line or "")):
        return error
    text = act.answer.text.strip()
    complains = len(text) <= _SHORT and has_fault_word(without_denials(_NOTICE.sub("", text).lower()))
    return _PLACE.sub("", text) if complains else None  # its figures tell how far the work got
