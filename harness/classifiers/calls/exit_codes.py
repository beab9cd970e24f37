"""The exit code of a command: as recorded, or as its answer states it."""

import re

from misstep.harness.classifiers.calls.history import Act, once

_EXIT_CODE = re.compile(r"(?:exit code|returncode|exited with(?: code)?|exit status)[:>\s]*(-?\d+)", re.IGNORECASE)
_CODE_ALONE = 60
"""Characters that an answer can have which states an exit code and nothing else."""

_BRACKETS = {"[": "]", "(": ")", "<": ">"}


@once
def exit_code(act: Act) -> int | None:
    """Return a command's exit code: as recorded, or as its answer states at the beginning or the end."""
    result = act.result
    if result is None:
        return None
    if result.exit_code is not None:
        return result.exit_code
    ends = result.text[:40] + "\n" + result.text[-80:]
    if "xit" not in ends and "eturncode" not in ends:
        return None
    match = _EXIT_CODE.search(ends)
    return int(match.group(1)) if match else None


def says_more_than_a_code(text: str) -> bool:
    """Return whether an answer has words of a program, and not only the exit code, alone or in brackets."""
    stripped = text.strip()
    if len(stripped) > _CODE_ALONE or not (code := _EXIT_CODE.search(stripped)):
        return True
    in_brackets = stripped[:1] in _BRACKETS and stripped.endswith(_BRACKETS[stripped[:1]])
    return not in_brackets and re.search(r"\w", stripped[: code.start()] + stripped[code.end() :]) is not None
