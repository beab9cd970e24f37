"""Read what a user forbids, by the named patterns of `limits.toml`; what no pattern reads is not checked.

    "Do not touch config.yaml."         → Limit("ban", ("config.yaml",))
    "Only edit src/parser.py."          → Limit("only", ("src/parser.py",))
    "Don't use the `web_search` tool."  → Limit("tool", ("web_search",))

A question, a condition, a report, a quotation, code and what another sentence of the turn takes back set no limit.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path

import msgspec
from msgspec.structs import replace

from misstep_harness.classifiers.calls.history import History, HistoryTurn, once
from misstep_harness.classifiers.prose import has, names, parts_of

DEEDS = ("commit", "push", "install")
TESTS = ":tests"
"""The target of a limit on tests, by whatever names their files have."""
_UNTIL_THE_NEXT_TURN = ("only", "none")
_MOST = 50
"""Limits of a run that are held against it: no person sets more."""
_LONGEST = 300
"""Characters of a sentence in which a limit is looked for."""


class Limit(msgspec.Struct, frozen=True, gc=False):
    """One limit that the user sets in the turn `since`; from the turn `until` on it may have been taken back.

    Its kind is `only` (files that alone may change), `ban` (files that may not), `none` or `mode` (nothing may change),
    one of the `DEEDS` (with the branch, where one is named), `delete`, `dependency` or `tool`.
    """

    kind: str
    targets: tuple[str, ...]
    words: str
    since: int = -1
    until: int | None = None


class _Pattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    forbids: str
    clause: str
    reads: str
    leaves: str


class _Data(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cues: tuple[str, ...]
    clause: str
    order: str
    opening: str
    closing: str
    ends: str
    doubt: str
    subject: str
    permission: str
    pointing: str
    work: str
    beyond: str
    english: str
    words: dict[str, str]
    patterns: tuple[_Pattern, ...]

    def compiled(self, text: str) -> re.Pattern[str]:
        """Return a pattern whose words are filled in."""
        while named := re.search(r"\{([a-z]+)\}", text):
            text = text.replace(named[0], self.words[named[1]])
        return re.compile(text, re.IGNORECASE)


_DATA = msgspec.toml.decode(Path(__file__).with_name("limits.toml").read_bytes(), type=_Data)
PATTERNS = {one.name: one for one in _DATA.patterns}
_CLAUSE, _DOUBT, _SUBJECT = map(_DATA.compiled, (_DATA.clause, _DATA.doubt, rf"\W*{_DATA.subject}"))
_ORDER = _DATA.compiled(rf"(?:^|[,;:—–]\s){_DATA.opening}{_DATA.order}")
_PERMISSION, _POINTING, _WORK = map(_DATA.compiled, (_DATA.permission, _DATA.pointing, _DATA.work))
_BEYOND, _ENGLISH, _PATH = map(_DATA.compiled, (_DATA.beyond, _DATA.english, r"(?<![\w/]){path}"))
_TESTS = re.compile(r"\b(?:tests?|specs?)\b", re.IGNORECASE)
_BRANCH = re.compile(r"\bto (?:the )?(main|master)\b")
_CONDITION = re.compile(r"\W*(?:if|when|whenever|once|in case|should you)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_NEGATIONS = ("not ", "n't ", "never ", "without ", "leave ", "keep ")


@once
def limits_of(history: History) -> list[Limit]:
    """Return the limits of a run's turns, in order, each with the turn from which on it may not hold."""
    read = (limit for turn in history.turns if has(turn.lowered, _DATA.cues) for limit in _limits_of_turn(turn))
    return [replace(limit, until=_taken_back(limit, history.turns)) for limit in islice(read, _MOST)]


def _limits_of_turn(turn: HistoryTurn) -> Iterator[Limit]:
    sentences = [" ".join(sentence.split()) for sentence in turn.sentences]
    for place, sentence in enumerate(sentences):
        if len(sentence) > _LONGEST or not has(sentence.lower(), _DATA.cues) or _SUBJECT.match(sentence):
            continue
        earlier = sentences[:place]
        if place and _CONDITION.match(earlier[-1]):
            continue
        if any(one.endswith(":") and _DOUBT.search(one) for one in earlier):  # a list of what is to be done then
            return
        for limit, rest in _limits_of_sentence(sentence, turn.step):
            if not any(_softens(other, limit) for other in (*rest, *sentences[:place], *sentences[place + 1 :])):
                yield limit


def _limits_of_sentence(sentence: str, since: int) -> Iterator[tuple[Limit, tuple[str, str]]]:
    """Yield each limit that a sentence sets, with what stands before and after it."""
    end = 0
    for start in _CLAUSE.finditer(sentence):
        text = sentence[start.end() :].lstrip()
        offset = len(sentence) - len(text)
        matches = ((one, _of_clause(one).match(text)) for one in PATTERNS.values()) if offset >= end else ()
        one, match = next(((one, match) for one, match in matches if match), (None, None))
        goes_on = re.fullmatch(r"\s*(?:and|but)?\s*", start[0]) and start.start() > 0
        if one is None or match is None or (goes_on and not _ORDER.search(sentence[: start.start()])):
            continue
        end = offset + match.end()
        rest = sentence[: start.start()], sentence[end:]
        if not any(map(_DOUBT.search, rest)):
            kinds = _deeds(match) if one.forbids == "deed" else [one.forbids]
            yield from ((Limit(kind, _targets(match), sentence, since), rest) for kind in kinds)


@cache
def _of_clause(one: _Pattern) -> re.Pattern[str]:
    """Return the pattern of a whole clause; most turns set no limit, and such patterns take long to compile."""
    return _DATA.compiled(f"{_DATA.opening}(?:{one.clause}){_DATA.closing}{_DATA.ends}")


def _deeds(match: re.Match[str]) -> list[str]:
    return [deed for deed in DEEDS if re.search(rf"\b{deed}", match[0].lower())]


def _targets(match: re.Match[str]) -> tuple[str, ...]:
    """Return the files, tests, branch or the tool that a clause names."""
    if match.lastindex:  # a tool
        return (match[match.lastindex].strip("`").lower(),)
    paths = [*_paths_in(match[0]), *_BRANCH.findall(match[0].lower())]
    return (*([TESTS] if _TESTS.search(_PATH.sub(" ", match[0])) else []), *paths)


def _paths_in(text: str) -> list[str]:
    return [path.strip('`"').rstrip(".,") for path in _PATH.findall(text)]


def _softens(text: str, limit: Limit) -> bool:
    """Return whether another piece of the turn says otherwise: of the target, by pointing, or of other files."""
    if limit.kind == "none" and _WORK.search(text):
        return True
    if limit.kind == "only":
        paths = _paths_in(text)
        if _BEYOND.search(text) or not all(any(names(target, path) for target in limit.targets) for path in paths):
            return True
    named = not _words_of(limit).isdisjoint(_WORD.findall(text.lower()))
    if _PERMISSION.search(text):
        return named or _POINTING.search(text) is not None
    return named and _work_on(limit).search(text) is not None and not has(text.lower(), _NEGATIONS)


def _taken_back(limit: Limit, turns: Sequence[HistoryTurn]) -> int | None:
    """Return the first turn that may take a limit back; what allows some files alone ends with the next turn."""
    for turn in turns:
        if turn.step > limit.since and (
            limit.kind in _UNTIL_THE_NEXT_TURN
            or _POINTING.search(turn.lowered)
            or not _ENGLISH.search(turn.lowered)
            or not _words_of(limit).isdisjoint(_WORD.findall(turn.lowered))
        ):
            return turn.step
    return None


@lru_cache(maxsize=1024)
def _work_on(limit: Limit) -> re.Pattern[str]:
    return re.compile(rf"{_DATA.work}(?:\W+\w+){{0,3}}?\W+(?:{'|'.join(_words_of(limit))})\b", re.IGNORECASE)


@lru_cache(maxsize=1024)
def _words_of(limit: Limit) -> frozenset[str]:
    """Return the words by which a limit's target may be named, in either number."""
    last = [parts_of(target)[-1:] or [target] for target in (*limit.targets, limit.kind)]
    words = {word for (name,) in last for word in _WORD.findall(name.lower().lstrip(".").split(".")[0] or name.lower())}
    return frozenset(words | {f"{word}s" for word in words} | {word.removesuffix("s") for word in words} - {""})
