"""The data card of curated runs: a README whose front matter names the files and the types of their columns.

The front matter is that of the Hugging Face hub's data cards, so that `datasets.load_dataset(FOLDER, "keep")` finds the
file.
"""

from collections.abc import Iterator

from msgspec import Struct
from msgspec import inspect as types

from misstep_analysis.tables import Evidence
from misstep_analysis.tables.text import markdown_text
from misstep_analysis.tables.wording import counted_text
from misstep_analysis.triage.curation import ACTIONS, Curation, curation_table

RUNS, CARD = "runs.jsonl", "README.md"


class CuratedEvidence(Struct, frozen=True):
    """One piece of evidence, with all of its columns."""

    kind: str
    where: str
    text: str


class ChatFunction(Struct, frozen=True):
    """What a call calls: the name of the tool, and its arguments as JSON text."""

    name: str
    arguments: str


class ChatCall(Struct, frozen=True):
    """A call of a tool."""

    id: str
    function: ChatFunction
    type: str = "function"


class ChatMessage(Struct, frozen=True):
    """One message of a run, in the form of the chat API of OpenAI; `tool_call_id` is that of the call it answers."""

    role: str
    content: str
    reasoning_content: str | None = None
    tool_calls: tuple[ChatCall, ...] = ()
    tool_call_id: str | None = None


class CuratedRun(Struct, frozen=True):
    """One run as the files have it: the same columns of the same types in each line.

    A missing `outcome`, `label`, `subcategory` or `trajectory` is empty, a missing `reward` or `confidence` null.
    `reward` is the recorded one, else 1 for a pass and 0 for a failure. `trajectory` is relative to the folder.
    """

    id: str
    task: str
    outcome: str
    reward: float | None
    label: str
    subcategory: str
    action: str
    confidence: float | None
    reason: str
    evidence: tuple[CuratedEvidence, ...]
    trajectory: str
    messages: tuple[ChatMessage, ...] = ()


_FIGURES = ("reward", "confidence")
_MEANINGS = {
    "id": "the run",
    "task": "the task that it is of",
    "outcome": "passed or failed, as recorded; empty where it was not",
    "reward": "as recorded; without a recorded reward 1 for a pass and 0 for a failure",
    "label": "whose fault the run is by the judge; empty where it gave none",
    "subcategory": "the finer label, where the judge names one",
    "action": "keep, filter, rerun, repair_task or undecided",
    "confidence": "the judge's certainty of its label; where it says none, the share of such verdicts of its that were "
    "right on recorded generated cases, if there are any",
    "reason": "what the action follows from",
    "evidence": "what the label rests on: kind, place and text of each piece",
    "trajectory": "the recorded run, relative to this folder",
    "messages": "the recorded run as chat messages with calls of tools, as training tools read them",
}


class CardAbout(Struct, frozen=True):
    """The origin of curated runs."""

    judge: str
    source: str
    evidence: Evidence
    command: str
    version: str


_TEXT = """---
pretty_name: Curated runs of agents
tags:
- agent-trajectories
- failure-attribution
configs:
{configs}
dataset_info:
{features}
---

# Curated runs of agents

{finding}

The runs are those of {source} ({evidence} cases). The verdicts are those of {judge}.

## Files

{files}

```python
from datasets import load_dataset

runs = load_dataset("json", data_files="runs.jsonl", split="train")
```

`messages` of `keep.jsonl` are what tools for supervised training read; `misstep export` writes the folder as Parquet.

## Columns

{columns}

{table}

## How it was made

    {command}

by Misstep {version}, with `--curate`.

## Licence

None is set: the runs are yours, or their authors'. Add `license:` to the head of this file before you publish it.
"""


def card_text(about: CardAbout, curated: Curation) -> str:
    """Return the data card."""
    table = curation_table(curated, about.judge, about.source, about.evidence)
    configs = ["runs", *(name for name in ACTIONS if curated.counts[name])]
    return _TEXT.format(
        configs="\n".join(f"- config_name: {name}\n  data_files: {name}.jsonl" for name in configs),
        features="\n".join(f"- config_name: {name}\n  features:\n" + "\n".join(_features()) for name in configs),
        finding=table.finding,
        source=about.source,
        evidence=about.evidence,
        judge=about.judge,
        files="\n".join(_files(curated)),
        columns="\n".join(f"- `{name}`: {meaning}" for name, meaning in _MEANINGS.items()),
        table=markdown_text(table),
        command=about.command,
        version=about.version,
    )


def _files(curated: Curation) -> Iterator[str]:
    yield f"- `{RUNS}`: all {counted_text(curated.n, 'run')}, whatever becomes of them"
    for name in ACTIONS:
        count = curated.counts[name]
        yield f"- `{name}.jsonl`: {counted_text(count, 'run')}" if count else f"- no run has the action `{name}`"


def _features() -> Iterator[str]:
    for column in types.type_info(CuratedRun).fields:  # type: ignore[attr-defined]
        yield from _feature(column.encode_name, column.type, "  ")


def _feature(name: str, kind: types.Type, indent: str) -> Iterator[str]:
    """A column as the front matter names it: a list with what is in it, a struct with its fields, or a plain type."""
    yield f"{indent}- name: {name}"
    if isinstance(kind, types.VarTupleType):
        kind, inside = kind.item_type, "list"
    else:
        inside = "struct"
    if isinstance(kind, types.StructType):
        yield f"{indent}  {inside}:"
        for field in kind.fields:
            yield from _feature(field.encode_name, field.type, f"{indent}  ")
    else:
        yield f"{indent}  dtype: {'float64' if name in _FIGURES else 'string'}"
