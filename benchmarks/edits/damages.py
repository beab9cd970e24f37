"""Edits damaged as models damage them, each with its truth: what its author meant, and whether that can be told.

A case can be told where the reply and the file together leave one reading: whoever then refuses refuses wrongly. Where
they leave several, or none, whoever applies anything but what was meant applies wrongly without a word.
"""

import re
from collections.abc import Callable
from random import Random

from msgspec import Struct, structs

from benchmarks.edits.made_edits import PATH, Edit, made_edit, text_of
from harness.edits import edit_format
from harness.edits.occurrences import places_of
from harness.errors import EditRefused

FORMATS = ("search_replace", "unified_diff", "line_diff", "patch_envelope")
TAGGED = ("unified_diff", "patch_envelope")
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$", re.MULTILINE)
_NUMBERED = re.compile(r"^([-+])(\d+) ", re.MULTILINE)


class Case(Struct, frozen=True):
    """A reply about a file; `meant` is what its author wants the file to be, `None` where nothing right can be."""

    format: str
    damage: str
    file: str
    reply: str
    meant: str | None
    tellable: bool


Damage = Callable[[Random, str, Edit], Case | None]


def _whole(name: str, edit: Edit, before: str | None = None, after: str | None = None) -> Case:
    """The undamaged reply, in a fence where the format has none of its own."""
    old = text_of(edit.before) if before is None else before
    new = text_of(edit.after) if after is None else after
    written = edit_format(name).render(PATH, old, new)
    written = f"```diff\n{written}```\n" if name == "unified_diff" else written
    return Case(name, "", old, written, new, True)


def _none(_: Random, name: str, edit: Edit) -> Case | None:
    return _whole(name, edit)


def _prose(draw: Random, name: str, edit: Edit) -> Case | None:
    case = _whole(name, edit)
    tilde = draw.random() < 0.3
    reply = case.reply.replace("```", "~~~~") if tilde else case.reply
    if name == "patch_envelope":
        reply = f"```\n{reply}```\n"
    opening = draw.choice(("Sure, here is the fix.", "The loop starts one too late:", "I changed two things."))
    ending = draw.choice(("This keeps the old behaviour.", "- the first case is handled\n- so is the second", "Done."))
    return structs.replace(case, reply=f"{opening}\n\n{reply}\n{ending}\n")


def _trailing_spaces(draw: Random, name: str, edit: Edit) -> Case | None:
    """The file has spaces at the ends of lines that stay, and the reply has lost them."""
    near = _near(edit)
    kept = [number for number in near if edit.before[number].strip() and not _is_changed(edit, number)]
    if not kept or name == "line_diff":
        return None
    chosen = set(draw.sample(kept, min(len(kept), 2)))
    before = tuple(f"{line}  " if number in chosen else line for number, line in enumerate(edit.before))
    after = _after(before, edit)
    reply = _whole(name, edit).reply
    used = any(places_of([line], _old_lines(name, reply)) for line in (edit.before[number] for number in chosen))
    return Case(name, "", text_of(before), reply, text_of(after), True) if used else None


def _line_numbers(draw: Random, name: str, edit: Edit) -> Case | None:
    """All line numbers are off by the same; the text is right."""
    shift = draw.choice((-7, -3, -1, 1, 2, 5, 40))
    case = _whole(name, edit)
    if name == "unified_diff":
        reply = _HUNK.sub(lambda one: _numbers(one, shift), case.reply)
    elif name == "line_diff":
        reply = _NUMBERED.sub(lambda one: f"{one[1]}{max(1, int(one[2]) + shift)} ", case.reply)
    else:
        return None
    if reply == case.reply:
        return None
    # A unified diff shows where it belongs; in a line diff the number is the place, and the text only its check.
    unique = name == "unified_diff" and _is_unique(name, reply, case.file)
    return structs.replace(case, reply=reply, tellable=unique)


def _no_counts(draw: Random, name: str, edit: Edit) -> Case | None:
    case = _whole(name, edit)
    with_what = draw.choice(("@@ @@", "@@", "@@ ... @@"))
    reply = _HUNK.sub(lambda _: with_what, case.reply)
    if name != "unified_diff":
        return None
    return structs.replace(case, reply=reply, tellable=_is_unique(name, case.reply, case.file))


def _wrong_counts(draw: Random, name: str, edit: Edit) -> Case | None:
    """Counts that are too small; too large ones are those of a reply that was cut off."""
    if name != "unified_diff":
        return None
    case = _whole(name, edit)
    less = draw.choice((1, 2))
    reply = _HUNK.sub(
        lambda one: f"@@ -{one[1]},{max(1, int(one[2] or 1) - less)} +{one[3]},{max(1, int(one[4] or 1) - less)} @@",
        case.reply,
    )
    return structs.replace(case, reply=reply) if reply != case.reply else None


def _cut_off(draw: Random, name: str, edit: Edit) -> Case | None:
    case = _whole(name, edit)
    lines = case.reply.rstrip("\n").split("\n")
    last = len(lines) - (2 if name != "patch_envelope" else 1)
    first = 6 if name == "unified_diff" else 3
    if last <= first:
        return None
    kept = lines[: draw.randint(first, last - 1)]
    return structs.replace(case, reply="\n".join(kept) + "\n", meant=None, tellable=False)


def _stale(draw: Random, name: str, edit: Edit) -> Case | None:
    """Someone changed a line that the reply shows: where it is one that stays, the edit may still be meant as it is."""
    case = _whole(name, edit)
    shown = [line for line in _old_lines(name, case.reply) if sum(map(str.isalnum, line)) > 6]
    if not shown:
        return None
    line = draw.choice(shown)
    at = [number for number in _near(edit) if edit.before[number] == line]
    if len(at) != 1:
        return None
    now = list(edit.before)
    now[at[0]] = (
        f"{line.rstrip()}  # {draw.choice(('checked', 'see below', 'kept'))}"
        if draw.random() < 0.5
        else (line[: len(line) - len(line.lstrip())] + f"changed_{draw.randint(1, 99)} = True")
    )
    hunks = _old_blocks(name, case.reply)
    if all(places_of(block, now) for block in hunks):
        return None
    meant = None if _is_changed(edit, at[0]) else text_of(_after(tuple(now), edit))
    return structs.replace(case, file=text_of(now), meant=meant, tellable=False)


def _deleted_line(draw: Random, name: str, edit: Edit) -> Case | None:
    """The reply has forgotten one line of the context, in its middle."""
    case = _whole(name, edit)
    lines = case.reply.split("\n")
    kept = [
        number
        for number in range(1, len(lines) - 1)
        if lines[number][:1] == lines[number - 1][:1] == lines[number + 1][:1] == " " and lines[number].strip()
    ]
    if name not in TAGGED or not kept:
        return None
    del lines[draw.choice(kept)]
    reply = "\n".join(lines)
    return structs.replace(case, reply=reply, tellable=False)


def _duplicated(draw: Random, name: str, edit: Edit) -> Case | None:
    """The lines around the first change stand a second time, above: numbers and places that were right are not."""
    start, end, _ = edit.places[0]
    first, last = max(0, start - 6), min(len(edit.before), end + 6)
    copy = edit.before[first:last]
    above = draw.random() < 0.5
    at = 0 if above else len(edit.before)
    file = (*edit.before[:at], *copy, *edit.before[at:])
    meant = (*copy, *edit.after) if above else (*edit.after, *copy)
    case = _whole(name, edit)
    if above and any(at in places_of(block, file) for block, at in _stated(name, case.reply)):
        return None  # the reply itself then says that it means the copy
    numbered = name in ("unified_diff", "line_diff") and not above
    unique = all(len(places_of(block, file)) == 1 for block in _old_blocks(name, case.reply))
    return structs.replace(case, file=text_of(file), meant=text_of(meant), tellable=numbered or unique)


def _indented(draw: Random, name: str, edit: Edit) -> Case | None:
    """All lines of the reply are indented by four more, or by as much less as all of them have."""
    if name == "line_diff":
        return None
    case = _whole(name, edit)
    body = _body(name, case.reply)
    depth = min((len(line) - len(line.lstrip()) for line in body if line.strip()), default=0)
    outdent = depth >= 4 and draw.random() < 0.7
    change = (lambda line: line[depth:]) if outdent else (lambda line: f"    {line}" if line.strip() else line)
    reply = _with_body(name, case.reply, change)
    blocks = _old_blocks(name, case.reply)
    stripped = [line.strip() for line in edit.before]
    unique = all(len(places_of([line.strip() for line in block], stripped)) == 1 for block in blocks)
    return structs.replace(case, reply=reply, tellable=unique) if reply != case.reply else None


def _tabs(_: Random, name: str, edit: Edit) -> Case | None:
    """The reply has tabs where the file has four spaces."""
    if name == "line_diff":
        return None
    case = _whole(name, edit)
    odd = any((len(line) - len(line.lstrip(" "))) % 4 for line in _body(name, case.reply))
    if odd or not any(line.startswith("    ") for line in edit.before):
        return None
    reply = _with_body(
        name, case.reply, lambda line: re.sub(r"^(?: {4})+", lambda one: "\t" * (len(one[0]) // 4), line)
    )
    stripped = [line.strip() for line in edit.before]
    blocks = _old_blocks(name, case.reply)
    unique = all(len(places_of([line.strip() for line in block], stripped)) == 1 for block in blocks)
    return structs.replace(case, reply=reply, tellable=unique) if reply != case.reply else None


def _crlf_file(_: Random, name: str, edit: Edit) -> Case | None:
    case = _whole(name, edit)
    return structs.replace(case, file=_crlf(case.file), meant=_crlf(case.meant or ""))


def _crlf_reply(_: Random, name: str, edit: Edit) -> Case | None:
    case = _whole(name, edit)
    return structs.replace(case, reply=_crlf(case.reply))


def _no_final_newline(draw: Random, name: str, edit: Edit) -> Case | None:
    """The file ends without a line end, and the change is near it; every format writes it as it should."""
    ended = _at_end(draw, edit)
    if ended is None:
        return None
    old, new = text_of(ended.before).removesuffix("\n"), text_of(ended.after).removesuffix("\n")
    return _whole(name, ended, old, new)


def _end_not_said(draw: Random, name: str, edit: Edit) -> Case | None:
    """The same, and the diff does not say that no line end follows a last line that it changes."""
    case = _no_final_newline(draw, name, edit)
    if case is None or name != "unified_diff" or "\\ No newline" not in case.reply:
        return None
    reply = case.reply.replace("\\ No newline at end of file\n", "")
    changed = reply.rstrip("`\n").rsplit("\n", 1)[-1][:1] in "+-"
    return structs.replace(case, reply=reply, tellable=not changed)


def _ellipsis_kept(draw: Random, name: str, edit: Edit) -> Case | None:
    """Unchanged lines in the middle of a place are left out, and `...` stands for them."""
    place = next((one for one in edit.places if one[1] + 9 < len(edit.before)), None)
    if place is None or name not in ("search_replace", *TAGGED):
        return None
    start, end, new = place
    tail = end + draw.randint(5, 8)
    head, left_out, last = edit.before[start:end], edit.before[end:tail], edit.before[tail : tail + 1]
    word = [line for line in left_out if line.strip()]
    depth = min((len(line) - len(line.lstrip()) for line in word), default=-1)
    if depth < 0 or not last[0].strip() or not all(line.strip() for line in head) or not new:
        return None
    gap = f"{' ' * depth}{draw.choice(('...', '# ... existing code ...', '# ...'))}"
    after = (*edit.before[:start], *new, *edit.before[end:])
    unique = len(places_of(head, edit.before)) == 1 and len(places_of(last, edit.before)) == 1
    if name == "search_replace":
        block = ["<<<<<<< SEARCH", *head, gap, *last, "=======", *new, gap, *last, ">>>>>>> REPLACE"]
        reply = text_of([PATH, "```python", *block, "```"])
    else:
        hunk = [*(f"-{line}" for line in head), *(f"+{line}" for line in new), f" {gap}", f" {last[0]}"]
        top = ["*** Begin Patch", f"*** Update File: {PATH}", "@@"]
        reply = (
            text_of([*top, *hunk, "*** End Patch"])
            if name == "patch_envelope"
            else text_of(["```diff", f"--- a/{PATH}", f"+++ b/{PATH}", "@@ @@", *hunk, "```"])
        )
    return Case(name, "", text_of(edit.before), reply, text_of(after), unique)


def _ellipsis_added(draw: Random, name: str, edit: Edit) -> Case | None:
    """The new text has a comment in place of lines that should stay: nothing says which."""
    start, end, new = edit.places[0]
    last = min(len(edit.before), end + 4)
    rest = [line for line in edit.before[end:last] if line.strip()]
    if len(rest) < 2 or not new:
        return None
    indent = rest[0][: len(rest[0]) - len(rest[0].lstrip())]
    lazy = f"{indent}# ... {draw.choice(('rest of the code', 'existing code', 'remaining lines unchanged'))} ..."
    written = (*edit.before[:start], *new, lazy, *edit.before[last:])
    meant = (*edit.before[:start], *new, *edit.before[end:])
    reply = _whole(name, edit, after=text_of(written)).reply
    return Case(name, "", text_of(edit.before), reply, text_of(meant), False)


def _mark_dropped(_: Random, name: str, edit: Edit) -> Case | None:
    """Lines that stay are written without the space before them."""
    if name not in TAGGED:
        return None
    case = _whole(name, edit)
    lines = case.reply.split("\n")
    inside = [line[1:] if line[:1] == " " else line for line in lines]
    if inside == lines or any(line.startswith(("#", "-", "+", "@")) for line in _kept(name, case.reply)):
        return None
    return structs.replace(case, reply="\n".join(inside), tellable=_is_unique(name, case.reply, case.file))


def _escape(draw: Random, name: str, edit: Edit) -> Case | None:
    case = _whole(name, edit)
    path = draw.choice(("../module.py", "pkg/../../module.py", "/pkg/module.py"))
    return structs.replace(case, reply=case.reply.replace(PATH, path), tellable=False)


def _half(draw: Random, name: str, edit: Edit) -> Case | None:
    """Of several places one does not fit: nothing may be changed."""
    if len(edit.places) < 2:
        return None
    case = _stale(draw, name, edit)
    return case if case is not None and len(_old_blocks(name, case.reply)) > 1 else None


DAMAGES: dict[str, Damage] = {
    "none": _none,
    "prose and fences": _prose,
    "spaces at line ends lost": _trailing_spaces,
    "indentation shifted": _indented,
    "tabs for spaces": _tabs,
    "CRLF file, LF reply": _crlf_file,
    "LF file, CRLF reply": _crlf_reply,
    "no final line end": _no_final_newline,
    "line end not said": _end_not_said,
    "wrong line numbers": _line_numbers,
    "no line numbers": _no_counts,
    "counts too small": _wrong_counts,
    "marks of context dropped": _mark_dropped,
    "ellipsis for context": _ellipsis_kept,
    "ellipsis in new text": _ellipsis_added,
    "place stands twice": _duplicated,
    "context line forgotten": _deleted_line,
    "file has changed": _stale,
    "one of several places fails": _half,
    "reply cut off": _cut_off,
    "path leads out": _escape,
}


def made_case(seed: int, damage: str, name: str, place: int, files: list[tuple[str, ...]]) -> Case | None:
    """One case, the same for the same seed; `None` where the file or the format gives none of this kind."""
    draw = Random(f"{seed} {damage} {name} {place}")  # noqa: S311 (made-up edits hold no secrets)
    for _ in range(20):
        edit = made_edit(draw, draw.choice(files))
        try:
            case = None if edit is None else DAMAGES[damage](draw, name, edit)
        except EditRefused:
            case = None
        if case is not None and case.meant != case.file:
            return structs.replace(case, damage=damage)
    return None


def _after(before: tuple[str, ...], edit: Edit) -> list[str]:
    after = list(before)
    for start, end, new in reversed(edit.places):
        after[start:end] = new
    return after


def _at_end(draw: Random, edit: Edit) -> Edit | None:
    """The file cut so that its last line is near the last change."""
    last = min(len(edit.before), edit.places[-1][1] + draw.randint(0, 2))
    before = edit.before[:last]
    after = tuple(_after(before, edit))
    fits = before and before[-1].strip() and after and after[-1].strip()
    return Edit(before, after, edit.places) if fits else None


def _crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


def _numbers(one: re.Match[str], shift: int) -> str:
    old, new = max(1, int(one[1]) + shift), max(1, int(one[3]) + shift)
    return f"@@ -{old}{',' + one[2] if one[2] else ''} +{new}{',' + one[4] if one[4] else ''} @@"


def _near(edit: Edit) -> list[int]:
    return sorted(
        {number for start, end, _ in edit.places for number in range(max(0, start - 3), min(len(edit.before), end + 3))}
    )


def _is_changed(edit: Edit, number: int) -> bool:
    return any(start <= number < end for start, end, _ in edit.places)


def _old_blocks(name: str, reply: str) -> list[list[str]]:
    """What must be in the file, as Misstep's own reader sees the undamaged reply."""
    return [hunk.old for file in edit_format(name).parse(reply, PATH).files for hunk in file.hunks]


def _stated(name: str, reply: str) -> list[tuple[list[str], int]]:
    """What must be in the file, and the place that the reply names for it, counted from 0."""
    files = edit_format(name).parse(reply, PATH).files
    return [(hunk.old, hunk.at - 1) for file in files for hunk in file.hunks if hunk.at is not None]


def _old_lines(name: str, reply: str) -> list[str]:
    return [line for block in _old_blocks(name, reply) for line in block]


def _kept(name: str, reply: str) -> list[str]:
    files = edit_format(name).parse(reply, PATH).files
    return [line.text for file in files for hunk in file.hunks for line in hunk.lines if line.tag == " "]


def _is_unique(name: str, reply: str, file: str) -> bool:
    lines = file.removesuffix("\n").split("\n")
    return all(len(places_of(block, lines)) == 1 for block in _old_blocks(name, reply))


def _body_places(name: str, reply: str) -> list[int]:
    """Which lines of a reply are lines of code."""
    lines = reply.split("\n")
    if name == "search_replace":
        marks = ("<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE")
        inside, found = False, []
        for number, line in enumerate(lines):
            inside = line == marks[0] or (inside and line != marks[2])
            if inside and line not in marks:
                found.append(number)
        return found
    head = min(number for number, line in enumerate(lines) if line.startswith(("+++ ", "*** Update")))
    return [number for number in range(head + 1, len(lines)) if lines[number][:1] in (" ", "-", "+")]


def _body(name: str, reply: str) -> list[str]:
    lines = reply.split("\n")
    marked = name in TAGGED
    return [lines[number][1:] if marked else lines[number] for number in _body_places(name, reply)]


def _with_body(name: str, reply: str, change: Callable[[str], str]) -> str:
    lines = reply.split("\n")
    for number in _body_places(name, reply):
        line = lines[number]
        lines[number] = line[0] + change(line[1:]) if name in TAGGED else change(line)
    return "\n".join(lines)
