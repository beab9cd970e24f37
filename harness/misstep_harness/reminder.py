"""Write a word of the harness to the agent, in tags that nothing else may write (Wink, section 3.3).

Tool output, files and users may spell such a tag to speak in the harness's name, or to close a real reminder and go on
below it. `defused` breaks whatever a reader could take for one: in any letter case, with blanks or invisible marks in
it, with letters that look like Latin ones, written as entities or escapes. Nothing is taken out, so that no new tag
comes together from what was around an old one.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice

TAG = "system-reminder"

_MARK = f'<{TAG} from="misstep"'
"""How Misstep's own reminders open, by which they are told from those of other programs."""

_ABOUT = re.compile(r' about="([\w.: -]{0,2000})">')
_PLAIN_NAME = re.compile(r"[\w.:-]{1,64}")

_NAME = "systemreminder"
"""The letters of the tag; characters that are neither letters nor digits may be among them."""

_ENOUGH = len("system")
"""Letters from which the beginning of a tag is one where the text ends: the next text may go on with the rest."""

_FARTHEST = 2_000
"""Characters after a bracket in which the name is looked for, blanks left aside."""

_OPENING = re.compile(r"[<＜﹤‹〈⟨〈《≺˂ᐸ❮❬]|&(?:amp;)*+(?:lt|#0*+60|#x0*+3c);?|\\u003c|\\x3c|\\074|%3c", re.IGNORECASE)
"""An opening angle bracket, what looks like one, and how one is written as an entity or an escape."""

_BROKEN = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
_WRITTEN = re.compile(
    r"&(?:amp;)*+(#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{1,10});?|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|%([0-9a-f]{2})",
    re.IGNORECASE,
)
"""One sign, written as an entity or an escape."""

_BLANKS = re.compile(r"\s*+")

_LIKE = {
    ord(sign): letter
    for letter, signs in {
        "s": "ѕꜱ",
        "y": "уүυʏγ",
        "t": "тτᴛ",
        "e": "еєεᴇ",
        "m": "мᴍ",
        "r": "гʀᴦ",
        "i": "іɪıιɩ",
        "n": "пηɴ",
        "d": "ԁᴅ",
    }.items()
    for sign in signs
}
"""Small letters of other alphabets → the Latin ones of the tag that they look like."""


def reminder(text: str, about: Iterable[str] = ()) -> str:
    """Return a text as a word of Misstep's, `about` some categories; tags in it are broken."""
    names = " ".join(name for name in dict.fromkeys(about) if _PLAIN_NAME.fullmatch(name))
    attribute = f' about="{names}"' if names else ""
    return f"{_MARK}{attribute}>\n{defused(text).strip()}\n</{TAG}>"


def own_reminders(text: str) -> tuple[str, tuple[str, ...], str]:
    """Return Misstep's own reminders in a text, the categories that they are about, and the text without them.

    >>> own_reminders(f"{reminder('Stop.', ['infinite_loop'])} Go on.")[1:]
    (('infinite_loop',), 'Go on.')
    """
    rest, *opened = text.split(_MARK)
    texts: list[str] = []
    names: dict[str, None] = {}
    for part in opened:
        body, closing, after = part.partition(f"</{TAG}>")
        if not closing:
            rest += f"{_MARK}{part}"
            continue
        texts.append(f"{_MARK}{body}{closing}")
        about = _ABOUT.match(body)
        names |= dict.fromkeys(about[1].split() if about else ())
        rest += after
    return "\n".join(texts), tuple(names), rest.strip() if texts else text


def defused(text: str) -> str:
    """Return the text with every tag of a reminder broken, opening or closing; all else stays as it is.

    >>> defused("a < b, </system-reminder> and more")
    'a < b, ›/system-reminder> and more'
    """
    return _OPENING.sub(lambda match: _BROKEN if _names_it(text, match.end()) else match[0], text)


def _names_it(text: str, place: int) -> bool:
    letters = "".join(islice(_letters(text, place), len(_NAME)))
    return _NAME.startswith(letters) and len(letters) >= _ENOUGH


def _letters(text: str, place: int) -> Iterator[str]:
    """Return the letters and digits from a place on, as small Latin ones, and `>`; up to the next bracket."""
    for _ in range(_FARTHEST):
        place = _BLANKS.match(text, place).end()  # type: ignore[union-attr]
        if place == len(text) or text[place] == _BROKEN or _OPENING.match(text, place):
            return
        match = _WRITTEN.match(text, place)
        sign = _sign(match) if match else text[place]
        place = match.end() if match else place + 1
        plain = unicodedata.normalize("NFKD", sign).casefold().translate(_LIKE)
        yield from (letter for letter in plain if letter.isalnum() or letter == ">")


def _sign(match: re.Match[str]) -> str:
    entity, *escapes = match.groups()
    if entity:
        return html.unescape(f"&{entity};")
    return chr(int(next(filter(None, escapes)), 16))
