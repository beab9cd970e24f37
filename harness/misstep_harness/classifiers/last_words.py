"""Find failures that the last words of an agent claim as done, or have no word of: a rule of `tool_call_failure`."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Sequence
from functools import cached_property

from msgspec import Struct

from misstep_harness.classifiers.effects import CHANGES_FILES, effects, nature_of, patched
from misstep_harness.classifiers.error_lines import OPENING, line_of, telling, without_particulars
from misstep_harness.classifiers.failures import CallFailure, declined, failed, own_failure
from misstep_harness.classifiers.history import Act, History
from misstep_harness.classifiers.identity import even_path
from misstep_harness.classifiers.oscillation import complains, error_of, without_denials
from misstep_harness.classifiers.shell import commands_of
from misstep_harness.classifiers.tools import PATCH_KEYS, bare_name, edit_texts, first_text, path_of
from misstep_harness.classifiers.verdicts import RuleFinding, counted, quoted

WINDOW = 10
"""Calls between two malformed calls, or two of tools that do not exist, from which they are slips of their own."""

_DEEPEST = 40
"""Parts of a path that are compared, from its end on."""


def subject_of(act: Act, failure: CallFailure) -> Hashable:
    """Return what an error is about: the file of an edit, the program of a command, the tool otherwise."""
    fault = failure.fault
    if fault in ("malformed call", "unknown tool"):
        return fault
    if fault in ("failed edit", "missing file"):
        return fault, even_path(path_of(act.call)) or bare_name(act.call.name)
    if fault == "wrong usage":
        return fault, program_at_fault(act, failure)
    return fault, bare_name(act.call.name)


def program_at_fault(act: Act, failure: CallFailure) -> str:
    """Return the program that complains, else the first of the command line."""
    programs = [command.program for command in commands_of(act) if command.program != "cd"]
    return next(
        (program for program in programs if program and program in failure.words), programs[0] if programs else ""
    )


class Corrections:
    """The calls of a run that came to something, by what they were about."""

    def __init__(self, acts: Sequence[Act]) -> None:
        self._acts = acts
        self._number = len(acts)
        self._known: dict[str, dict[str, list[int]]] = {}

    @cached_property
    def _all(self) -> list[int]:
        return [place for place, act in enumerate(self._acts) if not failed(act)]

    def _first(self, sort: str, about: str, start: int, end: int) -> int | None:
        if sort not in self._known:
            places = self._known[sort] = defaultdict(list)
            for place, act in enumerate(self._acts):
                keys = _KEYS[sort](act)
                for key in keys if keys and not failed(act) else ():
                    places[key].append(place)
        return _first(self._known[sort].get(about, _NONE), start, end)

    def between(self, subject: Hashable, start: int, end: int) -> int | None:
        """Return the first call between two others in which what went wrong goes right; `None` for none."""
        if not isinstance(subject, tuple):
            return _first(self._all, start, end)
        fault, about = subject
        if fault == "wrong usage":
            return self._first("program", str(about), start, end)
        if fault == "invalid arguments":
            return self._first("tool", str(about), start, end)
        if fault == "missing file":
            return self._first("path", str(about), start, end)
        changed = (self._first("touched", str(about), start, end), self.changed(str(about), start, end))
        return min((one for one in changed if one is not None), default=None)

    def put_right(self, subject: Hashable, start: int, end: int) -> bool:
        """Return whether between two calls what went wrong goes right, or the error is too long ago to be the same."""
        if not isinstance(subject, tuple) and end < self._number:
            return end - start > WINDOW
        if isinstance(subject, tuple) and subject[0] == "failed edit":
            path = str(subject[1])
            return self._first("touched", path, start, end) is not None or self.changed(path, start, end) is not None
        return self.between(subject, start, end) is not None

    def changed(self, path: str, start: int, end: int) -> int | None:
        """Return the first call between two others that changes a file, by whatever part of its path it is named."""
        whole = even_path(path)
        parts = whole.split("/")[-_DEEPEST:]
        places = [self._first("ends", whole, start, end)]
        places += [self._first("changed", "/".join(parts[cut:]), start, end) for cut in range(1, len(parts))]
        return min((one for one in places if one is not None), default=None)

    def works(self, act: Act, failure: CallFailure, start: int) -> int | None:
        """The first call after another that works with the same tool on the same thing, or with the same program."""
        subject = subject_of(act, failure)
        program = program_at_fault(act, failure) if act.line is not None else ""
        like = ("program", program) if program else ("used", _use(act))
        places = (self.between(subject, start, self._number), self._first(*like, start, self._number))
        return min((one for one in places if one is not None), default=None)


def _use(act: Act) -> str:
    return f"{bare_name(act.call.name)} {_name(path_of(act.call))}"


def _path(act: Act) -> tuple[str, ...]:
    path = even_path(path_of(act.call))
    return (path,) if path else ()


def _changed(act: Act) -> set[str]:
    return {even_path(effect.target) for effect in effects(act) if effect.verb in CHANGES_FILES}


def _ends(act: Act) -> set[str]:
    whole = _changed(act)
    if not whole:
        return whole
    parts = [path.split("/")[-_DEEPEST:] for path in whole]
    return whole | {"/".join(part[cut:]) for part in parts for cut in range(1, len(part))}


_KEYS: dict[str, Callable[[Act], Collection[str]]] = {
    "tool": lambda act: (bare_name(act.call.name),),
    "used": lambda act: (_use(act),),
    "path": _path,
    "touched": lambda act: () if act.kind == "read" else _path(act),
    "program": lambda act: {command.program for command in commands_of(act)},
    "changed": _changed,
    "ends": _ends,
}
_NONE: list[int] = []


def _name(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]


def _first(places: list[int], start: int, end: int) -> int | None:
    index = bisect_right(places, start)
    return places[index] if index < len(places) and places[index] < end else None


_ANSWERS_BY_CODE = re.compile(r"\b(?:diff|grep|cmp|check|exit-?code)\b")
"""Programs whose exit code is their answer."""

_ASKS_THE_MACHINE = re.compile(r"\s(?:--version|-V|--help)\s*$|\s-c ['\"](?:import|from) [\w., ]+['\"]\s*$")
"""A command that asks whether a program or a module is there."""

_A_WORD = re.compile(r"[^\W\d_]{3,}")
_STEM = 4
_READ = 2_000

_EDITS = ("edit", "write", "patch")
_UNNAMED = "{}"
"""How a change of files ends that are named by another command."""

_AS_WANTED = re.compile(r"already|\bexists\b|\bnothing to\b|\bup[- ]to[- ]date\b|\bno changes\b")
"""What is answered where the state that a call would bring about is there."""

_NOT_THERE = re.compile(
    r"\bno such\b|\bnot (?:found|loaded|running|exist)|\bno \w+ (?:found|entries)\b|\brefused\b|"
    r"\b(?:failed to|could not|couldn't|cannot) connect\b"
)
_TAKES_AWAY = re.compile(r"\b(?:rm\w*|del\w*|remov\w*|stop|clos\w*|shut|\w*kill|uninstall|drop\w*|un\w+|prune|down)\b")
"""What is not there has been taken away: a call for that, or a look after it, has come to what it was for."""

_DOUBT = re.compile(
    r"n't\b|\b(?:no|not|nor|none|nothing|never|cannot|without|instead|unless|until|unable|sorry|unfortunately|however|"
    r"but|though|already|still|yet|left|leav\w+|skip\w*|remain\w*|stop\w*|need\w*|requires?|should|would|could|may|might|"
    r"must|please|try|tried|manual\w*|if|why|whether|unchanged|as (?:it (?:is|was)|before|asked)|todo|next|will|going|"
    r"plan\w*|let me|i'll|let's|out of|g[ai]v(?:e|en|ing) up|abandon\w*|aground|"
    r"fail\w*|(?:\w{3,})?errors?|\w*exceptions?|problem\w*|issue\w*|differ\w*|other|"
    r"mismatch\w*|miss\w*|wrong|invalid|block\w*|stuck|red|broken?|breaks|crash\w*|killed|refus\w*|reject\w*|"
    r"den(?:y|ie[sd])|forbid\w*|prevent\w*|turned (?:back|down|away)|violat\w*|aborted|findings?|known|dead|"
    r"below|lack\w*|incomplete|damaged|corrupt\w*|demand\w*|wants?|"
    r"braucht?|vermiss\w*|il faut|hace falta|trzeba|nicht|kein\w*|leider|konnte\w*|noch|schon|"
    r"scheiter\w*|gescheitert|fehl\w*|verweiger\w*|abgelehnt|unbekannt|"
    r"pas|aucune?|impossible|erreur\w*|échou\w*|échec|refusée?s?|manque|pude|tampoco|fall(?:ó|aron|ado|a)|rechaz\w*|"
    r"falta\w*|falh\w*|recusad\w*|negad\w*|manca|rifiut\w*|fallit\w*|negat\w*|nie|brak\w*|błąd|przerwan\w*|odrzuc\w*|"
    r"nem|ne|nao|não|non|niet|geen|mislukt\w*|weiger\w*|geweigerd|ontbreekt|ikke|inte|misslyckad\w*|не|нет)\b"
    r"|[?？]|ошиб|отказ|удал|[无不没未]|失[败敗]|错误|拒[絕绝否]|エラー|ません|できな|실패|오류"
)
"""Words of which one is wherever somebody admits, doubts, asks or puts off, and many more places."""


_ASKS_FOR_REFUSAL = re.compile(
    r"\b(?:refus\w*|reject\w*|den(?:y|ie[sd])|forbid\w*|block\w*|prevent\w*|protect\w*|guard\w*|fuzz\w*|cannot be|"
    r"can't be|(?:invalid|malformed|wrong|bad|broken) (?:inputs?|samples?|examples?|files?|values?|passwords?))\b"
)
"""How a user asks for what turns something down: that a command is turned down may be what was asked for."""

_ASKS_FOR_RED = re.compile(r"\breproduc\w*|\b(?:failing|red|negative) (?:\w+ )?(?:tests?|cases?|specs?)\b")
_MENDS = re.compile(r"\b(?:fix\w*|repair\w*|mend\w*|solv\w*|resolv\w*|pass(?:es)?|green)\b")

_LETS_BE = re.compile(
    r"\b(?:ignor\w*|never ?mind|no need to|anyway|don't (?:care|mind|worry)|do not (?:care|mind|worry)|"
    r"leave (?:that|it|them|those)|known to|is known|are known|not (?:your|our) (?:job|problem|concern)|expected to)\b"
)
"""How a user says that a failure does not matter."""

_TOLD = 2
"""Words of a complaint, neither of the call nor of the request, with which the last words tell of it."""

_JOINED = re.compile(r"(?<!\S)[^\s-]*-\S+")
"""A name of several words, which both a claim and an admission can have."""

_LONG_WORD = 6
"""Letters of a word of which one is enough."""

_PLACE = re.compile(r"(?<![\w/-])[\w-]++(?:[./:@][\w-]++)+|(?<!\w)\d{3,}(?!\w)")
"""A place or a code that an answer names: `src/a.py:3`, `spec.replicas`, `404`."""

_SENTENCE = re.compile(r"[.!?;]\s|\n")

_HANDS_IN = re.compile(r"submit\b|echo [^|;&]*_FINAL_OUTPUT\b")
"""Command lines that end a run: what is said with them is the agent's last word."""

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)


class _Later(Struct):
    """What comes after a call and goes well."""

    words: set[str] = set()
    deeds: int = 0
    tested: bool = False
    ran: bool = False
    mended: bool = False
    changed: bool = False
    unnamed: bool = False

    def add(self, act: Act) -> None:
        """Note a call that comes before all that were noted."""
        nature = nature_of(act)
        if failed(act) or nature in ("look", "orient", "move") or error_of(act) is not None:
            return
        done = effects(act)
        changes = [effect.target for effect in done if effect.verb in CHANGES_FILES]
        self.deeds += not any(effect.verb == "commit" for effect in done)
        self.words |= _words_of_deed(act)
        self.tested |= nature == "test"
        self.ran |= nature != "change"
        self.mended |= bool(changes) and self.ran
        self.changed |= bool(changes)
        self.unnamed |= any(target.endswith(_UNNAMED) for target in changes)


def passed_over(history: History, corrections: Corrections) -> RuleFinding | None:
    """Return the last thing done in vain that nothing puts right: claimed as done at the end, or not spoken of."""
    last = history.agent_steps[-1]
    text = last_words(history)
    if not text or admits(text):
        return None
    claimed = _stems(text)
    later = _Later()
    shown: RuleFinding | None = None
    for place in range(sum(act.step < last for act in history.acts) - 1, -1, -1):
        act = history.acts[place]
        if _in_vain(act) and not _as_asked(history, act, text) and not _put_right(history, corrections, place, later):
            name = act.line or path_of(act.call) or bare_name(act.call.name)
            failure = own_failure(act) or CallFailure("error", line_of(act.result.text if act.result else ""))
            claims = _is_told(act) and not (_own_words(act).isdisjoint(claimed) and _goes_on(act, later))
            how = "claimed all the same at the end" if claims else "not spoken of at the end"
            what = f"{quoted(name)} fails ({quoted(failure.words)}), is never done again, and is {how}"
            steps_of = [act.step, last]
            family = "passed_over" if claims else "unmentioned_failure"
            shown = shown if shown and not claims else RuleFinding(family, steps_of, f"{what} ({counted(steps_of)}).")
            if claims:
                return shown
        later.add(act)
    return shown


def admits(text: str) -> bool:
    """Return whether a text has a word of somebody who admits, doubts, asks or puts off."""
    return _DOUBT.search(without_denials(text.lower())) is not None


def tells(history: History, words: str, places: Sequence[int]) -> bool:
    """Return whether the agent's last words admit something, or say what calls were told and did not say themselves."""
    text = last_words(history)
    calls = " ".join(history.acts[place].line or str(history.acts[place].call.arguments) for place in places)
    return bool(text) and (admits(text) or bool((_stems(words) - _stems(calls)) & _stems(text)))


def last_words(history: History) -> str:
    """Return what the agent says in its last turn, or with the call that hands its work in; else nothing."""
    last = history.agent_steps[-1]
    acts = [act for act in history.acts if act.step == last]
    if not all(act.kind == "finish" or _HANDS_IN.match(act.line or "") for act in acts):
        return ""
    texts = [_FENCE.sub("", history.trajectory.steps[last].text)]
    for act in acts:
        if act.kind == "finish" and isinstance(act.call.arguments, dict):
            texts += [value for value in act.call.arguments.values() if isinstance(value, str)]
    return "\n".join(dict.fromkeys(texts)).strip()


def _in_vain(act: Act) -> bool:
    """Return whether a call that does or tests something came to nothing, and nobody stopped it."""
    if declined(act) or nature_of(act) not in ("change", "run", "test") or _ASKS_THE_MACHINE.search(act.line or ""):
        return False
    return failed(act) or _tests_fail(act)


def _as_asked(history: History, act: Act, text: str) -> bool:
    """Return whether the user asked for a failure or let it be, or the last words tell of it as of what was found."""
    answer = act.result.text[:_READ] if act.result else ""
    asked = [turn.lowered[:_READ] for turn in history.turns]
    tests = nature_of(act) == "test"
    for request in asked:
        wanted = (_ASKS_FOR_RED if tests else _ASKS_FOR_REFUSAL).search(request)
        if act.kind not in _EDITS and wanted and not _MENDS.search(request):
            return True
        let_be = [_stems(sentence) for sentence in _SENTENCE.split(request) if _LETS_BE.search(sentence)]
        if let_be and not (_own_words(act) | _stems(answer)).isdisjoint(set().union(*let_be)):
            return True
    complaint = without_particulars("\n".join(filter(complains, answer.split("\n"))))
    known = _own_words(act) | _stems("\n".join(asked))
    told = {word for word in _words(_JOINED.sub("", complaint)) & _words(text) if word[:_STEM] not in known}
    if len({word[:_STEM] for word in told}) >= _TOLD or any(len(word) >= _LONG_WORD for word in told):
        return True
    if any(nature_of(other) == "change" for other in history.acts):
        return False
    places = set(_PLACE.findall(answer.lower())).difference(_PLACE.findall("\n".join((*asked, act.line or ""))))
    return bool(asked and asked[-1].rstrip().endswith("?")) or not places.isdisjoint(_PLACE.findall(text.lower()))


def _tests_fail(act: Act) -> bool:
    return nature_of(act) == "test" and error_of(act) is not None


def _put_right(history: History, corrections: Corrections, place: int, later: _Later) -> bool:
    """Return whether what a call was for is done later: by its like, to its file, by a change and a good run."""
    act = history.acts[place]
    if act.kind in _EDITS:
        changed = any(corrections.changed(path, place, len(history.acts)) is not None for path in _paths(act))
        return later.unnamed or changed or not _stems(edit_texts(act.call)[1]).isdisjoint(later.words)
    if later.mended or (nature_of(act) == "test" and later.tested) or not _words_of_deed(act).isdisjoint(later.words):
        return True
    answer = act.result.text[:_READ].lower() if act.result else ""
    taken_away = any(_TAKES_AWAY.search(turn.lowered[:_READ]) for turn in history.turns) and nature_of(act) == "run"
    gone = _NOT_THERE.search(answer) and (taken_away or _TAKES_AWAY.search((act.line or act.call.name).lower()))
    return bool(gone or _AS_WANTED.search(answer))


def _paths(act: Act) -> list[str]:
    """Return the files that an edit is of; of a patch, those that it names."""
    if act.kind != "patch":
        return [path_of(act.call)]
    return [effect.target for effect in patched(first_text(act.call.arguments, PATCH_KEYS), path_of(act.call))]


def _goes_on(act: Act, later: _Later) -> bool:
    """Return whether the agent does something else after a failure, be it another way to the same end."""
    return later.changed if act.kind in _EDITS else later.deeds > 0


def _is_told(act: Act) -> bool:
    """Return whether an answer says in words that something is wrong, and not by an exit code alone."""
    if _tests_fail(act):
        return True
    answer = act.result.text[:_READ] if act.result else ""
    if OPENING.match(line_of(answer)):
        return True
    return any(map(complains, telling(answer.split("\n")))) and not _ANSWERS_BY_CODE.search(act.line or "")


def _own_words(act: Act) -> set[str]:
    programs = " ".join(command.program for command in commands_of(act))
    sort = "test" if nature_of(act) == "test" else ""
    return _words_of_deed(act) | _stems(" ".join((sort, programs, *_paths(act), *edit_texts(act.call))))


def _words_of_deed(act: Act) -> set[str]:
    """Return the beginnings of the words that say what a call does: of a program with words behind it, these alone."""
    if act.line is None:
        texts = (
            (value for value in act.call.arguments.values() if isinstance(value, str))
            if isinstance(act.call.arguments, dict)
            else ()
        )
        return _stems(" ".join((act.call.name.replace("_", " "), *texts)))
    if any(effect.verb == "commit" for effect in effects(act)):
        return {"commit"[:_STEM]}
    words = []
    for command in commands_of(act):
        plain = [word for word in command.words if not word.startswith("-") and " " not in word]
        words += plain[1:] if command.words[1:2] == tuple(plain[1:2]) and plain[1:] else plain
    return _stems(" ".join(words))


def _stems(text: str) -> set[str]:
    """Return the beginnings of a text's words, alike for `push` and `pushed`, `publish` and `published`."""
    return {word[:_STEM] for word in _words(text)}


def _words(text: str) -> set[str]:
    return {word.lower() for word in _A_WORD.findall(text[:_READ].replace("_", " "))}
