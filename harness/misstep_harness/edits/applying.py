"""Applies what an edit says to files: all of it, or nothing and the reason why not.

Find where a hunk belongs in a file: at one place only, by the first rule under which its lines are there.

What a rule finds twice is refused, and so is a text that is there a second time with another indentation. A line
number decides between equal places if the text is at that line; a text elsewhere must be more than one line.

Recognise lines such as `# ... rest of the code ...`, which stand for what their author left out.

In what is kept they stand for any lines; in what is added they would delete what they stand for.
"""

import re
from collections.abc import Callable, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from msgspec import Struct, structs

from misstep_harness.edits.changes import Applied, Edits, FileEdit, Hunk, Line, Read, Receipt, checked_path
from misstep_harness.edits.file_text import FileText, nearest_place, places_of, split_file
from misstep_harness.errors import EditRefused, Refusal

_ELLIPSIS = re.compile(r"(#|//|/\*|<!--|--|;|%)?[ \t]{0,4}(\.{3}|\[\.{3}\]|…|\(\.{3}\))(.{0,200})")
_SAID = re.compile(
    r"\b(?:existing|rest|remaining|remainder|unchanged|omitted|previous|others?|same|as before|code|more|above"
    r"|below|implementation|methods?|functions?|imports?|lines?|content)\b",
    re.IGNORECASE,
)
_PROMPT = ">>>"
_QUOTES = re.compile("\"\"\"|'''")
_CLOSING = re.compile(r"\s{0,2}(?:\*/|-->)?\s{0,2}")


def is_ellipsis(text: str) -> bool:
    """Return whether a line does nothing but stand for others: `...` alone, or a comment that opens with it."""
    word = text.strip()
    if len(word) > 210 or not (match := _ELLIPSIS.fullmatch(word)):
        return False
    rest = match[3].strip()
    aside = match[3].startswith((" (", "\t("))  # `...(given)` without a space spreads a list, in JavaScript
    return bool(match[1]) or not rest or bool(_CLOSING.fullmatch(rest)) or aside


def says_left_out(text: str) -> bool:
    """Return whether a comment with an ellipsis, anywhere in it, says in words that code was left out."""
    word = text.strip()[:210]
    opens = word.startswith(("#", "//", "/*", "<!--", "--", ";", "%"))
    return opens and ("..." in word or "…" in word) and bool(_SAID.search(word))


def left_out(lines: Sequence[Line]) -> str:
    """Return the first added line that stands for code of the file; empty where none does.

    A bare `...` is Python's too: the body of a stub that is added and replaces nothing, and, within an example of
    doctest (from `>>>` to the next empty line), a further line of the example or of what it prints.
    """
    deleted = {line.text.strip() for line in lines if line.tag == "-"}
    above = ""
    in_example = False
    for unchanged, run in groupby(lines, lambda line: line.tag == " "):
        changed = list(run)
        replaces = not unchanged and any(line.tag == "-" and line.text.strip() for line in changed)
        for line in changed:
            word = line.text.strip()
            if line.tag != "-":
                in_example = word.startswith(_PROMPT) or (in_example and bool(word) and _QUOTES.search(word) is None)
            shown = in_example and word.startswith("...")
            if line.tag == "+" and is_ellipsis(word) and word not in deleted and not shown:
                stub = word == "..." and above.endswith((":", '"""', "'''"))
                if replaces or says_left_out(word) or (word[0] in ".…" and not stub):
                    return line.text
            if word and line.tag != "-":
                above = word
    return ""


Variants = list[tuple[tuple[str, ...], Hunk]]
Change = Callable[[str], str | None]
"""What becomes of an added line, `None` where it cannot be told."""

_MOST_SHOWN = 8
_ENOUGH_LINES, _ENOUGH_SIGNS = 2, 24


class Place(Struct, frozen=True):
    """A hunk at its place: `start` counted from 0, its lines with the additions as the file wants them, the rules."""

    start: int
    lines: tuple[Line, ...]
    rules: tuple[str, ...] = ()

    @property
    def length(self) -> int:
        """Return how many lines of the file it is about."""
        return sum(line.tag != "+" for line in self.lines)


def locate(hunk: Hunk, lines: Sequence[str], path: str) -> list[Place]:
    """Return the places of a hunk: one, or several in order where lines between them are left out."""
    place = _located(hunk, lines, path)
    if place is None and any(line.tag == " " and is_ellipsis(line.text) for line in hunk.lines):
        return _in_parts(hunk, lines, path)
    if place is None:
        raise _absent(hunk, lines, path)
    return [place]


def _located(hunk: Hunk, lines: Sequence[str], path: str) -> Place | None:
    variants = _variants(hunk)
    rules = (_as_written, _spaces_at_ends_aside, _indentation_aside)
    return next((place for rule in rules if (place := rule(variants, lines, path)) is not None), None)


def _variants(hunk: Hunk) -> Variants:
    variants: Variants = [(("context_marker",) if hunk.markless else (), hunk)]
    if not hunk.tagged and (edges := _without_edges(hunk)) is not None:
        variants.append(((*variants[0][0], "blank_edges"), edges))
    if hunk.tagged and not hunk.markless:
        marked = tuple(Line(" ", f" {one.text}" if one.text else "") if one.tag == " " else one for one in hunk.lines)
        variants.append((("context_marker",), structs.replace(hunk, lines=marked)))
    return variants


def _as_written(variants: Variants, lines: Sequence[str], path: str) -> Place | None:
    stripped = [line.rstrip() for line in lines]
    for rules, variant in variants:
        # A block that is at one place as written, and at others but for spaces at the ends of lines, may be meant
        # for those: replies lose such spaces.
        own = [text.rstrip() for text in variant.old]
        old, there = (own, stripped) if own == variant.old and any(own) else (variant.old, lines)
        if at := _at(variant, old, there, path):
            place = Place(at[0], variant.lines, (*rules, *at[1]))
            exact = list(lines[place.start : place.start + len(old)]) == variant.old
            return place if exact else _spaces_put_back(place, lines, path, "trailing_whitespace")
    return None


def _spaces_at_ends_aside(variants: Variants, lines: Sequence[str], path: str) -> Place | None:
    stripped = [line.rstrip() for line in lines]
    for rules, variant in variants:
        own = [text.rstrip() for text in variant.old]
        if any(own) and (at := _at(variant, own, stripped, path)):
            place = Place(at[0], variant.lines, (*rules, *at[1]))
            return _spaces_put_back(place, lines, path, "trailing_whitespace")
    return None


def _at(hunk: Hunk, old: Sequence[str], lines: Sequence[str], path: str) -> tuple[int, tuple[str, ...]] | None:
    """Return where the old lines are, and the rule that this took; raises `EditRefused` where it is not one place."""
    places = places_of(old, lines)
    if hunk.at_end:
        places = [place for place in places if place + len(old) == len(lines)]
    if not places:
        return None
    stated = None if hunk.at is None else hunk.at - 1
    if stated in places:
        return stated, ()
    if hunk.anchors:
        return _under_anchors(hunk, places, lines, path)
    if len(places) == 1 and not hunk.at_end and any(map(str.strip, old)):
        places = places_of([text.strip() for text in old], [line.strip() for line in lines])
    if len(places) > 1:
        raise _not_unique(places, path, hunk)
    if stated is None:
        return places[0], ()
    if not _enough(old):
        message = f"line {hunk.at} does not hold {_quoted(old)}, line {places[0] + 1} does"
        raise EditRefused(_contradiction(hunk, lines), message, "One short line elsewhere is too little.", path=path)
    return places[0], ("other_line",)


def _under_anchors(hunk: Hunk, places: Sequence[int], lines: Sequence[str], path: str) -> tuple[int, tuple[str, ...]]:
    """The only place in a scope that the anchors open; or the only one at all, if it is below them and not short."""
    words = [line.strip() for line in lines]
    anchors: list[int] = []
    for anchor in hunk.anchors:
        start = anchors[0] + 1 if anchors else 0
        anchors = [place for place in range(start, len(words)) if words[place] == anchor.strip()][:_MOST_SHOWN]
        if not anchors:
            raise EditRefused("absent", f"no line is {_quoted([anchor])}", "Copy the line after @@ from it.", path=path)
    scopes = [(anchor, _scope_end(anchor, lines)) for anchor in anchors]
    inside = sorted({place for place in places for start, end in scopes if start <= place < end})
    if len(inside) == 1:
        return inside[0], ()
    if len(inside or places) > 1:
        raise _not_unique(inside or places, path, hunk)
    if places[0] < anchors[0] or not _enough(hunk.old):
        message = f"{_quoted(hunk.old)} is at line {places[0] + 1}, not below {_quoted(hunk.anchors)}"
        raise EditRefused("hunk_mismatch", message, "Name a line after @@ that it belongs to.", path=path)
    return places[0], ("outside_anchor",)


def _scope_end(anchor: int, lines: Sequence[str]) -> int:
    """The line after the last that belongs to what a line opens, by indentation; closing brackets belong to it."""
    depth = _indent(lines[anchor])
    for place in range(anchor + 1, len(lines)):
        word = lines[place].strip()
        if word and len(_indent(lines[place])) <= len(depth) and word[0] not in ")]}{#":
            return place
    return len(lines)


def _indentation_aside(variants: Variants, lines: Sequence[str], path: str) -> Place | None:
    """All spaces around lines aside, if all are indented by the same more or less or have tabs for spaces."""
    rules, hunk = variants[0] if variants[0][1].tagged else variants[-1]
    old = hunk.old
    if hunk.markless or not _enough(old) or not hunk.lines:
        return None
    at = _at(hunk, [text.strip() for text in old], [line.strip() for line in lines], path)
    if at is None:
        return None
    pairs = [(_indent(text), _indent(line)) for text, line in zip(old, lines[at[0] :], strict=False) if text.strip()]
    for rule, change in (("indentation", _shift(pairs)), ("tabs", _tabs(pairs))):
        if change is None or (hunk.tagged and change(" x") == "x") or (hunk.tagged and change("x") == " x"):
            continue
        if not _same_frame(hunk.lines):
            message = f"the block is at line {at[0] + 1} with another indentation, and the new lines with a third"
            raise EditRefused("hunk_mismatch", message, "Copy the lines with their spaces.", path=path)
        place = Place(at[0], _changed(hunk.lines, change, path), (*rules, *at[1]))
        return _spaces_put_back(place, lines, path, rule)
    return None


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def _shift(pairs: Sequence[tuple[str, str]]) -> Change | None:
    own, there = pairs[0]
    more, less = there.removesuffix(own), own.removesuffix(there)
    if len(there) > len(own) and all(line == more + text for text, line in pairs):
        return lambda text: more + text if text.strip() else text
    if len(own) > len(there) and all(text == less + line for text, line in pairs):
        return lambda text: text[len(less) :] if text.startswith(less) else None if text.strip() else text
    return None


def _tabs(pairs: Sequence[tuple[str, str]]) -> Change | None:
    for tab_in_file in (True, False):
        sides = [(line, text) if tab_in_file else (text, line) for text, line in pairs]
        widths = {len(spaces) / len(tabs) for tabs, spaces in sides if tabs}
        width = int(widths.pop()) if len(widths) == 1 else 0
        fits = all(not tabs.strip("\t") and spaces == " " * (width * len(tabs)) for tabs, spaces in sides)
        if width >= 2 and fits:
            spaces = " " * width
            return _exchanged(spaces, "\t") if tab_in_file else _exchanged("\t", spaces)
    return None


def _exchanged(unit: str, other: str) -> Change:
    def change(text: str) -> str | None:
        indent = _indent(text)
        if not text.strip():
            return text
        count = len(indent) // len(unit)
        return other * count + text.lstrip() if indent == unit * count else None

    return change


def _same_frame(lines: Sequence[Line]) -> bool:
    """Whether added lines are indented as the others are: one is kept among them, or both begin at the same depth."""
    depths = {
        tag: min((len(_indent(line.text)) for line in lines if line.tag == tag and line.text.strip()), default=-1)
        for tag in (" ", "-", "+")
    }
    return depths["+"] in (-1, depths["-"]) or depths[" "] >= 0


def _changed(lines: Sequence[Line], change: Change, path: str) -> tuple[Line, ...]:
    changed = []
    for line in lines:
        text = change(line.text)
        if text is None and line.tag == "+":
            message = f"{_quoted([line.text])} does not fit the indentation of the place"
            raise EditRefused("hunk_mismatch", message, "Copy the lines with their spaces.", path=path)
        changed.append(Line(line.tag, line.text if text is None else text))
    return tuple(changed)


def _spaces_put_back(place: Place, lines: Sequence[str], path: str, rule: str) -> Place:
    """The place with its rule, unless a deleted line whose spaces differ from the file's is added again elsewhere."""
    there = iter(lines[place.start :])
    added = {line.text for line in place.lines if line.tag == "+" and line.text.strip()}
    for line in place.lines:
        if line.tag != "+" and (text := next(there)) != line.text and line.tag == "-" and line.text in added:
            message = f"{_quoted([line.text])} is moved, and the file has it with other spaces: {_quoted([text])}"
            raise EditRefused("hunk_mismatch", message, "Copy the lines with their spaces.", path=path)
    return structs.replace(place, rules=(*place.rules, rule))


def _without_edges(hunk: Hunk) -> Hunk | None:
    """Return the hunk without kept blank lines at its edges, `None` if there are none or nothing else."""
    lines = list(hunk.lines)
    first = next((place for place, line in enumerate(lines) if line.tag != " " or line.text.strip()), len(lines))
    last = next((place for place, line in enumerate(reversed(lines)) if line.tag != " " or line.text.strip()), 0)
    inside = lines[first : len(lines) - last]
    if len(inside) == len(lines) or not any(line.tag != "+" for line in inside):
        return None
    at = None if hunk.at is None else hunk.at + first
    return structs.replace(hunk, lines=tuple(inside), at=at, at_end=hunk.at_end and not last)


def _in_parts(hunk: Hunk, lines: Sequence[str], path: str) -> list[Place]:
    """The parts between lines left out, each at its only place, in order; what is left out is indented as it says."""
    gaps = [place for place, line in enumerate(hunk.lines) if line.tag == " " and is_ellipsis(line.text)]
    parts = [hunk.lines[before + 1 : after] for before, after in pairwise([-1, *gaps, len(hunk.lines)])]
    placed: list[Place | None] = []
    for number, part in enumerate(parts):
        one = structs.replace(hunk, lines=part, at=hunk.at if not number else None, at_end=False)
        place = _located(one, lines, path) if any(map(str.strip, one.old)) else None
        if part and place is None:
            raise _absent(one, lines, path)
        placed.append(place and structs.replace(place, rules=(*place.rules, "ellipsis")))
    for gap, before, after in zip((hunk.lines[place].text for place in gaps), placed, placed[1:], strict=False):
        if before is None or after is None:
            continue
        start, end, depth = before.start + before.length, after.start, len(_indent(gap))
        between = lines[start:end]
        if end < start or any(line.strip() and len(_indent(line)) < depth for line in between):
            message = f"what {_quoted([gap])} stands for, from line {start + 1} to {end}, is not of that depth"
            raise EditRefused("ellipsis", message, "Write the lines out.", path=path)
    return [place for place in placed if place is not None]


def _enough(old: Sequence[str]) -> bool:
    """Return whether lines tell a place by themselves where something else about it was wrong."""
    words = [text for text in old if any(map(str.isalnum, text))]
    signs = sum(map(len, map(str.strip, words)))
    return len(words) > _ENOUGH_LINES or (len(words) == _ENOUGH_LINES and signs >= _ENOUGH_SIGNS)


def _not_unique(places: Sequence[int], path: str, hunk: Hunk) -> EditRefused:
    shown = ", ".join(str(place + 1) for place in places[:_MOST_SHOWN])
    more = " and more" if len(places) > _MOST_SHOWN else ""
    message = f"{_quoted(hunk.old)} is at lines {shown}{more}"
    return EditRefused("not_unique", message, "Add lines above or below, until it is at one place.", path=path)


def _contradiction(hunk: Hunk, lines: Sequence[str]) -> Refusal:
    if hunk.at is None:
        return "hunk_mismatch" if hunk.tagged else "absent"
    return "no_such_line" if hunk.at > len(lines) else "hunk_mismatch"


def _absent(hunk: Hunk, lines: Sequence[str], path: str) -> EditRefused:
    old = hunk.old
    if not any(map(str.strip, old)) and hunk.at is None:
        advice = "Show at least one line of the file that is not blank."
        return EditRefused("absent", "no line says where the new ones belong", advice, path=path)
    message = f"the file has {len(lines)} lines, and no line {hunk.at}"
    if hunk.at is None or hunk.at <= len(lines):
        message = f"{_quoted(old)} is not there" + (f", and not at line {hunk.at}" if hunk.at else "")
    near = nearest_place(old, lines)
    if near is None:
        return EditRefused(_contradiction(hunk, lines), message, "Read the file again.", path=path)
    pairs = [(near + place, text) for place, text in enumerate(old) if 0 <= near + place < len(lines)]
    place, text = next(((at, text) for at, text in pairs if lines[at].strip() != text.strip()), pairs[0])
    what = "with other spaces" if lines[place].strip() == text.strip() else f"and line {place + 1} is"
    shown = "" if lines[place].strip() == text.strip() else f" {_quoted([lines[place]])}, not {_quoted([text])}"
    advice = f"The nearest lines are from {max(near, 0) + 1}, {what}{shown}."
    return EditRefused(_contradiction(hunk, lines), message, advice, path=path)


def _quoted(lines: Sequence[str]) -> str:
    first = next((line for line in lines if line.strip()), "")
    cut = f"{first[:80]}…" if len(first) > 80 else first
    return f"`{cut.strip() or 'a blank line'}`" + (f" and {len(lines) - 1} more lines" if len(lines) > 1 else "")


class _Span(NamedTuple):
    start: int
    end: int
    new: list[str]


def apply_edits(edits: Edits, read: Read) -> Applied:
    """Return what becomes of the files."""
    files = _Files(read)
    receipts = [receipt for edit in edits.files for receipt in _applied(edit, edits, files)]
    changed = {path: text for path, text in files.now.items() if text != read(path)}
    if not changed:
        raise EditRefused("unchanged", "nothing would change", "Leave it out, or give the lines as they are to be.")
    return Applied(changed, tuple(receipts))


class _Files:
    """The files as far as they are edited; nothing is written."""

    def __init__(self, read: Read) -> None:
        self.now: dict[str, str | None] = {}
        self._read = read

    def text(self, path: str) -> str | None:
        return self.now[path] if path in self.now else self._read(path)


def _applied(edit: FileEdit, edits: Edits, files: _Files) -> list[Receipt]:
    path, rules = _found_path(edit, edits.path, files)
    text = files.text(path)
    if text is not None and edit.kind == "create":
        raise EditRefused("exists", "the file is to be created and exists", "Update it, or give a new path.", path=path)
    read_first = edit.hunks[:1] if edits.in_turn else edit.hunks
    needed = not edit.hunks or any(hunk.old for hunk in read_first)
    if text is None and edit.kind != "create" and needed:
        raise EditRefused("no_such_file", "there is no such file", "Give a path from the root of the tree.", path=path)
    receipts: list[Receipt] = []
    if edit.hunks:
        text, receipts = _changed_lines(text, edit, edits, path, rules)
    elif edit.kind == "create":
        text, receipts = "", [Receipt(path, _rule(rules), (0, 0))]
    elif edit.kind == "delete" or edit.move_to:
        receipts = [Receipt(path, _rule(rules), (0, 0))]
    if edit.kind == "delete":
        if text and (edit.hunks or edits.says_end):
            message = "the file is to be deleted, and lines of it are left"
            raise EditRefused("hunk_mismatch", message, "Delete all of its lines.", path=path)
        text = None
    files.now[path] = text
    to = checked_path(edit.move_to) if edit.move_to else path
    if to != path:
        if files.text(to) is not None:
            message = f"{path} is to be moved there, and the file exists"
            raise EditRefused("exists", message, "Give a new path.", path=to)
        files.now[to], files.now[path] = text, None
    return receipts


def _found_path(edit: FileEdit, known: str, files: _Files) -> tuple[str, tuple[str, ...]]:
    """Return the path that is meant: as written, or that which was asked about where the reply names only its end."""
    path = checked_path(edit.path)
    if edit.kind == "create" or files.text(path) is not None:
        return path, edit.rules
    known = checked_path(known) if known else ""
    if known.endswith(f"/{path}") and files.text(known) is not None:
        return known, (*edit.rules, "file_name")
    return path, edit.rules


def _changed_lines(
    text: str | None, edit: FileEdit, edits: Edits, path: str, rules: tuple[str, ...]
) -> tuple[str, list[Receipt]]:
    file = split_file(text or "", path)
    if "\n" not in (text or "") and edit.hunks[0].crlf:  # the file does not say how its lines end
        file = structs.replace(file, ending="\r\n")
    kinds = {line[0] for line in file.lines if line[:1] in (" ", "\t") and line.strip()}
    receipts: list[Receipt] = []
    spans: list[_Span] = []
    closed = file.closed
    for hunk in edit.hunks:
        if hunk.old and (lazy := left_out(hunk.lines)):
            message = f"`{lazy.strip()[:80]}` is to be added, and stands for lines that are left out"
            raise EditRefused("ellipsis", message, "Write the lines out.", path=path)
        if hunk.old:
            places = locate(hunk, file.lines, path)
        elif not file.lines or hunk.at_end:
            places = [Place(len(file.lines), hunk.lines)]
        else:
            message = "new lines are to be added, and no line of the file says where"
            advice = "Show the line above or below the new ones as it is."
            raise EditRefused("absent", message, advice, path=path)
        ends_differ = file.lines and any(line.text for line in hunk.lines) and hunk.crlf != (file.ending == "\r\n")
        added = (*rules, *hunk.rules, *(("line_endings",) if ends_differ else ()))
        for place in places:
            _expect_indent(place, kinds, path)
            ends, said_by = _end(hunk, place, file, edits, path)
            closed = closed if ends is None else ends
            receipts.append(
                Receipt(path, _rule((*added, *place.rules, *said_by)), (place.start + 1, place.start + place.length))
            )
            spans += _spans(place)
        if edits.in_turn:
            file = structs.replace(file, lines=_replaced(file.lines, spans, path), closed=closed)
            spans = []
    return structs.replace(file, lines=_replaced(file.lines, spans, path), closed=closed).joined(), receipts


def _expect_indent(place: Place, kinds: set[str], path: str) -> None:
    """Refuse new lines that are indented by tabs in a file that has only spaces for it, or by spaces in one of tabs."""
    if len(kinds) != 1 or place.length == 0:
        return
    other = "\t" if " " in kinds else "  "
    for line in place.lines:
        if line.tag == "+" and line.text.startswith(other) and line.text.strip():
            what = "tabs" if other == "\t" else "spaces"
            message = f"`{line.text.strip()[:60]}` is indented by {what}, and no line of the file is"
            raise EditRefused("hunk_mismatch", message, "Indent as the file does.", path=path)


def _spans(place: Place) -> list[_Span]:
    spans: list[_Span] = []
    at = place.start
    for is_context, run in groupby(place.lines, lambda line: line.tag == " "):
        lines = list(run)
        end = at + sum(line.tag != "+" for line in lines)
        if not is_context:
            spans.append(_Span(at, end, [line.text for line in lines if line.tag == "+"]))
        at = end
    return spans


def _replaced(lines: Sequence[str], spans: Sequence[_Span], path: str) -> list[str]:
    new: list[str] = []
    at = 0
    last: _Span | None = None
    for span in sorted(spans, key=lambda one: (one.start, one.end)):
        if last is not None and (span.start < last.end or (span.start, span.end) == (last.start, last.end)):
            message = f"two changes are of line {span.start + 1}"
            raise EditRefused("hunk_mismatch", message, "Write them as one.", path=path)
        new += lines[at : span.start]
        new += span.new
        at, last = span.end, span
    return [*new, *lines[at:]]


def _end(hunk: Hunk, place: Place, file: FileText, edits: Edits, path: str) -> tuple[bool | None, tuple[str, ...]]:
    """Return whether the last line has a line end after the hunk (`None`: as before), and the rule that this took."""
    reaches = place.start + place.length == len(file.lines)
    if not edits.says_end:
        return None, ()
    advice = "Write `\\ No newline at end of file` below a last line without one, and only there."
    if (hunk.old_open or hunk.new_open) and not reaches:
        raise EditRefused("no_newline_at_end", "a line without line end is not the last", advice, path=path)
    if not reaches:
        return None, ()
    if file.lines and hunk.old_open == file.closed and hunk.old:
        if not hunk.old_open and hunk.lines[-1].tag == " ":
            return None, ("final_newline",)
        has = "has a line end" if file.closed else "has no line end"
        message = f"the last line of the file {has}, which the hunk denies"
        raise EditRefused("no_newline_at_end", message, advice, path=path)
    return not hunk.new_open, ()


def _rule(rules: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(rules)) or "exact"
