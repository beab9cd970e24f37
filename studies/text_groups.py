"""The reasons or the errors of a run, grouped by their words."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from misstep.analysis.measures.text_groups import GroupedTexts, TextGroup, group_texts
from misstep.analysis.tables.wording import counted_text
from misstep.harness.errors import UsageError
from misstep.harness.escaping import plain
from misstep.harness.journal.records import ATTEMPT_RECORDS, VERDICT_RECORDS, VERDICTS
from misstep.harness.runs.opened import OpenRun
from misstep.studies.kinds import kind_in

Texts = Literal["reasons", "errors"]

MOST_TEXTS = 20_000

_MEMBERS_SHOWN = 8
_EXAMPLE_SHOWN = 200


def texts_of(run: Path, what: Texts) -> list[tuple[str, str]]:
    """Name and text of each reason or error of a run, those of sessions that show nothing left out."""
    kind, opened = kind_in(run)
    if (run / VERDICTS).is_file():
        texts = list(_of_verdicts(opened, what, classified=kind.by_category))
    elif (run / ATTEMPT_RECORDS.file).is_file() and what == "errors":
        texts = [(one.id, one.error) for one in opened.read(ATTEMPT_RECORDS) if one.error]
    else:
        raise UsageError(f"a run of `misstep {opened.manifest.command}` has no {what}", "Name a run with verdicts.")
    if not texts:
        raise UsageError(f"no record of {run} has {what}", "There is nothing to group.")
    if len(texts) > MOST_TEXTS:
        raise UsageError(f"{run} has {len(texts):,} {what}", f"At most {MOST_TEXTS:,} are grouped.")
    return texts


def _of_verdicts(run: OpenRun, what: Texts, *, classified: bool) -> Iterator[tuple[str, str]]:
    for verdict in run.read(VERDICT_RECORDS):
        if what == "errors":
            text = verdict.error or ""
        else:
            text = "" if classified and verdict.label != "yes" else verdict.rationale
        if text.strip():
            yield (f"{verdict.item} ({verdict.judge})" if classified else verdict.item), text


def grouped(run: Path, what: Texts, least: int = 3, seed: int = 0) -> tuple[GroupedTexts, dict[str, str]]:
    """Return the groups, and the text of each group's example."""
    texts = texts_of(run, what)
    groups, by_name = group_texts(texts, least, seed), dict(texts)
    return groups, {one.example: by_name[one.example] for one in groups.groups}


def groups_text(grouping: GroupedTexts, examples: dict[str, str], what: Texts) -> str:
    """Return the groups for a terminal, each with its members, an example and its stability."""
    in_groups = grouping.n - len(grouping.alone)
    lines = [
        f"{in_groups:,} of {grouping.n:,} {what} are in {counted_text(len(grouping.groups), 'group')} of like words; "
        f"{len(grouping.alone):,} stand alone.",
        "The groups are help with reading, no finding: their number and sizes depend on how they were made.",
    ]
    for place, group in enumerate(grouping.groups, start=1):
        lines += ["", *_group_lines(place, group, examples[group.example])]
    return "\n".join(lines) + "\n"


def _group_lines(place: int, group: TextGroup, example: str) -> Iterator[str]:
    yield f"{place}. {', '.join(map(plain, group.words)) or 'no word sets it apart'}"
    yield f"   stability {group.stability:.2f}, {counted_text(len(group.members), 'text')}"
    short = " ".join(example.split())
    cut = f"{short[:_EXAMPLE_SHOWN]}…" if len(short) > _EXAMPLE_SHOWN else short
    yield f"   such as {plain(group.example)}: {plain(cut)}"
    more = len(group.members) - _MEMBERS_SHOWN
    yield f"   members: {plain(', '.join(group.members[:_MEMBERS_SHOWN]))}{f' and {more:,} more' if more > 0 else ''}"
