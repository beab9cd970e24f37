"""When the strategist is asked again, and what its answer is taken for.

    VERDICT: SKIP_UNTIL
    UNTIL: audit-package, audit-service
    PLAN: Come back once the audit service is there.

Only the reply is read, and an unreadable one is CONTINUE with the plan as it was.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence

from msgspec import Struct

from misstep_harness.reflexive.code_fences import is_fenced, unwrapped
from misstep_harness.reflexive.records.loop_events import StrategistVerdict, Trigger
from misstep_harness.reflexive.settings import LoopSettings

MOST_PLAN_CHARACTERS = 4_000
"""A plan is cut there: it goes into the context of every later turn."""


class SinceTouched(Struct, frozen=True):
    """What happened to an item since the strategist was last asked about it: failures, reflections, a gap."""

    failures: int = 0
    reflections: tuple[str, ...] = ()
    gap: bool = False


def should_re_engage(
    since: SinceTouched, settings: LoopSettings, *, plateau: bool, seconds_left: float | None
) -> Trigger | None:
    """Return why the strategist is to be asked now, or `None`."""
    too_late = seconds_left is not None and seconds_left < settings.least_seconds_to_re_engage
    if too_late or not settings.has("re_engagement"):
        return None
    if since.gap:
        return "evaluator_gap"
    if plateau:
        return "plateau"
    return "failures" if since.failures >= settings.failures_between else None


class StrategistAnswer(Struct, frozen=True):
    """What a strategist's reply is taken for.

    - `verdict`: CONTINUE if the reply cannot be read; `warning` says why.
    - `plan`: The plan from now on; for ESCALATE the reason. Empty for the plan as it was.
    - `until`: The open items that SKIP_UNTIL waits for.
    """

    verdict: StrategistVerdict
    plan: str = ""
    until: tuple[str, ...] = ()
    clean: bool = True
    warning: str = ""


_WORDS: dict[str, StrategistVerdict] = {
    "CONTINUE": "CONTINUE",
    "PIVOT": "PIVOT",
    "ESCALATE": "ESCALATE",
    "SKIP_UNTIL": "SKIP_UNTIL",
}

_MARKS = r"[*_`\"'“”‘’]*+"
"""Light formatting around a word: bold, italics, code, quotation marks."""

_WORD = rf"{_MARKS}(CONTINUE|PIVOT|ESCALATE|SKIP(?:\\?_|-|[ ])UNTIL){_MARKS}[.]?{_MARKS}"
_START = rf"[ ]{{0,3}}+(?:#{{1,6}}[ \t]++)?{_MARKS}"
_LABEL = rf"{_START}VERDICT{_MARKS}[ \t]*+:[ \t]*+{_MARKS}"
_VERDICT = re.compile(rf"{_LABEL}[ \t]*+{_WORD}[ \t]*+", re.IGNORECASE | re.ASCII)
_LABEL_ALONE = re.compile(rf"{_LABEL}[ \t]*+", re.IGNORECASE | re.ASCII)
_WORD_ALONE = re.compile(rf"[ ]{{0,3}}+{_WORD}[ \t]*+", re.IGNORECASE | re.ASCII)
_PLAN = re.compile(rf"{_START}(?:NEW_)?(?:PLAN|REASON){_MARKS}[ \t]*+:{_MARKS}", re.IGNORECASE)
_UNTIL = re.compile(rf"{_START}UNTIL{_MARKS}[ \t]*+:{_MARKS}", re.IGNORECASE)

_CLAIM = re.compile(r"verdict[^a-z0-9]{0,8}?[:=]")
"""What speaks of a verdict as a label, once the line is brought to plain letters."""

_LIKE = str.maketrans("аαсϲᴄԁᴅеєεᴇіɪıιɩгʀᴦтτᴛνѵᴠː꞉∶：", "aacccddeeeeiiiiirrrtttvvv::::")
"""Signs of other scripts → those of `verdict:` that they look like: such a label is refused, not overlooked."""

_OPEN_SENTENCE = re.compile(
    r"\b(?:not|no|never|cannot|nor|neither|without|against|if|unless|when|until|instead|rather|except|example|or)\b|n[’']t\b",
    re.IGNORECASE,
)
"""What makes the line before a verdict, where its sentence is open, deny it or put it under a condition."""

_OWN = re.compile(r"\b(?:my|final)\b", re.IGNORECASE)
"""What a line has that announces the strategist's verdict with a colon; after another one something is quoted."""

_OPENS_TAG = re.compile(r"[ \t]*+<(?:!|[a-z])[^<>]*+>?+[ \t]*+", re.IGNORECASE)

_GOES_ON = re.compile(
    r"[ \t*_]*+(?:(?:not|no|never|or|if|unless|except)\b|[a-z]++[ ]++(?:not|never)\b|(?:Not|NOT|No|NO)[ \t.,!;:]*+$)"
)
"""What takes a verdict back on the line below."""


def read_verdict(reply: str, open_items: Collection[str] = ()) -> StrategistAnswer:
    """Return the verdict of a strategist's reply, and nothing that has to be guessed.

    The verdict is on a line of its own after `VERDICT:`, or on the next one. Two different verdicts, a label within a
    sentence, a quotation or a fence, a denial, PIVOT without a plan, and SKIP_UNTIL without open items make the reply
    unreadable. The time is linear in the length.
    """
    lines = unwrapped(reply.splitlines())
    fenced = is_fenced(lines)
    candidates: list[tuple[StrategistVerdict, int]] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        if _claims(line):
            last = _next_line(lines, number) if _LABEL_ALONE.fullmatch(line) else number
            word = _VERDICT.fullmatch(line) or (_WORD_ALONE.fullmatch(lines[last]) if last > number else None)
            if word is None or fenced[number]:
                return _unreadable(f"the line {_quoted(line)} has no verdict that stands alone")
            if _is_quoted_or_denied(lines, number) or (last + 1 < len(lines) and _GOES_ON.match(lines[last + 1])):
                return _unreadable(f"the verdict in {_quoted(line)} may be quoted or denied")
            candidates.append((_WORDS[re.sub(r"[^A-Z]+", "_", word[1].upper())], last))
            number = last
        number += 1
    verdicts = {verdict for verdict, _ in candidates}
    if len(verdicts) != 1:
        return _unreadable(f"it has the verdicts {', '.join(sorted(verdicts))}" if verdicts else "it has no verdict")
    verdict, place = candidates[0]
    plan = _plan(lines[place + 1 :]) or (_plan(lines[:place]) if verdict == "ESCALATE" else "")
    if verdict == "PIVOT" and not plan:
        return _unreadable("PIVOT comes without a plan")
    if verdict != "SKIP_UNTIL":
        return StrategistAnswer(verdict, plan)
    named = [line[match.end() :] for line in lines if (match := _UNTIL.match(line))]
    until = _ids(named[0]) if len(named) == 1 else ()
    unknown = [item for item in until if item not in open_items]
    if not until or unknown:
        return _unreadable(f"SKIP_UNTIL names {', '.join(unknown) or 'no items'}, where it has to name open items")
    return StrategistAnswer(verdict, plan, until)


def read_verdict_by_first_word(reply: str, open_items: Collection[str] = ()) -> StrategistAnswer:
    """The verdict by the first word that looks like one: how the original read it, and what `strict_verdicts` cures."""
    lines = reply.splitlines()
    line = next((line for line in lines if "VERDICT:" in line), None)
    if line is None:
        return _unreadable("it has no verdict")
    rest = line.partition("VERDICT:")[2].strip().upper()
    words = rest.split()[:2]
    verdict = next((_WORDS[word] for word in _WORDS if rest.startswith(word) or word in words), None)
    plan = next((line.partition("PLAN:")[2].strip()[:1_000] for line in lines if "PLAN:" in line), "")
    named = next((line.partition("UNTIL:")[2] for line in lines if line.startswith("UNTIL:")), "")
    until = tuple(item for item in _ids(named) if item in open_items)
    if verdict is None or (verdict == "SKIP_UNTIL" and not until):
        return _unreadable(f"the line {_quoted(line)} does not begin with a verdict")
    return StrategistAnswer(verdict, plan, until if verdict == "SKIP_UNTIL" else ())


def _unreadable(why: str) -> StrategistAnswer:
    return StrategistAnswer("CONTINUE", clean=False, warning=f"The strategist's reply is unreadable: {why}.")


def _claims(line: str) -> bool:
    if line.isascii():
        return "verdict" in (plain := line.lower()) and _CLAIM.search(plain) is not None
    shown = "".join(sign for sign in unicodedata.normalize("NFKD", line) if unicodedata.category(sign)[0] not in "CM")
    return _CLAIM.search(shown.casefold().translate(_LIKE)) is not None


def _next_line(lines: Sequence[str], number: int) -> int:
    return next((later for later in range(number + 1, min(number + 3, len(lines))) if lines[later].strip()), number)


def _is_quoted_or_denied(lines: Sequence[str], number: int) -> bool:
    if number and lines[number - 1].lstrip().startswith(">"):
        return True
    before = next((lines[place] for place in range(number - 1, max(number - 4, -1), -1) if lines[place].strip()), "")
    if _OPENS_TAG.fullmatch(before):
        return True
    bare = before.rstrip(" \t*_`\"'“”‘’)")
    if bare.endswith((".", "!", "?")) or _VERDICT.fullmatch(before):
        return False
    return _OPEN_SENTENCE.search(bare) is not None or (bare.endswith(":") and not _OWN.search(bare))


def _plan(lines: Sequence[str]) -> str:
    later = [line for line in lines if not (_UNTIL.match(line) or _claims(line))]
    place = next((number for number, line in enumerate(later) if _PLAN.match(line)), None)
    if place is not None:
        later = [later[place][_PLAN.match(later[place]).end() :], *later[place + 1 :]]  # type: ignore[union-attr]
    plan = "\n".join(line.rstrip() for line in later).strip()
    return plan if len(plan) <= MOST_PLAN_CHARACTERS else plan[: MOST_PLAN_CHARACTERS - 1].rstrip() + "…"


def _ids(named: str) -> tuple[str, ...]:
    bare = (part.strip(" \t.*`\"'“”‘’[]()") for part in named.split(","))
    return tuple(dict.fromkeys(part for part in bare if part))


def _quoted(line: str) -> str:
    short = " ".join(line.split())
    return f"«{short[:80]}…»" if len(short) > 80 else f"«{short}»"
