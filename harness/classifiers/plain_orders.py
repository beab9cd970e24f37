"""Read limits in the plain words that people use most, which name no file: `plain_orders.toml` has the patterns.

"Fix the sum without touching the tests."   → ("ban", (":tests",))
"Explain it. Don't edit any files."         → ("none", ())
"Use pnpm, not npm."                        → ("program", ("npm",))
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from misstep.harness.classifiers.calls import programs
from misstep.harness.classifiers.prose import has


class _Orders(msgspec.Struct, frozen=True):
    cues: tuple[str, ...]
    opening: str
    closing: str
    no_order: str
    subjects: str
    work: str
    words: dict[str, str]
    patterns: dict[str, tuple[str, ...]]
    areas: dict[str, tuple[str, str]]


_ORDERS = msgspec.toml.decode(Path(__file__).with_name("plain_orders.toml").read_bytes(), type=_Orders)
_AREAS = {
    name: (re.compile(rf"\b(?:{called})\b"), re.compile(paths)) for name, (called, paths) in _ORDERS.areas.items()
}
_AREA = (
    f"(?:{'|'.join(called for called, _ in _ORDERS.areas.values())})"
    "(?: (?:files?|code|folders?|directory|suite|cases))?"
)
_WORDS = _ORDERS.words | {"area": _AREA, "more": rf"(?:(?:,|,? and|,? or) (?:the |any )?{_AREA})*+"}


def _compiled(pattern: str) -> re.Pattern[str]:
    for name, text in _WORDS.items():
        pattern = pattern.replace(f"{{{name}}}", text)
    return re.compile(rf"\A{_ORDERS.opening}(?:{pattern}){_ORDERS.closing}(?=[^\w`]*$|\s?[,;)—–]|\s-\s)")


_PATTERNS = [(kind, _compiled(pattern)) for kind, patterns in _ORDERS.patterns.items() for pattern in patterns]
_CLAUSE = re.compile(r"^|[,;:—–]\s|\s-\s|(?=\swithout\s)|\s(?=with no\s)|\sbut\s")
_NO_ORDER = re.compile(_ORDERS.no_order)
_SUBJECT = re.compile(_ORDERS.subjects)
_WORK = re.compile(_ORDERS.work)
_WORKED_ON = {
    name: re.compile(rf"{_ORDERS.work}(?:\s[^\s,;.]++){{0,3}}?\s(?:{called})\b")
    for name, (called, _) in _ORDERS.areas.items()
}
_WRITING = re.compile(r"\b(?:put|save|write|create|store|generate|add|produce)\b")
_LONGEST = 300
_DEEDS = {"delet": "delete", "remov": "delete"}
_RUN = programs.COMMON | programs.TEST_PROGRAMS

Order = tuple[str, tuple[str, ...], str]


def orders_of(sentences: Sequence[str]) -> Iterator[Order]:
    """Return the kind, the targets and the sentence of each plain limit in a turn."""
    lowered = [" ".join(sentence.lower().split()) for sentence in sentences]
    for place, sentence in enumerate(lowered):
        if len(sentence) > _LONGEST or "?" in sentence or not has(sentence, _ORDERS.cues) or reports(sentence):
            continue
        others = [other for index, other in enumerate(lowered) if index != place]
        for start in _CLAUSE.finditer(sentence):
            clause = sentence[start.end() :].lstrip()
            for kind, pattern in _PATTERNS:
                match = pattern.match(clause)
                ordered = match is not None and not _NO_ORDER.search(sentence[: start.end()] + match.group())
                targets = _targets(kind, match) if match and ordered else None
                rest = clause[match.end() :] if match else ""
                if targets is None or (kind == "none" and _WRITING.search(rest)):
                    continue
                if not _asked_for(kind, targets, [sentence[: start.start()], *others]):
                    yield kind, targets, sentences[place]
                    break


def reports(sentence: str) -> bool:
    """Whether a sentence in small letters begins by naming who or what does something: it tells, and orders nothing."""
    return _SUBJECT.match(sentence) is not None


def _targets(kind: str, match: re.Match[str]) -> tuple[str, ...] | None:
    """Return what a limit is about; `None` where a rule cannot tell."""
    if kind == "ban":
        return tuple(f":{name}" for name, (called, _) in _AREAS.items() if called.search(match.group()))
    if kind == "program":
        return (match[2],) if {match[1], match[2]} <= _RUN and match[1] != match[2] else None
    if kind == "ask":
        return (_DEEDS.get(match[1], match[1]),)
    return ("dependencies", "packages", "libraries", "install") if kind == "dependency" else ()


def _asked_for(kind: str, targets: tuple[str, ...], others: Sequence[str]) -> bool:
    if kind == "none":
        return any(_WORK.search(other) for other in others)
    worked_on = [_WORKED_ON[target[1:]] for target in targets if kind == "ban"]
    return any(pattern.search(other) for other in others for pattern in worked_on)


def in_area(target: str, path: str) -> bool:
    """Return whether a path lies in an area, such as `:tests`."""
    return _AREAS[target[1:]][1].search(path) is not None
