"""What a run's scores were made from: where none of it has changed, they are not made again.

    scored.json   {"digest": "5d…", "text": "…"}

stands beside `scores.json` and `report.html`. The digest covers the run, its benchmark and the code; `text` is what was
printed.
"""

import hashlib
from importlib.util import find_spec
from pathlib import Path

import msgspec
from msgspec import Struct

from harness.journal.records import MANIFEST, REPORT, SCORES, VERDICTS, encode, replace_file
from harness.runs.benchmark_inputs import inputs_of
from harness.version import __version__

SCORED = "scored.json"

_ROOMS = ("analysis", "harness", "misstep", "studies")
_BLOCK = 1 << 20


class Scored(Struct, frozen=True):
    """What scores were made from, and what was printed of them."""

    digest: str
    text: str


_decode = msgspec.json.Decoder(Scored).decode


def scored_from(run: Path, benchmark: Path) -> str:
    """A digest of all that scores and page of a run follow from.

    Raises
    ------
    InputError
        The benchmark cannot be read.
    OSError
        Another file cannot be read.
    """
    top = Path(__file__).parents[2]
    code = (file for room in _ROOMS for file in sorted((top / room).rglob("*")) if "__pycache__" not in file.parts)
    digest = hashlib.sha256(encode([__version__, find_spec("matplotlib") is not None, inputs_of(benchmark)]))
    for file in (run / MANIFEST, run / VERDICTS, benchmark / "gold.csv", *filter(Path.is_file, code)):
        digest.update(b"%b\0%d\0" % (file.name.encode(), file.stat().st_size))
        with file.open("rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()


def kept_scores(run: Path, digest: str) -> Scored | None:
    """What was printed of scores that were made from the same; `None` where they are to be made."""
    try:
        scored = _decode((run / SCORED).read_bytes())
    except (OSError, UnicodeDecodeError, msgspec.DecodeError, RecursionError):
        return None
    return scored if scored.digest == digest and (run / SCORES).exists() and (run / REPORT).exists() else None


def keep_scores(run: Path, digest: str, text: str) -> Scored:
    """Note what scores were made from, once they and their page are written."""
    scored = Scored(digest, text)
    replace_file(run / SCORED, encode(scored))
    return scored
