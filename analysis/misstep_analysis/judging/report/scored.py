"""Keep what a run's scores were made from: if none of it has changed, they are not made again.

    scored.json   {"digest": "5d…", "text": "…"}

The digest covers the run, its benchmark and the code; `text` is what was printed.
"""

import hashlib
from contextlib import suppress
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from misstep_analysis.judging.judged_runs import JudgedRun, open_run
from misstep_analysis.stats.estimate import Estimate
from misstep_harness.benchmarks.inputs import inputs_of
from misstep_harness.journal.records import MANIFEST, REPORT, SCORES, VERDICTS, encode, replace_file
from misstep_harness.version import __version__

if TYPE_CHECKING:
    from misstep_analysis.judging.assessment import Assessment
SCORED = "scored.json"

_ROOMS = ("misstep_analysis", "misstep_harness")
_BLOCK = 1 << 20


class Scored(Struct, frozen=True):
    """What scores were made from, and what was printed of them."""

    digest: str
    text: str


_decode = msgspec.json.Decoder(Scored).decode


def scored(run: Path, benchmark: Path) -> Scored:
    """Score a run, unless its scores are made from the same as it is now; what that takes is imported then alone."""
    digest, earlier = "", None
    with suppress(OSError):  # a missing file is reported where it is read
        digest = _digest(run, benchmark)
    with suppress(OSError, UnicodeDecodeError, msgspec.DecodeError, RecursionError):
        earlier = _decode((run / SCORED).read_bytes())
    if earlier is not None and earlier.digest == digest and (run / SCORES).exists() and (run / REPORT).exists():
        return earlier
    from misstep_analysis.judging.report.assessment import scores_text

    result = Scored(digest, scores_text(write_scores(open_run(run, str(benchmark)))))
    replace_file(run / SCORED, encode(result))
    return result


def _digest(run: Path, benchmark: Path) -> str:
    """Return a digest of all that scores and page of a run follow from."""
    code = (file for room in map(files, _ROOMS) for file in sorted(Path(str(room)).rglob("*")) if file.suffix != ".pyc")
    digest = hashlib.sha256(encode([__version__, find_spec("matplotlib") is not None, inputs_of(benchmark)]))
    for file in (run / MANIFEST, run / VERDICTS, benchmark / "gold.csv", *filter(Path.is_file, code)):
        digest.update(b"%b\0%d\0" % (file.name.encode(), file.stat().st_size))
        with file.open("rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()


def kept_figures(run: Path) -> dict[str, Estimate]:
    """Return the figures of a scored run that limits can be set for, by name."""
    from misstep_analysis.judging.gate_figures import JudgeFigures, gate_figures

    return gate_figures(msgspec.json.decode((run / SCORES).read_bytes(), type=JudgeFigures))


def write_scores(run: JudgedRun) -> "Assessment":
    """Assess a run and write `scores.json` and `report.html` into its folder."""
    from misstep_analysis.judging.report.assessment import (  # with what draws, they take a second
        assessed,
        scores_text_json,
    )
    from misstep_analysis.judging.report.report import report_html

    assessment = assessed(run)
    replace_file(run.folder / SCORES, scores_text_json(assessment).encode())
    replace_file(run.folder / REPORT, report_html([run], [assessment]).encode())
    return assessment
