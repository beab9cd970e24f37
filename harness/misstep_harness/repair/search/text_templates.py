"""Propose changes in files of any language, where the blamed change wrote or the failure names a line.

The templates know tokens, no grammar: operators, limits, truth values, the order of two arguments. Behind them comes
each part of the blamed change undone.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from misstep_harness.errors import MisstepError
from misstep_harness.repair.search.source import Change
from misstep_harness.repair.search.testing import Candidate
from misstep_harness.repair.validators.test_files import is_test_file

_MOST_LINES = 60
_MOST_BYTES = 500_000
_LONGEST_LINE = 400
_CODE = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte|go|rb|rs|java|kt|php|cs|c|cc|cpp|h|hpp|swift|scala|lua|sh)$")
_FILE = re.compile(r"^\+\+\+ (?:b/)?(.+?)\t?$", re.MULTILINE)
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@.*\n((?:[ +\\-].*\n?|\n)*)", re.MULTILINE)
_PLACE = re.compile(r"(?<![\w./@-])/?([\w./@+$\[\]-]{1,400}\.\w{1,10}):(\d{1,9})(?!\d)")
_TOKENS = tuple(
    (re.compile(pattern), instead, template)
    for pattern, instead, template in (
        (r"<=", "<", "comparison operator"),
        (r">=", ">", "comparison operator"),
        (r"(?<![<=])<(?![<=/])(?= )", "<=", "comparison operator"),
        (r"(?<![=>-])>(?![>=])(?= )", ">=", "comparison operator"),
        (r"!==", "===", "comparison operator"),
        (r"===", "!==", "comparison operator"),
        (r"!=(?!=)", "==", "comparison operator"),
        (r"(?<![=!<>])==(?!=)", "!=", "comparison operator"),
        (r"&&", "||", "condition"),
        (r"\|\|", "&&", "condition"),
        (r"(?<=\w )\+(?= )", "-", "arithmetic operator"),
        (r"(?<=[\w)\]] )-(?= )", "+", "arithmetic operator"),
        (r"(?<=[\w)\]] )\*(?= )", "/", "arithmetic operator"),
        (r"(?<=[\w)\]] )/(?= )", "*", "arithmetic operator"),
        (r"\+\+", "--", "arithmetic operator"),
        (r"\btrue\b", "false", "constant"),
        (r"\bfalse\b", "true", "constant"),
        (r"!(?=[\w(])", "", "condition"),
        (r"(?<=if \()(?=\w[^()]*\) )", "!", "condition"),
        (r"\bmin\b", "max", "other function"),
        (r"\bmax\b", "min", "other function"),
        (r"\btoUpper(?=Case)", "toLower", "other function"),
        (r"\btoLower(?=Case)", "toUpper", "other function"),
    )
)
_NUMBER = re.compile(r"(?<![\w.$])\d{1,9}(?![\w.])")
_PAIR = re.compile(r"(?<=[(\[])(\w[\w.]*), (\w[\w.]*)(?=[)\]])")
_CALL = re.compile(r"(?<![\w.])(\w[\w.]{0,200})\.(\w{1,100})\((\w[\w.]{0,200})\)")


def text_candidates(
    files: list[str], read: Callable[[str], bytes], diffs: Mapping[str, str], failure: str
) -> tuple[dict[str, str], list[Candidate]]:
    """Return the texts of the files in question, and what may be changed in them, the likeliest first."""
    known = {path for path in files if _CODE.search(path) and not is_test_file(path)}
    texts: dict[str, str] = {}

    def text_of(path: str) -> str:
        if path not in texts:
            with suppress(MisstepError, OSError, UnicodeDecodeError):
                data = read(path)
                texts[path] = data.decode() if len(data) <= _MOST_BYTES else ""
        return texts.get(path, "")

    lines: dict[tuple[str, int], float] = {}
    undone: list[Candidate] = []
    for path, before, after in _hunks(diffs, known):
        start = text_of(path).find(after)
        if start < 0 or text_of(path).count(after) != 1:
            continue
        first = text_of(path).count("\n", 0, start) + 1
        old = before.splitlines()
        numbers = (at for at, line in enumerate(after.splitlines(), first) if line not in old)
        lines |= {(path, line): 1.0 for line in numbers}
        if not before:
            continue
        undo = Change(start, start + len(after), before, first, "the blamed change undone", 0.1)
        undone.append(Candidate(path, undo, 0.0))
    for place in _PLACE.finditer(failure):
        path = next((path for path in known if f"/{place[1]}".endswith(f"/{path}")), "")
        if path and int(place[2]) <= text_of(path).count("\n") + 1:
            lines.setdefault((path, int(place[2])), 0.6)
    chosen = list(lines.items())[:_MOST_LINES]
    proposed = [
        Candidate(path, change, score * change.prior)
        for (path, line), score in chosen
        for change in _changes(text_of(path), line)
    ]
    ranked = sorted(proposed, key=lambda each: (-each.score, each.path, each.change.start))
    return texts, [*ranked, *undone]


def _hunks(diffs: Mapping[str, str], known: set[str]) -> Iterator[tuple[str, str, str]]:
    """Return the parts of changes in known files: path, text before, text after, with the lines around."""
    for diff in diffs.values():
        files = list(_FILE.finditer(diff))
        ends = [*(each.start() for each in files[1:]), len(diff)]
        for file, end in zip(files, ends, strict=False):
            for hunk in _HUNK.finditer(diff, file.end(), end) if file[1] in known else ():
                lines = [line or " " for line in hunk[2].split("\n") if not line.startswith("\\")]
                before, after = ([line[1:] for line in lines if line[0] in signs] for signs in (" -", " +"))
                yield file[1], "\n".join(before).rstrip("\n"), "\n".join(after).rstrip("\n")


def _changes(text: str, number: int) -> Iterator[Change]:
    lines = text.splitlines(keepends=True)
    line = lines[number - 1].rstrip("\r\n")
    start = sum(map(len, lines[: number - 1]))
    if len(line) > _LONGEST_LINE or line.lstrip().startswith(("//", "*", "#", "import ")):
        return

    def change(match: re.Match[str], new: str, template: str, prior: float) -> Change:
        return Change(start + match.start(), start + match.end(), new, number, template, prior)

    for pattern, instead, template in _TOKENS:
        for match in pattern.finditer(line):
            yield change(match, instead, template, 0.8)
    for match in _NUMBER.finditer(line):
        yield from (
            change(match, str(new), "off by one", 0.5) for new in (int(match[0]) - 1, int(match[0]) + 1) if new >= 0
        )
    for match in _PAIR.finditer(line):
        yield change(match, f"{match[2]}, {match[1]}", "swapped arguments", 0.6)
    for match in _CALL.finditer(line):
        if match[1] not in ("Math", "JSON", "Object", "Array", "console"):
            yield change(match, f"{match[3]}.{match[2]}({match[1]})", "swapped arguments", 0.6)
