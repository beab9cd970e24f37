"""RepairAgent on Defects4J: 60 recorded runs, which bugs it and two rivals fixed, a person's verdict on its fixes.

One line of `trajectories.jsonl.gz`, shortened, and one block of `fixes_implementation.txt`:

    {"id": "Lang_1", "bug": "Lang_1", "resolved": true, "thoughts_actions": "Iteration 0: Thought=…; Action={…}",
     "results_actions": "Result at iteration 0: …"}

    # Lang 1
    ## Fix:
    [{'file_name': 'A.java', 'modifications': [{'line_number': 3, 'modified_line': 'return x;'}]}]
    ## Why:
    Identical.

Bugs are spelt "Lang 1", "Lang-1", "Lang_1" and "Lang-1.java" upstream and `Lang_1` here. The questions:

- `repairagent`: did the recorded run resolve its bug? 20 runs have no label, and no trajectory says its outcome.
- `repairagent-action_category`: what kind of action each iteration of 40 runs takes.
- `repairagent-fixed`: the bugs that RepairAgent, ChatRepair and SelfAPR list as fixed, a rater a tool; who does not
  list a bug has not rated it. A bug whose recorded run failed may be among them.
- `repairagent-verdict`: how a person judges a fix against the developer's, in the person's words.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.datasets.benchmark import Gold, Item, SetWriter, run_item
from misstep_harness.datasets.iterations import literal_calls, one_line_iterations, results, steps_of
from misstep_harness.datasets.upstream import csv_rows, file_text, json_lines
from misstep_harness.errors import InputError
from misstep_harness.protocols import ReadFile
from misstep_harness.trajectory import Outcome, Source, Trajectory

NAME = "repairagent"
RATER = "authors"
RUNS = "trajectories.jsonl.gz"
TOOLS = {"RepairAgent": "final_list_of_fixed_bugs.txt", "ChatRepair": "chatrepair_all.txt", "SelfAPR": "selfAPR.txt"}
"""Tool → its list of fixed bugs."""

_HEADING = re.compile(r"#++ *+(.*[^ \n]) *+\Z")
_BUG = re.compile(r"([A-Za-z]+)[ _-](\d+)(?:\.java)?\Z")


class _Recorded(Struct, frozen=True):
    id: str
    bug: str
    resolved: bool | None
    thoughts_actions: str
    results_actions: str


class _Category(Struct, frozen=True):
    bug: str
    iteration: int
    category: str


class _RootPatches(Struct, frozen=True):
    bug: str
    fix_blocks: int
    bytes: int


class _Fix(Struct, frozen=True):
    bug: str
    patch: str
    verdict: str


def load(folder: Path, out: Path, read: ReadFile) -> None:  # noqa: ARG001 (the texts are in no known format)
    """Write `repairagent` and its three further questions."""
    recorded = list(json_lines(folder / RUNS, _Recorded))
    runs = {run.id: _trajectory(run, folder / RUNS, line) for line, run in enumerate(recorded, start=1)}
    questions = SetWriter(NAME, folder, out)
    labels = {True: "resolved", False: "unresolved"}
    questions.write(
        [run_item(run.id, {"bug": run.bug}) for run in recorded],
        [Gold(run.id, RATER, labels[run.resolved]) for run in recorded if run.resolved is not None],
        {"runs": [replace(run, outcome=Outcome()) for run in runs.values()]},
    )
    _write_categories(questions, runs)
    _write_fixed(questions)
    _write_verdicts(questions)


def _trajectory(run: _Recorded, path: Path, line: int) -> Trajectory:
    iterations = one_line_iterations(run.thoughts_actions, path, line)
    calls = [literal_calls(iteration.action) for iteration in iterations]
    return Trajectory(
        id=run.id,
        source=Source(format=NAME, file=RUNS, line=line, dataset=NAME),
        agent="RepairAgent",
        steps=steps_of(iterations, calls, results(run.results_actions, path, line)),
        outcome=Outcome() if run.resolved is None else Outcome(status="passed" if run.resolved else "failed"),
        extra={"bug": run.bug},
    )


def _write_categories(questions: SetWriter, runs: dict[str, Trajectory]) -> None:
    path = questions.folder / "action_categories.csv"
    items, gold = [], []
    for row in csv_rows(path, _Category):
        if row.bug not in runs:
            raise InputError(f"{row.bug} has a label, but no run", file=path, field="bug")
        step = row.iteration if row.iteration < len(runs[row.bug].steps) else None
        why = "" if step is not None else "the run has no such step"
        name = f"{row.bug}/{row.iteration}"
        items.append(Item(id=name, kind="misbehaviour", trajectory_id=row.bug, step=step, unaskable=why))
        gold.append(Gold(name, RATER, row.category))
    questions.write(items, gold, {"runs": runs.values()}, further="action_category")


def _write_fixed(questions: SetWriter) -> None:
    fixed = {tool: _bugs(questions.folder / file) for tool, file in TOOLS.items()}
    patches: defaultdict[str, dict[str, int]] = defaultdict(lambda: {"patch_files": 0, "fix_blocks": 0})
    for row in csv_rows(questions.folder / "root_patch_counts.csv", _RootPatches):
        patches[row.bug]["patch_files"] += 1
        patches[row.bug]["fix_blocks"] += row.fix_blocks
    unaskable = "the lists name bugs alone, the patches are not in them"
    items = [
        Item(
            id=bug, kind="patch", unaskable=unaskable, extra={"project": bug.partition("_")[0], **patches.get(bug, {})}
        )
        for bug in dict.fromkeys([*(bug for listed in fixed.values() for bug in listed), *patches])
    ]
    gold = [Gold(bug, tool, "fixed") for tool, listed in fixed.items() for bug in listed]
    questions.write(items, gold, further="fixed")


def _bugs(path: Path) -> list[str]:
    entries = re.split(r"[,\n]", file_text(path))
    return list(dict.fromkeys(_bug(entry.strip(), path) for entry in entries if entry.strip()))


def _bug(spelt: str, path: Path) -> str:
    match = _BUG.match(spelt)
    if match is None:
        raise InputError(f"{spelt!r} is not the name of a bug", file=path)
    return f"{match[1]}_{match[2]}"


def _write_verdicts(questions: SetWriter) -> None:
    fixes = list(_fixes(questions.folder / "fixes_implementation.txt"))
    judged = sorted({fix.verdict for fix in fixes if fix.verdict})
    items = [
        Item(
            id=str(number),
            kind="patch",
            patch=fix.patch,
            unaskable="" if fix.patch else "the file gives no patch",
            extra={"bug": fix.bug},
        )
        for number, fix in enumerate(fixes)
    ]
    gold = [Gold(str(number), RATER, fix.verdict) for number, fix in enumerate(fixes) if fix.verdict]
    questions.write(items, gold, further="verdict", labels=dict.fromkeys(judged, ""))


def _fixes(path: Path) -> Iterator[_Fix]:
    """Return the blocks of the file; a few headings have another number of marks or another case than the rest."""
    bug, section, texts = "", "", {"fix": "", "why": ""}
    for line in file_text(path).splitlines():
        heading = _HEADING.match(line)
        if heading is None:
            texts[section] = texts.get(section, "") + line + "\n"
            continue
        named = heading[1].rstrip(": ").lower()
        if named in texts and named:
            section = named
            continue
        if bug:
            yield _fix(bug, texts)
        bug, section, texts = heading[1], "", {"fix": "", "why": ""}
    if bug:
        yield _fix(bug, texts)


def _fix(bug: str, texts: dict[str, str]) -> _Fix:
    return _Fix(bug, texts["fix"].strip(), texts["why"].strip().rstrip(".").lower())
