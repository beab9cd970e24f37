"""What an agent was told not to do, as far as rules can read it whoever words it.

    "Do not touch config.yaml."         → Limit("ban", "change", ("config.yaml",))
    "Only edit src/parser.py."          → Limit("only", "change", ("src/parser.py",))
    "Don't commit."                     → Limit("ban", "commit")
    "Don't use the `web_search` tool."  → Limit("ban", "use", ("web_search",))

A limit is read where a clause of the user's names a file, a folder or a tool next to one of a few general cues
(a prohibition, an exclusive scope). Everything that softens it, asks, reports or comes later and may take it back ends
what a rule can say: then nothing is said. What else words carry is for a judge that reads them.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from harness.classifiers.history import History, Turn, once
from harness.classifiers.prose import NAME, Sentence, has, marked
from harness.classifiers.targets import as_path, parts_of

What = Literal["change", "commit", "push", "install", "use"]
MOST = 200
"""Limits of a run that are held against it: no person sets more."""


class Limit(Struct, frozen=True, gc=False):
    """One limit of the user's, said in the turn `since`; from the turn `until` on it may have been taken back.

    `only` allows the targets alone; `ban` forbids `what` on the targets; `must` asks for the tool to be used.
    """

    kind: Literal["only", "ban", "must"]
    what: What
    targets: tuple[str, ...]
    words: str
    since: int = -1
    until: int | None = None


_CHANGING = r"(?:chang|modif|edit|touch|alter|updat|rewrit|delet|remov|renam|mov|overwrit|writ)\w*(?: (?:to|in))?"
_CHANGE = rf"{_CHANGING}(?:(?:,| or| and|, or) {_CHANGING})*"
_CHANGES = re.compile(rf"\b{_CHANGING}", re.IGNORECASE)
_NOT = (
    r"(?:do not|don't|dont|never|must not|mustn't|may not|should not|shouldn't|cannot|can't|are not to|not to|avoid|"
    r"without|refrain from)(?: (?:ever|even|please|\w+ly))*"
)
_OF = (
    r"(?:(?:the|any|all|our|my|existing|file|files|folder|directory|code|anything|everything|in|under|inside|within) )*"
)
_LIST = rf"{_OF}{NAME}(?: (?:files?|folders?|directory|itself))?(?:(?:,| or| and| nor|, or|, and) {_OF}{NAME})*"
_BEGIN = (
    r"(?:^|[,;:(—–-] ?|\b(?:and|but|so|then|please|also|note|you|you (?:may|can|must|should|are (?:allowed )?to)) )"
)
_END = (
    r"(?= ?(?:$|[.,;:!)—–-])| (?:and|or|but|at all|under any|please|in any|because|since|as|under|for|this|now|yet)\b)"
)
_ELSE = (
    r"(?:anything|everything|nothing|no \w+|any(?: other)? (?:file|code|place)s?|(?:all|any|every) other \w+|elsewhere)"
)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_BANS = (
    _pattern(rf"{_BEGIN}{_NOT} (?:{_CHANGE}|make (?:any )?changes? (?:to|in)) (?P<list>{_LIST}){_END}"),
    _pattern(
        rf"{_BEGIN}(?P<list>{_LIST}) (?:(?:must|should|may|can)(?: not|n't|not) be|(?:is|are) not to be) {_CHANGE}"
    ),
    _pattern(
        rf"{_BEGIN}(?:leave|keep) (?P<list>{_LIST}) (?:alone|untouched|unchanged|intact|as(?: it| they)?[ -](?:is|are))"
    ),
    _pattern(
        rf"{_BEGIN}(?P<list>{_LIST}) (?:is|are|stays?|must (?:stay|remain|be left)) "
        r"(?:strictly )?(?:off[ -]limits|frozen|untouched|unchanged|read-only|out of bounds)"
    ),
    _pattern(rf"{_BEGIN}(?:hands off|(?:stay|keep) (?:out of|away from|off)) (?:of )?(?P<list>{_LIST}){_END}"),
)
_SCOPES = (
    _pattern(rf"{_BEGIN}only (?:{_CHANGE}|fix|work (?:in|on)|make changes (?:to|in)) (?P<list>{_LIST}){_END}"),
    _pattern(rf"{_BEGIN}only (?:{_CHANGE}|fix) (?:[\w'-]+ ){{1,6}}(?:in|of) (?P<list>{_LIST}){_END}"),
    _pattern(
        rf"{_BEGIN}(?:{_CHANGE}|fix|work (?:in|on)) (?:only )?(?P<list>{_LIST}) ?,? ?"
        r"(?:only|alone|exclusively|and nothing else)\b"
    ),
    _pattern(
        r"\b(?:restrict|limit|confine|keep|stick|stay)\w* (?:(?:yourself|your|all|the|any|everything|changes?|edits?|"
        rf"work|diff|fix|strictly) )*(?:to|in|within|inside) (?P<list>{_LIST}){_END}"
    ),
    _pattern(
        rf"{_BEGIN}(?P<list>{_LIST}) (?:is|are) the only (?:file|folder|place|director)\w* (?:that |where )?you\b.*"
    ),
    _pattern(
        rf"\bthe only (?:file|folder|place|director)\w* (?:that |where )?you [^.;]*? (?:is|are) (?P<list>{_LIST}){_END}"
    ),
    _pattern(
        rf"{_BEGIN}(?:{_NOT} )?{_CHANGE} {_ELSE} (?:but|except(?: for)?|other than|outside(?: of)?|besides|apart from|"
        rf"beyond) (?P<list>{_LIST}){_END}"
    ),
)
_ELSEWHERE = _pattern(
    rf"(?P<list>{_LIST}) ?,? (?:and|but) (?:{_NOT} {_CHANGE} (?:anything|any) (?:else|other)|nothing else|nowhere else)"
)
_DEEDS = _pattern(
    rf"{_BEGIN}(?:{_NOT} (?:git )?|no (?:git )?)(?P<deed>commit|push|install)(?:ting|ing|s)?"
    rf"(?: any\w*(?: new)?(?: packages?| dependenc\w+)?)?\b{_END}(?! message)"
)
_TOOL_BANS = _pattern(
    rf"{_BEGIN}{_NOT} (?:use|using|run|running|call|calling|invok\w+) (?:the )?(?P<tool>{NAME}|[a-z][\w-]*)"
    rf"(?: tool| command)?{_END}"
)
_MUST = _pattern(
    r"(?:^|[,;:] |\b(?:please|and|then) )(?:use|call|invoke) (?:the )?"
    rf"(?:tool (?P<a>{NAME}|\w+_\w+)|(?P<b>{NAME}|\w+_\w+) tool)\b"
)
_CUES = (
    "n't", "not ", "dont", "never", "avoid", "without", "refrain", "only", "restrict", "limit", "confine",
    "keep", "stick", "stay", "hands off", "leave", "frozen", "read-only", "out of bounds", "nothing", "nowhere",
    "alone", "exclusively", "no commit", "no push", "no git", "no install", " tool",
)  # fmt: skip
"""Pieces of which every sentence has one that sets a limit."""

_SOFT = _pattern(
    r"\?|\b(?:unless|if|when|whenever|while|until|till|before|after|first|ideally|prefer\w*|possible|possibly|"
    r"necessary|need\w*|try|hopefully|rather|perhaps|maybe|might|would|could|think|why|how|instead|mostly|mainly|usually|normally|probably|"
    r"much|many|too|not only|no longer|used to|hesitate|afraid|forget|worry|have to)\b"
)
"""What makes an order a wish, a condition, a question or a report: words of the grammar, not of a subject."""

_POINTING = _pattern(
    r"\b(?:it|its|that|this|these|those|them|they|there|one|ones|both|either|any|anything|everything|everywhere|all|"
    r"whatever|whichever|wherever|rule|rules|ban|limit|limits|restriction|restrictions|constraint|constraints|above|earlier|previous|"
    r"said|free|go|after all|anymore|longer|scratch|instead)\b"
)
"""Words by which a later turn can mean a limit without naming its target."""

_OPENING_UP = _pattern(r"\b(?:may|can|could|fine|ok|okay|free|allowed|though|however|but|except|still|exception)\b")
_ENGLISH = _pattern(r"\b(?:the|a|an|to|you|is|are|and|in|of|it|for|not|on|now|please|ok|okay|yes|no|thanks|i)\b")
_WORD = re.compile(r"[^\W\d_]+")


class _Clause(Struct, frozen=True, gc=False):
    """A sentence of the user's: its limits, its words but for what these limit, how it may bear on other limits."""

    limits: tuple[Limit, ...]
    words: frozenset[str]
    points: bool
    allows: bool
    softens: bool


@once
def limits_of(history: History) -> list[Limit]:
    """The limits of a run's turns, in order, each with the turn from which on it may not hold."""
    turns = history.turns
    with_cues = [turn for turn in turns if has(turn.lowered, _CUES)]
    if not any(_limits_in(raw, turn.step) for turn in with_cues for raw in turn.sentences):
        return []
    read = [[_clause(raw, turn.step) for raw in turn.sentences] for turn in turns]
    pointing, named = _bearing(turns, read)
    found: list[Limit] = []
    for place, clauses in enumerate(read):
        for limit in _standing(clauses):
            later = [_next(places, place) for places in [pointing, *(named.get(word, []) for word in _words_of(limit))]]
            if limit.kind == "only":
                later.append(place + 1 if place + 1 < len(turns) else None)
            until = min((one for one in later if one is not None), default=None)
            found.append(replace(limit, until=None if until is None else turns[until].step))
        if len(found) >= MOST:
            break
    return found[:MOST]


def _clause(raw: str, step: int) -> _Clause:
    limits = _limits_in(raw, step)
    lowered = raw.lower()
    own = {word for limit in limits for word in _words_of(limit)}
    free = not limits
    allows = free and bool(_OPENING_UP.search(lowered) or _SOFT.search(lowered))
    return _Clause(
        tuple(limits),
        frozenset(_WORD.findall(lowered)) - own,
        points=free and _POINTING.search(lowered) is not None,
        allows=allows,
        softens=allows or (free and _CHANGES.search(lowered) is not None),
    )


def _standing(clauses: list[_Clause]) -> list[Limit]:
    """The limits of a turn that no other sentence of it may soften, by naming their target or by pointing at them."""
    said = {word for clause in clauses if clause.softens for word in clause.words}
    last = max((place for place, clause in enumerate(clauses) if clause.points and clause.allows), default=-1)
    return [
        limit
        for place, clause in enumerate(clauses)
        if place > last
        for limit in clause.limits
        if said.isdisjoint(_words_of(limit))
    ][:MOST]


def _bearing(turns: Sequence[Turn], read: list[list[_Clause]]) -> tuple[list[int], dict[str, list[int]]]:
    """The turns that may lift any limit (they point at one, or are not understood), and those that say a word."""
    pointing = []
    named: dict[str, list[int]] = defaultdict(list)
    for place, (turn, clauses) in enumerate(zip(turns, read, strict=True)):
        words = {word for clause in clauses for word in clause.words}
        foreign = not _ENGLISH.search(turn.lowered) and len(words) > 2
        if foreign or any(clause.points for clause in clauses):
            pointing.append(place)
        for word in words:
            named[word].append(place)
    return pointing, named


def _next(places: list[int], place: int) -> int | None:
    index = bisect_right(places, place)
    return places[index] if index < len(places) else None


def _words_of(limit: Limit) -> set[str]:
    """The words by which a limit's target may be named: the last part of its name, in either number."""
    found: set[str] = {limit.what} if not limit.targets else set()
    for target in limit.targets:
        last = parts_of(target)[-1:] or [target]
        for word in _WORD.findall(last[0].lower().split(".")[0] or last[0].lower()):
            found |= {word, f"{word}s", word.removesuffix("s")}
    return found


def _limits_in(raw: str, since: int) -> list[Limit]:
    if not has(raw.lower().replace("’", "'"), _CUES):
        return []
    sentence = marked(raw)
    text = sentence.text
    if _SOFT.search(text):
        return []
    scopes = [match for pattern in (*_SCOPES, _ELSEWHERE) for match in pattern.finditer(text)]
    bans = [] if scopes else [match for pattern in _BANS for match in pattern.finditer(text)]
    deeds, tools, asked = (list(pattern.finditer(text)) for pattern in (_DEEDS, _TOOL_BANS, _MUST))
    found = [Limit("only", "change", _paths(sentence, match["list"]), raw, since) for match in scopes]
    found += [Limit("ban", "change", _paths(sentence, match["list"]), raw, since) for match in bans]
    found += [Limit("ban", "use", (_named(sentence, match["tool"]),), raw, since) for match in tools]
    found += [Limit("must", "use", (_named(sentence, match["a"] or match["b"]),), raw, since) for match in asked]
    found = [limit for limit in found if limit.targets]
    found += [Limit("ban", _DEED[match["deed"].lower()], (), raw, since) for match in deeds]
    end = max((match.end() for match in (*scopes, *bans, *deeds, *tools, *asked)), default=0)
    return [] if _OPENING_UP.search(text, end) else found


_DEED: dict[str, What] = {"commit": "commit", "push": "push", "install": "install"}


def _named(sentence: Sentence, word: str) -> str:
    return next(iter(sentence.names_in(word)), word)


def _paths(sentence: Sentence, text: str) -> tuple[str, ...]:
    """The paths that a piece of a sentence names; nothing where one of its names is none."""
    paths = [as_path(name) for name in sentence.names_in(text)]
    return tuple(path for path in paths if path) if all(paths) else ()
