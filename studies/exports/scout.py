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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from misstep.harness.errors import UsageError
from misstep.harness.journal.records import MANIFEST, encode
from misstep.harness.version import __version__
from misstep.studies.exports.opening import RunExport
from misstep.studies.exports.parquet import ParquetRows, schema_of
from misstep.studies.exports.scan_results import ScanResult, id_of
from misstep.studies.exports.secrets import Secrets
from misstep.studies.kinds.columns import Values, columns_of

_TRUTH = {"yes": "true", "no": "false"}
_ERRORS = ("unreadable", "refused", "failed")
_TOLD = ("status", "score", "steps", "subcategory", "evidence", "access", "prompt", "seconds", "cost_usd", "cached")
_NOT_IN_A_NAME = re.compile(r"[^\w@.+=-]+")


class Scanner(Struct, frozen=True):
    """A judge as a scanner: its key, its name and the type of its values."""

    key: str
    name: str
    value_type: str


def write_scan(run: RunExport, folder: Path, secrets: Secrets) -> dict[str, int]:
    """Write the verdicts of a run as a scan; gives the number of results of each scanner."""
    labels, scan = labels_of_judges(run), id_of((run.folder / MANIFEST).read_bytes())
    schema = schema_of(columns_of(ScanResult))
    place = folder / f"scan_id={scan}"
    place.mkdir()
    keys = names_as_files(labels)
    summaries: dict[str, dict[str, Any]] = {key: _summary() for key in keys.values()}
    with ExitStack() as stack, (place / "_errors.jsonl").open("wb") as errors:
        files = {
            judge: stack.enter_context(ParquetRows(place / f"{key}.parquet", schema)) for judge, key in keys.items()
        }
        for verdict, session in _with_sessions(run, secrets):
            judge = verdict["judge"]
            known = "boolean" if labels[judge] <= _TRUTH.keys() else "string"
            scanner = Scanner(keys[judge], judge, known if labels[judge] else "null")
            result = _result(verdict, session, run, scan, scanner)
            files[judge].add(msgspec.structs.asdict(result))
            _count(summaries[result.scanner_key], result)
            if result.scan_error is not None:
                who = {"transcript_id": result.transcript_id, "scanner": result.scanner_key, "error": result.scan_error}
                more = {"traceback": "", "refusal": result.scan_error_type == "refusal"}
                errors.write(encode(who | more) + b"\n")
    (place / "_scan.json").write_bytes(_scan(run, scan, keys))
    (place / "_summary.json").write_bytes(encode({"complete": True, "scanners": summaries}))
    return {judge: files[judge].n for judge in labels}


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


def _with_sessions(run: RunExport, secrets: Secrets) -> Iterator[tuple[Values, Values]]:
    """Return each verdict with the session that it is on; of a run without sessions with nothing."""
    verdicts, sessions = run.table("verdicts"), run.table("sessions")
    assert verdicts is not None  # noqa: S101 (`labels_of_judges` has looked)
    if sessions is None:
        yield from ((row, {}) for row in secrets.checked(verdicts))
        return
    judged = groupby(secrets.checked(verdicts), itemgetter("item"))
    for (_, rows), session in zip(judged, secrets.checked(sessions), strict=True):
        yield from ((row, session) for row in rows)


def _result(verdict: Values, session: Values, run: RunExport, scan: str, scanner: Scanner) -> ScanResult:
    item, label = verdict["item"], verdict["label"]
    value = _TRUTH.get(label) if scanner.value_type == "boolean" else label
    tokens = {name: verdict[name] for name in ("input_tokens", "output_tokens")}
    usage = {name: count or 0 for name, count in tokens.items()} if set(tokens.values()) != {None} else {}
    total, failed = sum(usage.values()), verdict["status"] in _ERRORS
    values = {name: verdict[name] for name in _TOLD if verdict.get(name) is not None}
    file, line = verdict.get("file") or None, verdict.get("line")
    return ScanResult(
        transcript_id=item,
        transcript_source_id=run.manifest.inputs.digest,
        transcript_source_uri=file if line is None else f"{file}:{line}",
        transcript_date=session.get("started"),
        transcript_agent=session.get("agent"),
        transcript_model=session.get("model"),
        transcript_message_count=session.get("n_steps"),
        scan_id=scan,
        scanner_key=scanner.key,
        scanner_name=scanner.name,
        input_ids=_json([item]),
        input=_json({"transcript_id": item, "metadata": {}, "messages": [], "events": [], "timelines": []}),
        uuid=id_of(_json([scan, scanner.name, item]).encode()),
        value=value,
        value_type=scanner.value_type,
        answer=label,
        explanation=verdict["rationale"] or None,
        metadata=_json(values),
        scan_error=f"{verdict['status']}: {verdict['error'] or 'no reason is recorded'}" if failed else None,
        scan_error_traceback="" if failed else None,
        scan_error_type="refusal" if verdict["status"] == "refused" else None,
        scan_total_tokens=total,
        scan_model_usage=_json({verdict["model"] or "unknown": usage | {"total_tokens": total}} if usage else {}),
        timestamp=run.manifest.finished,
    )


def _json(value: Any) -> str:
    return encode(value).decode()


def names_as_files(judges: Iterable[str]) -> dict[str, str]:
    """Judge → its name as a scanner's, which is also the name of a file and no other's."""
    keys: dict[str, str] = {}
    for judge in judges:
        key = _NOT_IN_A_NAME.sub("_", judge)
        while key in keys.values():
            key += "_"
        keys[judge] = key
    return keys


def _summary() -> dict[str, Any]:
    counts = {"scans": 0, "results": 0, "errors": 0}
    return counts | {"validation": None, "metrics": None, "tokens": 0, "model_usage": {}}


def _count(summary: dict[str, Any], result: ScanResult) -> None:
    """Count a result as Scout does: false is none."""
    summary["scans"] += 1
    summary["results"] += result.value is not None and (result.value_type, result.value) != ("boolean", "false")
    summary["errors"] += result.scan_error is not None
    summary["tokens"] += result.scan_total_tokens
    for model, usage in msgspec.json.decode(result.scan_model_usage).items():
        sums = summary["model_usage"].setdefault(model, dict.fromkeys(usage, 0))
        summary["model_usage"][model] = {name: sums[name] + count for name, count in usage.items()}


def _scan(run: RunExport, scan: str, keys: Mapping[str, str]) -> bytes:
    manifest = run.manifest
    spec = {
        "scan_id": scan,
        "scan_name": run.name,
        "timestamp": manifest.finished,
        "metadata": {"command": f"misstep {manifest.command}", "digest": manifest.inputs.digest},
        "packages": {"misstep": __version__},
        "options": {"max_transcripts": 25},
        "scanners": {key: {"name": judge, "version": 0, "params": {}} for judge, key in keys.items()},
    }
    return msgspec.json.format(encode(spec), indent=2) + b"\n"
