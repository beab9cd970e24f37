"""What `misstep datasets` prints for people."""

import shlex
from pathlib import Path
from typing import Any

from misstep.analysis.tables.wording import counted_text
from misstep.harness.datasets.benchmark import Benchmark
from misstep.harness.datasets.checking import CheckedFiles
from misstep.harness.escaping import plain
from misstep.harness.runs.fetch import Fetched

_FILES_NAMED = 5


def row_text(row: dict[str, Any]) -> str:
    """Return a set in the list."""
    size = f"{counted_text(row['files'], 'file')}, {row['bytes'] / 1e6:,.1f} MB"
    lines = [
        f"{row['name']}  ({row['licence']}; {size}; {'with a loader' if row['loader'] else 'files only'})",
        f"    {row['title']}",
        f"    {row['folder'] or _absent_text(row)}",
    ]
    if row["missing"]:
        lines.append(
            f"    {row['missing']:,} of the files are missing: `misstep datasets verify {row['name']}` names them"
        )
    if row["to_make"] and (row["missing"] or not row["folder"]):
        lines.append(f"    by hand, from {', '.join(row['origin'])}:")
        lines += [f"        {file}: {rule}" for file, rule in row["to_make"].items()]
    return "\n".join(lines)


def _absent_text(row: dict[str, Any]) -> str:
    by_hand, files = len(row["to_make"]), row["files"]
    if by_hand == files:
        return "not here, and made by hand: `fetch` cannot bring it"
    brought = f"{files - by_hand:,} of {files:,} files" if by_hand else "it"
    return f"not here: `misstep datasets fetch {row['name']}` brings {brought}"


def checked_text(one: CheckedFiles) -> str:
    """Return what was found of a set's files."""
    if one.complete:
        return f"{one.name}: ok, {counted_text(one.ok, 'file')}"
    parts = [
        f"{len(files):,} {what} ({', '.join(map(plain, files[:_FILES_NAMED]))}{more})"
        for what, files in (("differ", one.differs), ("missing", one.missing))
        if files
        for more in [", …" if len(files) > _FILES_NAMED else ""]
    ]
    return f"{one.name}: {'; '.join(parts)}; {one.ok:,} ok"


def fetched_text(one: Fetched) -> str:
    """Return what a fetch brought of a set."""
    fetched = counted_text(len(one.fetched), "file")
    line = f"{one.name}: {fetched} fetched, {len(one.kept):,} were there, in {one.folder}"
    return "\n".join([line, *(f"    to be made by hand: {file}: {rule}" for file, rule in one.to_make.items())])


def loaded_text(benchmark: Benchmark, folder: Path) -> str:
    """Return what was made of a set, where it is, and the command that reads its runs."""
    counts = ", ".join(f"{count:,} {what}" for what, count in benchmark.counts.items() if count)
    left_out = [f"    left out: {plain(one)}" for one in benchmark.left_out]
    next_line = f"    {shlex.join(['misstep', 'classify', str(folder)])}"
    further = [next_line] if benchmark.counts.get("trajectories") else []
    return "\n".join([f"{benchmark.name}: {counts}", f"    {folder}", *left_out, *further])
