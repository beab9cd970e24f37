"""Decide as the policy `search`: program repair without a model.

It localises the fault (by spectrum where the setting lets it run tests, otherwise by the failure's text), proposes
changes by repair templates, and hands in the first one with which the tests pass. Where it may not run tests, it hands
in the likeliest one.

In files of other languages the templates know tokens alone: operators, limits, truth values, the order of two
arguments. Behind them comes each part of the blamed change undone.
"""

import ast
import asyncio
import difflib
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile

from msgspec.structs import replace

from misstep_harness.agent.actions import Action, EditFeedback, Observation
from misstep_harness.agent.loop import AgentStopped
from misstep_harness.agent.protocols import PatchRequest, Task
from misstep_harness.edits import edit_format
from misstep_harness.errors import MisstepError
from misstep_harness.protocols import Ask
from misstep_harness.repair.attempt import CaseWorkspace, Repairer
from misstep_harness.repair.search.localisation import (
    Candidate,
    Effort,
    Observed,
    SandboxedTests,
    Suspect,
    by_spectrum,
    by_text,
)
from misstep_harness.repair.search.scope import Change, Function, ProgramSource, Scope, changed, sources_and_tests
from misstep_harness.repair.search.templates import changes_of, reordered
from misstep_harness.repair.validators import is_test_file
from misstep_harness.trajectory import Step

_MOST_LINES = 160
_LEVEL_OF_FILE = 0.3
"""How suspicious a value of the file's own level is, by the most suspicious line that reads it."""
_NOISE = 0.35

_AFTER: dict[str, str] = {
    "IndexError": "off by one|comparison operator|slice|index|range|missing condition|missing guard",
    "KeyError": "missing condition|missing guard|other variable|constant|swapped elements",
    "AttributeError": "missing condition|other attribute|missing guard|other variable",
    "TypeError": "missing condition|swapped arguments|call too many|missing call|missing guard|missing return",
    "ZeroDivisionError": "missing guard|missing condition|comparison operator|constant",
    "NameError": "other variable|missing attribute",
    "UnboundLocalError": "other variable|missing statement|wrong level",
    "RecursionError": "missing guard|condition|off by one|swapped arguments|comparison operator|missing term",
    "ValueError": "missing guard|other function|constant|missing condition",
    "StopIteration": "missing condition|comparison operator",
    "OutOfTime": "comparison operator|condition|arithmetic operator|off by one|missing condition|jump",
}
"""What a failure ended with → the kinds of mistake that it speaks for."""
_FAVOURED = 1.5
_SIGNS = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)


def candidates(
    sources: Mapping[str, ProgramSource], suspects: Sequence[Suspect], failure: str, sample: int = 0
) -> list[Candidate]:
    """Return every change of the templates for the most suspicious lines, by suspicion, kind and closeness."""
    favoured = {
        kind for name, kinds in _AFTER.items() if re.search(rf"\b{name}\b", failure) for kind in kinds.split("|")
    }
    lines: dict[str, dict[int, float]] = {}
    for suspect in suspects[:_MOST_LINES]:
        lines.setdefault(suspect.path, {})[suspect.line] = suspect.score
    best: dict[tuple[str, int, int, str], Candidate] = {}
    for path, scores in lines.items():
        source = sources[path]
        for change, suspicion in _changes(source, scores):
            short = _shortest(source.text, change)
            if short is None:
                continue
            score = suspicion**1.5 * change.prior * (_FAVOURED if change.template in favoured else 1.0)
            key = path, short.start, short.end, short.text
            if key not in best or score > best[key].score:
                inside = any(first <= short.line <= last for first, last in source.function_lines)
                best[key] = Candidate(path, short, score, outside=not inside)
    chance = random.Random(sample)  # noqa: S311 -- no secret
    ranked = sorted(best.values(), key=_order)
    if sample:
        ranked = [replace(each, score=each.score * 2 ** (_NOISE * chance.gauss(0, 1))) for each in ranked]
        ranked.sort(key=_order)
    return ranked


def _order(each: Candidate) -> tuple[float, str, int, int, str]:
    return -each.score, each.path, each.change.start, each.change.end, each.change.text


def _changes(source: ProgramSource, scores: Mapping[int, float]) -> Iterator[tuple[Change, float]]:
    scopes: dict[Function | None, Scope] = {}
    read: dict[str, float] = {}
    for node in ast.walk(source.tree):
        statement = source.statement(node)
        if statement is None or isinstance(node, _SIGNS):
            continue
        if isinstance(node, Function):
            moved = reordered(node, Scope(source, node))
            yield from ((change, scores[change.line]) for change in moved if change.line in scores)
            continue
        function = source.function(node)
        on_statement = scores.get(statement.lineno, 0.0)
        suspicion = scores.get(getattr(node, "lineno", 0), on_statement) if function else 0.0
        if isinstance(node, ast.Name) and suspicion:
            read[node.id] = max(read.get(node.id, 0.0), suspicion)
        if not suspicion or isinstance(node, ast.ClassDef | ast.arguments | ast.arg):
            continue
        if function not in scopes:
            scopes[function] = Scope(source, function)
        for change in changes_of(node, scopes[function]):
            yield change, scores.get(change.line, suspicion)
    for each in source.tree.body:
        if isinstance(each, ast.Assign | ast.AnnAssign) and isinstance(each.value, ast.expr):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            known = max((read.get(name.id, 0.0) for name in targets if isinstance(name, ast.Name)), default=0.0)
            for node in ast.walk(each.value) if known else ():
                for change in changes_of(node, scopes.setdefault(None, Scope(source, None))):
                    yield change, _LEVEL_OF_FILE * known


def _shortest(text: str, change: Change) -> Change | None:
    old, new = text[change.start : change.end], change.text
    if old == new:
        return None
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    text = new[head : len(new) - tail]
    return replace(change, start=change.start + head, end=change.end - tail, text=text)


def _alike(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


_MOST_LINES_of_policy = 60
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
    chosen = list(lines.items())[:_MOST_LINES_of_policy]
    proposed = [
        Candidate(path, change, score * change.prior)
        for (path, line), score in chosen
        for change in _changes_of_policy(text_of(path), line)
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


def _changes_of_policy(text: str, number: int) -> Iterator[Change]:
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


_MOST_EDITS = 6
_HEADING = re.compile(r"^Replace line (\d{1,9}) and what follows:\n(`{3,99})\n", re.MULTILINE)


class SearchPolicy:
    """Searches for a repair of one case; tests are run only where its setting allows."""

    name = "search"

    def __init__(self, place: CaseWorkspace, effort: Effort = Effort()) -> None:  # noqa: B008 -- frozen
        self._place = place
        self._tests = SandboxedTests(place, effort) if place.setting.test_execution else None
        self._texts: dict[str, str] | None = None
        self._suspects: list[Suspect] = []
        self._observed: tuple[Observed, ...] = ()
        self._left: list[Candidate] = []
        self._handed_in: list[Candidate] = []
        self._pending: Candidate | None = None
        self._tried = 0
        self._feedback = EditFeedback()

    def observed(self, observation: Observation) -> None:
        """Keep what the last edit came to."""
        self._feedback = observation.feedback or self._feedback

    async def act(self, task: Task, steps: Sequence[Step], ask: Ask) -> Action:  # noqa: ARG002
        """Return the next command: look at the failure, at the suspicious place, edit, judge what the edit brought."""
        done = [call.name for step in steps for call in step.calls if step.role == "agent"]
        if self._tests is not None and not done:
            return Action("run_tests", thought="I look at how the tests fail.")
        if self._texts is None:
            last = next((step for step in reversed(steps) if step.role == "agent"), None)  # guidance may come behind it
            failure = "\n".join(result.text for result in last.results) if last and done else task.text
            await asyncio.to_thread(self._localise, task.text, failure)
            if not self._suspects:
                return _exit(
                    "I found no line of Python that the failing tests execute or name, and in other languages none that"
                    " the blamed change wrote or the failure names."
                )
            first, count = self._suspects[0], len(self._suspects)
            thought = f"{first.path}:{first.line} is the most suspicious of {count} lines: {first.reason}."
            return Action("go_to_line", {"file_path": first.path, "line": str(first.line)}, thought)
        if self._pending is not None:
            return await asyncio.to_thread(self._edit, self._pending)
        feedback = self._feedback
        passes = self._tests is None or feedback.tests_passed is True
        if self._handed_in and feedback.applied and not feedback.complaint and passes:
            return _exit(f"I changed {self._handed_in[-1].path}: {self._handed_in[-1].change.template}.{self._count()}")
        if len(self._handed_in) >= _MOST_EDITS:
            return _exit(f"None of {_MOST_EDITS} changes was right.{self._count()}")
        chosen = await asyncio.to_thread(self._choose)
        if chosen is None:
            further = "further " if self._handed_in else ""
            return _exit(f"No {further}change that I know of makes the tests pass.{self._count()}")
        return await asyncio.to_thread(self._edit, chosen)

    def notes(self) -> dict[str, int]:
        """Return how many changes were tried on the tests, where the setting lets it run them."""
        return {} if self._tests is None else {"candidates": self._tried}

    def _localise(self, text: str, failure: str) -> None:
        workspace, oracle = self._place.workspace, self._place.case.oracle
        sources, tests = sources_and_tests(workspace.files(), workspace.read, oracle)
        if self._tests is not None and sources:
            self._observed = self._tests.spectrum(sorted(sources))
            self._suspects = by_spectrum(self._observed, sources)
            failure = "\n".join([failure, *(each.said for each in self._observed if each.oracle and not each.passed)])
        if not self._suspects:
            self._suspects = by_text(f"{text}\n{failure}", tests, sources)
        self._texts = {path: source.text for path, source in sources.items()}
        self._left = candidates(sources, self._suspects, failure, self._place.sample)
        if not self._left:
            others, self._left = text_candidates(
                workspace.files(), workspace.read, self._place.case.diffs, f"{text}\n{failure}"
            )
            self._texts |= others
            places = dict.fromkeys((each.path, each.change.line) for each in self._left)
            reason = "the blamed change wrote it, or the failure names it"
            self._suspects = [Suspect(path, line, 1.0, reason) for path, line in places]

    def _text(self, path: str) -> str:
        """Return the text that a file had before any edit of this run."""
        return (self._texts or {})[path]

    def _choose(self) -> Candidate | None:
        if self._tests is None:
            while self._left:
                chosen = self._left.pop(0)
                with suppress(SyntaxError, ValueError):
                    text = changed(self._text(chosen.path), chosen.change)
                    if chosen.path.endswith(".py"):
                        ProgramSource("", text)
                    return chosen
            return None
        # The tests are searched with the files as they were before the edits of this run.
        workspace = self._place.workspace
        edited = {each.path: workspace.read(each.path) for each in self._handed_in}
        for path in edited:
            workspace.write(path, self._text(path).encode())
        try:
            result = self._tests.search(self._left, self._observed)
        finally:
            for path, data in edited.items():
                workspace.write(path, data)
        self._tried += result.tried
        if result.passing is None:
            return None
        chosen = self._left[result.passing]
        self._left = self._left[result.passing + 1 :]
        return chosen

    def _edit(self, chosen: Candidate) -> Action:
        before = self._place.workspace.read(chosen.path).decode()
        after = changed(self._text(chosen.path), chosen.change)
        last = self._handed_in[-1].path if self._handed_in else None
        if last is not None and self._place.workspace.read(last) == self._text(last).encode():
            last = None  # the edit was refused, or taken back
        if last is not None and last != chosen.path and self._pending is None:
            self._pending = chosen
            now = self._place.workspace.read(last).decode()
            text = instruction(now, self._text(last), "Take the last edit back.")
            return Action("edit", {"file_path": last, "instructions": text}, "The last edit was not right.")
        why = f"Line {chosen.change.line} has a likely mistake: {chosen.change.template}."
        if last == chosen.path:
            why = f"The last edit was not right, take it back. {why}"
        thought = why if self._tests is None else f"{why} With this change the tests pass.{self._count()}"
        self._pending = None
        self._handed_in.append(chosen)
        return Action("edit", {"file_path": chosen.path, "instructions": instruction(before, after, why)}, thought)

    def _count(self) -> str:
        return f" I tried {self._tried} changes on the tests." if self._tests is not None else ""


def search_repairer(format_name: str, effort: Effort = Effort()) -> Callable[[CaseWorkspace], Repairer]:  # noqa: B008
    """Return what makes the policy and its patcher for a case, its edits in a format."""

    def make(place: CaseWorkspace) -> Repairer:
        policy = SearchPolicy(place, effort)
        return Repairer(policy, SearchPatcher(format_name), policy.notes)

    return make


def _exit(summary: str) -> Action:
    return Action("exit", {"summary": summary}, summary)


def instruction(before: str, after: str, why: str) -> str:
    """Return what a patcher has to do to make one text of another, in whole lines, with the number of the first."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    blocks = [block for block in codes if block[0] != "equal"]
    if not blocks:
        return why
    start, end, first, last = blocks[0][1], blocks[-1][2], blocks[0][3], blocks[-1][4]
    if start == end:  # an insertion is named by the line before or after it
        if end < len(old):
            end, last = end + 1, last + 1
        else:
            start, first = start - 1, first - 1
    was, shall = ("".join(lines) for lines in (old[start:end], new[first:last]))
    fence = "```"
    while fence in was or fence in shall:
        fence += "`"
    was, shall = (text + "\n" if text and not text.endswith("\n") else text for text in (was, shall))
    return f"{why}\nReplace line {start + 1} and what follows:\n{fence}\n{was}{fence}\nwith:\n{fence}\n{shall}{fence}"


def carried_out(content: str, text: str) -> str | None:
    """Return the text that an instruction makes of a file; `None` where it does not fit."""
    heading = _HEADING.search(text)
    if heading is None:
        return None
    fence = heading[2]
    was, parted, shall = f"\n{text[heading.end() :]}".partition(f"\n{fence}\nwith:\n{fence}\n")
    if not parted or not f"\n{shall}".endswith(f"\n{fence}"):
        return None
    was, shall = f"{was}\n"[1:], shall.removesuffix(fence)
    lines = content.splitlines(keepends=True)
    start = int(heading[1]) - 1
    until = start + len(was.splitlines())
    there = "".join(lines[start:until])
    if there.removesuffix("\n") != was.removesuffix("\n"):
        return None
    ending = "\n" if there.endswith("\n") else ""
    return "".join(lines[:start]) + (shall.removesuffix("\n") + ending if shall else "") + "".join(lines[until:])


class SearchPatcher:
    """Writes what an instruction of `SearchPolicy` says in a run's edit format; it sees nothing but the request."""

    def __init__(self, format_name: str) -> None:
        self._format = edit_format(format_name)

    async def patch(self, request: PatchRequest, ask: Ask) -> str:  # noqa: ARG002
        """Return the edit."""
        after = carried_out(request.content, request.instructions)
        if after is None:
            raise AgentStopped("the instruction names no lines of this file")
        return self._format.render(request.path, request.content, after)
