"""What a person would ask for, by rule: high-level, the request of the fault's operator; detailed, a step a hunk.

The paper has a model write both from the fix ("backtranslation", section 5.1). Here the fix is known as edits, so they
are told from it: the high-level text names the place and the kind of mistake, the detailed one says what to write.
"""

import difflib
from collections.abc import Iterable, Mapping

from misstep.harness.repair.build.syntax import Fault


def instructions(faults: Iterable[Fault], broken: Mapping[str, bytes], fixed: Mapping[str, bytes]) -> dict[str, str]:
    """Return the two texts, by `high_level` and `detailed`."""
    requests = list(dict.fromkeys(fault.request for fault in faults))
    return {"high_level": "\n".join(requests), "detailed": "\n".join(_steps(broken, fixed))}


def _steps(broken: Mapping[str, bytes], fixed: Mapping[str, bytes]) -> Iterable[str]:
    number = 0
    for path in sorted(broken):
        old, new = (text.decode().splitlines() for text in (broken[path], fixed[path]))
        for kind, first, last, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind == "equal":
                continue
            number += 1
            removed, added = old[first:last], new[start:end]
            where = f"lines {first + 1} to {last}" if last - first > 1 else f"line {first + 1}"
            if kind == "insert":
                after = next((line.strip() for line in reversed(old[:first]) if line.strip()), "")
                place = f"after `{after}` (line {first})" if after else "at the top"
                yield f"{number}. In `{path}`, {place}, add:\n{_code(added)}"
            elif kind == "delete":
                yield f"{number}. In `{path}`, remove {where}:\n{_code(removed)}"
            else:
                yield f"{number}. In `{path}`, replace {where}:\n{_code(removed)}\nby:\n{_code(added)}"


def _code(lines: list[str]) -> str:
    return "```\n" + "\n".join(lines) + "\n```"
