"""Measure edits by `python -m benchmarks edits [--cases N] [--seed S]`, and write RESULTS.md beside this.

The appliers were worked on with seeds 1 and 2; the default is another.
"""

import argparse
import datetime
import platform
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.edits.appliers import AIDER, PACKAGES, TOOLS, Outcome, environment, ours, theirs
from benchmarks.edits.damages import DAMAGES, made_case
from benchmarks.edits.damages.cases import FORMATS, Case
from benchmarks.edits.made_edits import source_lines, sources
from misstep.analysis.stats.proportions import wilson

RESULTS = Path(__file__).with_name("RESULTS.md")
COLUMNS = ("applied right", "refused right", "applied wrong without a word", "refused wrongly")
HALF = "refused, and the file is changed"

Counts = Mapping[str, Counter[str]]


def main(arguments: Sequence[str]) -> None:
    """Make the cases, let everyone apply them, count."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.edits")
    parser.add_argument("--cases", type=int, default=200, help="cases of each damage and format")
    parser.add_argument("--seed", type=int, default=7, help="random seed for the cases")
    parser.add_argument("--only-ours", action="store_true", help="leave the appliers of others out")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    files = [lines for path in sources() if (lines := source_lines(path)) is not None]
    others = None if options.only_ours else environment()
    by_tool: dict[tuple[str, str], Counts] = {}
    for name in FORMATS:
        cases = [
            case
            for damage in DAMAGES
            for place in range(options.cases)
            if (case := made_case(options.seed, damage, name, place, files)) is not None
        ]
        by_tool[name, "Misstep"] = counted(cases, ours(cases))
        for tool in TOOLS[name] if others else ():
            by_tool[name, tool] = counted(cases, theirs(tool, cases, others))
        print(f"{name}: {len(cases):,} cases, {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    text = page(by_tool, options.cases, options.seed, len(files))
    RESULTS.write_text(text, "utf-8")
    print(text)


def counted(cases: Sequence[Case], outcomes: Iterable[Outcome]) -> Counts:
    """Return how often an applier was right, by damage."""
    counts: dict[str, Counter[str]] = {}
    for case, outcome in zip(cases, outcomes, strict=True):
        counts.setdefault(case.damage, Counter())[column_of(case, outcome)] += 1
        counts[case.damage][HALF] += not outcome.applied and outcome.file != case.file
    return counts


def column_of(case: Case, outcome: Outcome) -> str:
    """Return which column a case belongs to."""
    if not outcome.applied:
        return "refused wrongly" if case.tellable else "refused right"
    right = outcome.file == case.meant and not outcome.outside
    return "applied right" if right else "applied wrong without a word"


def page(by_tool: Mapping[tuple[str, str], Counts], cases: int, seed: int, files: int) -> str:
    """Return the results as Markdown: all damage together first, then by damage."""
    ours = sum(
        (sum(counts.values(), Counter()) for (_, tool), counts in by_tool.items() if tool == "Misstep"), Counter()
    )
    wrong, n = ours["applied wrong without a word"], sum(ours[column] for column in COLUMNS)
    lines = [
        "# Edits with known truth",
        "",
        f"Misstep applies {wrong} of {n:,} replies wrong without a word (95% interval {_interval(wrong, n)}).",
        "",
        f"Made by `python -m benchmarks edits --cases {cases} --seed {seed}` on {datetime.date.today()}, Python"  # noqa: DTZ011
        f" {platform.python_version()}, from {files} source files of the standard library; the rules were worked out on"
        f" seeds 1 and 2. The others: git, GNU patch, {', '.join((*PACKAGES[:2], AIDER))}, its"
        " appliers alone, with a stand-in for what surrounds them.",
        "",
        "*Applied right*: the file is what the author meant. *Refused right*: reply and file leave several readings, or"
        " none. *Refused wrongly*: they leave one. Tools without fences got what is in the fence. In brackets: how"
        " often a tool refused and had changed the file all the same. Wilson intervals, 95%.",
        "",
        f"| format | applier | cases | {' | '.join(COLUMNS)} |",
        f"|---|---|--:|{'--:|' * len(COLUMNS)}",
        *(_row(name, tool, sum(counts.values(), Counter())) for (name, tool), counts in by_tool.items()),
    ]
    for name in dict.fromkeys(name for name, _ in by_tool):
        tools = [tool for of, tool in by_tool if of == name]
        lines += ["", f"## {name}", "", "Right (applied or refused) / wrong without a word / refused wrongly.", ""]
        lines += [f"| damage | {' | '.join(tools)} |", f"|---|{'--:|' * len(tools)}"]
        for damage in by_tool[name, tools[0]]:
            cells = [_cell(by_tool[name, tool][damage]) for tool in tools]
            lines.append(f"| {damage} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _row(name: str, tool: str, counts: Counter[str]) -> str:
    n = sum(counts[column] for column in COLUMNS)
    cells = [f"{counts[column]:,} ({_interval(counts[column], n)})" for column in COLUMNS]
    if counts[HALF]:
        cells[1] += f" [{counts[HALF]}]"
    return f"| {name} | {tool} | {n:,} | {' | '.join(cells)} |"


def _cell(counts: Counter[str]) -> str:
    right = counts["applied right"] + counts["refused right"]
    return f"{right} / {counts['applied wrong without a word']} / {counts['refused wrongly']}"


def _interval(count: int, n: int) -> str:
    share = wilson(count, n)
    return f"{100 * (share.low or 0):.2f}–{100 * (share.high or 0):.2f}%"


if __name__ == "__main__":
    main(sys.argv[1:])
