"""Verdicts as a scan of Inspect Scout: `inspect_scout.scan_results_df` and `scan_status` open the folder.

    scan_id=…/_scan.json          the scan and its scanners
    scan_id=…/_summary.json       the number of scans, results and errors of each scanner
    scan_id=…/_errors.jsonl       one error a line
    scan_id=…/SCANNER.parquet     one result a row

A judge is a scanner and an item a transcript; the transcripts themselves are not in the folder. A judge of yes and no
has the values true and false, any other its labels. A verdict without a label has the value null; where the answer
failed, was refused or could not be read, the row is an error. All rows of a scanner have one type of value, or Scout
would read true and false as texts.

Source: inspect_scout 0.6.1, `_recorder/file.py`, `_recorder/summary.py`, `_scanspec.py`
(https://github.com/meridianlabs-ai/inspect_scout).
"""

import re
from collections.abc import Iterable

from misstep.harness.errors import UsageError
from misstep.studies.exports.opening import RunExport

_NOT_IN_A_NAME = re.compile(r"[^\w@.+=-]+")


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
    """Judge → its name as a scanner's, which is also the name of a file and no other's."""
    keys: dict[str, str] = {}
    for judge in judges:
        key = _NOT_IN_A_NAME.sub("_", judge)
        while key in keys.values():
            key += "_"
        keys[judge] = key
    return keys
