"""One result of a scan of Inspect Scout, with all of its columns.

Source: inspect_scout 0.6.1, `_recorder/buffer.py` (`RecorderBuffer.record`) and `_scanner/result.py`
(`ResultReport.to_df_columns`), https://github.com/meridianlabs-ai/inspect_scout.
"""

import hashlib

from msgspec import Struct

_SIGNS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_ID_LENGTH = 22
"""The ids of Scout are those of shortuuid: 22 characters without those that look alike."""


class ScanResult(Struct, frozen=True):
    """A row of `SCANNER.parquet`: the transcript, the scan and its scanner, the result, and what it took."""

    transcript_id: str
    transcript_source_type: str = "misstep"
    transcript_source_id: str | None = None
    transcript_source_uri: str | None = None
    transcript_date: str | None = None
    transcript_task_set: str | None = None
    transcript_task_id: str | None = None
    transcript_task_repeat: int | None = None
    transcript_agent: str | None = None
    transcript_agent_args: str | None = None
    transcript_model: str | None = None
    transcript_model_options: str | None = None
    transcript_score: str | None = None
    transcript_score_explanation: str | None = None
    transcript_success: bool | None = None
    transcript_message_count: int | None = None
    transcript_total_time: float | None = None
    transcript_total_tokens: int | None = None
    transcript_error: str | None = None
    transcript_limit: str | None = None
    transcript_trust_content: bool | None = None
    transcript_metadata: str = "{}"
    scan_id: str = ""
    scan_tags: str = "[]"
    scan_metadata: str = "{}"
    scan_git_origin: str | None = None
    scan_git_version: str | None = None
    scan_git_commit: str | None = None
    scanner_key: str = ""
    scanner_name: str = ""
    scanner_version: int = 0
    scanner_package_version: str | None = None
    scanner_file: str | None = None
    scanner_params: str = "{}"
    input_type: str = "transcript"
    input_ids: str = "[]"
    input: str = ""
    input_data: str | None = None
    uuid: str = ""
    label: str | None = None
    value: str | None = None
    value_type: str = "null"
    answer: str | None = None
    explanation: str | None = None
    metadata: str = "{}"
    message_references: str = "[]"
    event_references: str = "[]"
    scan_error: str | None = None
    scan_error_traceback: str | None = None
    scan_error_type: str | None = None
    validation_target: str | None = None
    validation_result: str | None = None
    validation_predicate: str | None = None
    validation_split: str | None = None
    scan_total_tokens: int = 0
    scan_model_usage: str = "{}"
    scan_events: str = "[]"
    timestamp: str = ""


def id_of(content: bytes) -> str:
    """Return an id in the form of Scout's, the same for the same content."""
    number, base = int.from_bytes(hashlib.sha256(content).digest()[:16], "big"), len(_SIGNS)
    return "".join(_SIGNS[number // base**place % base] for place in range(_ID_LENGTH))
