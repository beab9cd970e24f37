"""Where the places of the reflexive document open, which numbers are not results, and the records of the runs."""

import csv
import re
from collections import defaultdict
from pathlib import Path

from tests.analysis.paper_texts import PaperText

_MODES = tuple(
    (f"Failure Mode {mode}{part}", opening)
    for mode in range(1, 7)
    for part, opening in (
        ("", f"Failure Mode {mode}:"),
        (", witness", "The witness"),
        ("", "Root cause"),
        (", mechanism", "Harness mechanism"),
        ("", "Generalization"),
    )
)

TEXT = PaperText(
    file="002",
    places=(
        ("Status", "Status:"),
        ("Premise", "Premise¶"),
        *_MODES,
        ("What this list is", "What this list is"),
        ("Known limitations", "Known limitations"),
        ("Companion artifacts", "Companion artifacts"),
        ("Versioning note", "Versioning note"),
    ),
    no_results={
        "names of runs, pages and parts": (
            "Run 1 |Run 5;|journey/23|journey/14|journey/15|run-20260411-013326|failure mode 3|Tier 3"
        ),
        "words that count what the sentence lists": "Two cleaner alternatives",
        "what a table of the runs repeats from another line": "9-hour mark|84/84|29 non-reboot + 15 reboot",
        "a count that a table of the runs calls derived": " 2 14 12 of 14",
    },
)

_RECORDS = {
    "runs.csv": ("source_line", ("printed_value",)),
    "category_rates.csv": ("source_line", ("printed_rate", "numerator", "denominator", "note")),
    "tool_calls_fm1.csv": ("source_lines", ("call_s", "result_s")),
}
_NUMBERED = re.compile(r"(journey|architecture|improvements)/([\d.]+)-")


def further_places(data_folder: Path) -> dict[str, str]:
    """What stands at each line of the project's journal that a table of its runs was taken from."""
    result: dict[str, str] = defaultdict(str)
    for name, (line, fields) in _RECORDS.items():
        with (data_folder / "gemmaforge" / name).open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                result[_place(row["source_path"], row[line])] += " ".join(row[field] for field in fields) + " "
    return dict(result)


def _place(path: str, lines: str) -> str:
    page = path.removeprefix("docs/").removeprefix("journal/").removesuffix(".md")
    numbered = _NUMBERED.match(page)
    name = "/".join(numbered.groups()) if numbered else page
    return f"{name}, {'lines' if '-' in lines else 'line'} {lines}"
