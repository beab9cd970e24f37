"""Damage by leaving out: lines, marks, the end of the reply, or an ellipsis for what should stay."""

from random import Random

from msgspec import structs

from benchmarks.edits.damages.cases import TAGGED, Case, is_unique, kept_lines, undamaged
from benchmarks.edits.made_edits import PATH, Edit, text_of
from misstep.harness.edits.file_text import places_of


def ellipsis_kept(draw: Random, name: str, edit: Edit) -> Case | None:
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


def ellipsis_added(draw: Random, name: str, edit: Edit) -> Case | None:
    """The new text has a comment in place of lines that should stay: nothing says which."""
    start, end, new = edit.places[0]
    last = min(len(edit.before), end + 4)
    rest = [line for line in edit.before[end:last] if line.strip()]
    if len(rest) < 2 or not new:
        return None
    indent = rest[0][: len(rest[0]) - len(rest[0].lstrip())]
    lazy = f"{indent}# ... {draw.choice(('rest of the code', 'existing code', 'remaining lines unchanged'))} ..."
    shortened = (*edit.before[:start], *new, lazy, *edit.before[last:])
    meant = (*edit.before[:start], *new, *edit.before[end:])
    reply = undamaged(name, edit, after=text_of(shortened)).reply
    return Case(name, "", text_of(edit.before), reply, text_of(meant), False)


def mark_dropped(_: Random, name: str, edit: Edit) -> Case | None:
    """Lines that stay are written without the space before them."""
    if name not in TAGGED:
        return None
    case = undamaged(name, edit)
    lines = case.reply.split("\n")
    inside = [line[1:] if line[:1] == " " else line for line in lines]
    if inside == lines or any(line.startswith(("#", "-", "+", "@")) for line in kept_lines(name, case.reply)):
        return None
    return structs.replace(case, reply="\n".join(inside), tellable=is_unique(name, case.reply, case.file))


def deleted_line(draw: Random, name: str, edit: Edit) -> Case | None:
    """The reply has forgotten one line of the context, in its middle."""
    case = undamaged(name, edit)
    lines = case.reply.split("\n")
    candidates = [
        number
        for number in range(1, len(lines) - 1)
        if lines[number][:1] == lines[number - 1][:1] == lines[number + 1][:1] == " " and lines[number].strip()
    ]
    if name not in TAGGED or not candidates:
        return None
    del lines[draw.choice(candidates)]
    reply = "\n".join(lines)
    return structs.replace(case, reply=reply, tellable=False)


def cut_off(draw: Random, name: str, edit: Edit) -> Case | None:
    """The reply ends somewhere after its first lines."""
    case = undamaged(name, edit)
    lines = case.reply.rstrip("\n").split("\n")
    last = len(lines) - (2 if name != "patch_envelope" else 1)
    first = 6 if name == "unified_diff" else 3
    if last <= first:
        return None
    start = lines[: draw.randint(first, last - 1)]
    return structs.replace(case, reply="\n".join(start) + "\n", meant=None, tellable=False)
