"""Verdicts as scores that Inspect takes: `inspect_ai.scorer.precomputed_scores("JUDGE.jsonl")` reads a file a judge.

    {"id": "a1", "epoch": 1, "value": true, "answer": "yes", "explanation": "…", "metadata": {"status": "answered"}}

An item is a sample. Session ids of an eval log say the epoch from the second one on (`a1-e2`), where the first is there
too. A judge of yes and no has the values true and false, any other its labels. A verdict without a label has no record:
Inspect leaves the sample unscored, and no metric counts it.

Source: inspect_ai 0.3.285, `scorer/_precomputed.py` (https://github.com/UKGovernmentBEIS/inspect_ai).
"""

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from misstep_analysis.exports.opening import RunExport
from misstep_analysis.exports.secrets import Secrets
from misstep_harness.errors import UsageError
from misstep_harness.journal.records import encode

_NOT_IN_A_NAME = re.compile(r"[^\w@.+=-]+")
_TRUTH = {"yes": True, "no": False}
_METADATA = ("status", "score", "steps", "model")
_EPOCH = re.compile(r"(.{1,4000})-e([1-9][0-9]{0,5})", re.DOTALL)


def write_scores(run: RunExport, folder: Path, secrets: Secrets) -> dict[str, int]:
    """Write the labels of each judge as scores; gives the number of records of each, which is that of its labels."""
    labels, verdicts = labels_of_judges(run), run.table("verdicts")
    assert verdicts is not None  # noqa: S101 (`labels_of_judges` has looked)
    files = {judge: folder / f"{name}.jsonl" for judge, name in names_as_files(labels).items()}
    items = {row["item"] for row in verdicts.rows()}
    lines: dict[str, list[bytes]] = {judge: [] for judge in labels}
    for row in secrets.checked(verdicts):
        if row["label"] is not None:
            is_truth = labels[row["judge"]] <= _TRUTH.keys()
            lines[row["judge"]].append(encode(_record(row, items, is_truth=is_truth)) + b"\n")
    for judge, file in files.items():
        file.write_bytes(b"".join(lines[judge]))
    return {judge: len(records) for judge, records in lines.items()}


def _record(row: dict[str, Any], items: Collection[str], *, is_truth: bool) -> dict[str, Any]:
    label = row["label"]
    return {
        **_sample(row["item"], items),
        "value": _TRUTH[label] if is_truth else label,
        "answer": label,
        "explanation": row["rationale"] or None,
        "metadata": {name: row[name] for name in _METADATA if row.get(name) is not None},
    }


def _sample(item: str, items: Collection[str]) -> dict[str, Any]:
    """Return the sample and the epoch that an item is of; an item that no other is an epoch of is of every epoch."""
    later = _EPOCH.fullmatch(item)
    if later is not None and later[1] in items:
        return {"id": later[1], "epoch": int(later[2])}
    return {"id": item, "epoch": 1} if f"{item}-e2" in items else {"id": item}


def labels_of_judges(run: RunExport) -> dict[str, set[str]]:
    """Return judge → the labels that it gave; a run without verdicts is a `UsageError`."""
    verdicts = run.table("verdicts")
    if verdicts is None:
        raise UsageError(
            f"a run of `misstep {run.manifest.command}` has no verdicts",
            "Name a run of classify, judge run or triage, or another form with --to.",
        )
    labels: dict[str, set[str]] = {}
    for row in verdicts.rows():
        labels_of_judge = labels.setdefault(row["judge"], set())
        if row["label"] is not None:
            labels_of_judge.add(row["label"])
    settings = run.manifest.settings
    return labels or {str(judge): set() for judge in settings.get("categories", [settings.get("judge", "judge")])}


def names_as_files(judges: Iterable[str]) -> dict[str, str]:
    """Judge → the name of its file, and no other's."""
    keys: dict[str, str] = {}
    for judge in judges:
        key = _NOT_IN_A_NAME.sub("_", judge)
        while key in keys.values():
            key += "_"
        keys[judge] = key
    return keys
