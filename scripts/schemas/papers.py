"""The documents of commands about papers and data sets."""

from misstep_analysis.audit.findings import Finding
from misstep_harness.datasets.fetching import CheckedFiles
from misstep_harness.runs.fetch import Fetched
from scripts.schemas.forms import Form, fields_of

DOCUMENTS: dict[str, Form] = {
    "reproduce": {
        "index": str,
        "seed": int,
        "pages": [
            {
                "notebook": str,
                "title": str,
                "finding": str,
                "error": str | None,
                "statuses": dict[str, int],
                "figures": int,
                "page": str,
                "tables": [dict[str, str]],
            }
        ],
    },
    "audit": {
        "checked": int,
        "findings": [
            {
                name: kind
                for name, kind in {**fields_of(Finding), "explanation": str}.items()
                if name in {"source", "row", "check", "status", "printed", "computed", "explanation"}
            }
        ],
    },
    "datasets list": [
        {
            **dict.fromkeys(("name", "title", "licence", "citation", "left_out", "loader"), str),
            "origin": [str],
            "files": int,
            "bytes": int,
            "folder": str | None,
            "missing": int,
            "to_make": dict[str, str],
        }
    ],
    "datasets fetch": [Fetched],
    "datasets verify": [{**fields_of(CheckedFiles), "status": str}],
}
