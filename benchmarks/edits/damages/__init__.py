"""Damage edits as models damage them, each with its truth: what its author meant, and whether that can be told.

A case can be told if the reply and the file together leave one reading.
"""

from collections.abc import Callable
from random import Random

from msgspec import structs

from benchmarks.edits.damages.cases import Case, undamaged
from benchmarks.edits.damages.omissions import cut_off, deleted_line, ellipsis_added, ellipsis_kept, mark_dropped
from benchmarks.edits.damages.places import duplicated, half, line_numbers, no_counts, stale, wrong_counts
from benchmarks.edits.damages.white_space import (
    crlf_file,
    crlf_reply,
    end_not_said,
    indented,
    no_final_newline,
    tabs,
    trailing_spaces,
)
from benchmarks.edits.made_edits import PATH, Edit, made_edit
from misstep.harness.errors import EditRefused

Damage = Callable[[Random, str, Edit], Case | None]


def _prose(draw: Random, name: str, edit: Edit) -> Case | None:
    case = undamaged(name, edit)
    tilde = draw.random() < 0.3
    reply = case.reply.replace("```", "~~~~") if tilde else case.reply
    if name == "patch_envelope":
        reply = f"```\n{reply}```\n"
    opening = draw.choice(("Sure, here is the fix.", "The loop starts one too late:", "I changed two things."))
    ending = draw.choice(("This keeps the old behaviour.", "- the first case is handled\n- so is the second", "Done."))
    return structs.replace(case, reply=f"{opening}\n\n{reply}\n{ending}\n")


def _escape(draw: Random, name: str, edit: Edit) -> Case | None:
    case = undamaged(name, edit)
    path = draw.choice(("../module.py", "pkg/../../module.py", "/pkg/module.py"))
    return structs.replace(case, reply=case.reply.replace(PATH, path), tellable=False)


DAMAGES: dict[str, Damage] = {
    "none": lambda _, name, edit: undamaged(name, edit),
    "prose and fences": _prose,
    "spaces at line ends lost": trailing_spaces,
    "indentation shifted": indented,
    "tabs for spaces": tabs,
    "CRLF file, LF reply": crlf_file,
    "LF file, CRLF reply": crlf_reply,
    "no final line end": no_final_newline,
    "line end not said": end_not_said,
    "wrong line numbers": line_numbers,
    "no line numbers": no_counts,
    "counts too small": wrong_counts,
    "marks of context dropped": mark_dropped,
    "ellipsis for context": ellipsis_kept,
    "ellipsis in new text": ellipsis_added,
    "place stands twice": duplicated,
    "context line forgotten": deleted_line,
    "file has changed": stale,
    "one of several places fails": half,
    "reply cut off": cut_off,
    "path leads out": _escape,
}


def made_case(seed: int, damage: str, name: str, place: int, files: list[tuple[str, ...]]) -> Case | None:
    """Return one case, the same for the same seed; `None` where the file or the format gives none of this kind."""
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
