"""Damage to white space: ends of lines, indentation, line feeds, the end of the file."""

import re
from random import Random

from msgspec import structs

from benchmarks.edits.damages.cases import (
    Case,
    body_lines,
    edited,
    is_changed,
    is_unique,
    lines_near,
    old_lines,
    undamaged,
    with_body,
)
from benchmarks.edits.made_edits import Edit, text_of
from misstep.harness.edits.file_text import places_of


def trailing_spaces(draw: Random, name: str, edit: Edit) -> Case | None:
    """The file has spaces at the ends of lines that stay, and the reply has lost them."""
    near = lines_near(edit)
    unchanged = [number for number in near if edit.before[number].strip() and not is_changed(edit, number)]
    if not unchanged or name == "line_diff":
        return None
    chosen = set(draw.sample(unchanged, min(len(unchanged), 2)))
    before = tuple(f"{line}  " if number in chosen else line for number, line in enumerate(edit.before))
    after = edited(before, edit)
    reply = undamaged(name, edit).reply
    used = any(places_of([line], old_lines(name, reply)) for line in (edit.before[number] for number in chosen))
    return Case(name, "", text_of(before), reply, text_of(after), True) if used else None


def indented(draw: Random, name: str, edit: Edit) -> Case | None:
    """All lines of the reply are indented by four more, or by as much less as all of them have."""
    if name == "line_diff":
        return None
    case = undamaged(name, edit)
    body = body_lines(name, case.reply)
    depth = min((len(line) - len(line.lstrip()) for line in body if line.strip()), default=0)
    outdent = depth >= 4 and draw.random() < 0.7
    change = (lambda line: line[depth:]) if outdent else (lambda line: f"    {line}" if line.strip() else line)
    reply = with_body(name, case.reply, change)
    unique = is_unique(name, case.reply, case.file, str.strip)
    return structs.replace(case, reply=reply, tellable=unique) if reply != case.reply else None


def tabs(_: Random, name: str, edit: Edit) -> Case | None:
    """The reply has tabs where the file has four spaces."""
    if name == "line_diff":
        return None
    case = undamaged(name, edit)
    odd = any((len(line) - len(line.lstrip(" "))) % 4 for line in body_lines(name, case.reply))
    if odd or not any(line.startswith("    ") for line in edit.before):
        return None
    reply = with_body(name, case.reply, lambda line: re.sub(r"^(?: {4})+", lambda one: "\t" * (len(one[0]) // 4), line))
    unique = is_unique(name, case.reply, case.file, str.strip)
    return structs.replace(case, reply=reply, tellable=unique) if reply != case.reply else None


def crlf_file(_: Random, name: str, edit: Edit) -> Case | None:
    """The lines of the file end in CRLF, those of the reply in LF."""
    case = undamaged(name, edit)
    return structs.replace(case, file=_crlf(case.file), meant=_crlf(case.meant or ""))


def crlf_reply(_: Random, name: str, edit: Edit) -> Case | None:
    """The lines of the reply end in CRLF, those of the file in LF."""
    case = undamaged(name, edit)
    return structs.replace(case, reply=_crlf(case.reply))


def no_final_newline(draw: Random, name: str, edit: Edit) -> Case | None:
    """The file ends without a line end, and the change is near it; every format writes it as it should."""
    ended = _at_end(draw, edit)
    if ended is None:
        return None
    old, new = text_of(ended.before).removesuffix("\n"), text_of(ended.after).removesuffix("\n")
    return undamaged(name, ended, old, new)


def end_not_said(draw: Random, name: str, edit: Edit) -> Case | None:
    """The same, and the diff does not say that no line end follows a last line that it changes."""
    case = no_final_newline(draw, name, edit)
    if case is None or name != "unified_diff" or "\\ No newline" not in case.reply:
        return None
    reply = case.reply.replace("\\ No newline at end of file\n", "")
    changed = reply.rstrip("`\n").rsplit("\n", 1)[-1][:1] in "+-"
    return structs.replace(case, reply=reply, tellable=not changed)


def _at_end(draw: Random, edit: Edit) -> Edit | None:
    """Return the file cut so that its last line is near the last change."""
    last = min(len(edit.before), edit.places[-1][1] + draw.randint(0, 2))
    before = edit.before[:last]
    after = tuple(edited(before, edit))
    fits = before and before[-1].strip() and after and after[-1].strip()
    return Edit(before, after, edit.places) if fits else None


def _crlf(text: str) -> str:
    return text.replace("\n", "\r\n")
