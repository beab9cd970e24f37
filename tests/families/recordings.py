"""Made-up files in each format: small, with all that a reader must place; the folders beside this file hold them."""

import json
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent


def recording_of(name: str) -> bytes:
    """The recording of a run in a format, a JSON value a line."""
    return _content("recorded_runs", name)


def verdicts_of(name: str) -> bytes:
    """The file of verdicts in a form of another tool."""
    return _content("recorded_verdicts", name)


@cache
def _content(folder: str, name: str) -> bytes:
    (file,) = (_HERE / folder).glob(f"{name}.*")
    content = file.read_bytes()
    return json.dumps(json.loads(content)).encode() if file.suffix == ".json" else content
