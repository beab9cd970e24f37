"""A few recorded cases generated and judged again, in the sandbox: verdicts have to come out as they are recorded."""

import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import tomli_w
from msgspec import Struct

from misstep.harness.clients import ClientSettings
from misstep.harness.errors import MisstepError, SandboxMissing
from misstep.harness.generate.triage.draws import Unit, units
from misstep.harness.generate.triage.family import families
from misstep.harness.journal.records import encode_lines, read_triage_verdicts
from misstep.harness.records.attribution import FAULTS, TriageVerdict
from misstep.harness.runs.judging.judge import run_judge
from misstep.harness.runs.judging.known_judges import known_judge
from misstep.harness.runs.triage.case_folders import make_unit
from misstep.harness.workspace import find_sandbox
from misstep.studies.triage_recording import open_recording, recorded_about, recordings

SAMPLE = 1
"""Units of the recording, each of one case or of two from nearly the same run."""


class JudgedAgain(Struct, frozen=True):
    """Pairs of a recorded verdict and the same given again; a sentence where none could be."""

    pairs: tuple[tuple[TriageVerdict, TriageVerdict], ...] = ()
    absent: str = ""

    def check(self) -> None:
        """Say where verdicts came out otherwise than they are recorded."""
        different = [
            f"{again.judge} on {again.item} ({_answer_text(recorded)}, now {_answer_text(again)})"
            for recorded, again in self.pairs
            if _answer_text(recorded) != _answer_text(again)
        ]
        if different:
            raise MisstepError(
                f"verdicts given again differ from their recording: {', '.join(different)}",
                "Find out why, or record them anew with `python -m studies.triage_recording`.",
            )


def _answer_text(verdict: TriageVerdict) -> str:
    return f"{verdict.label or verdict.status} {verdict.subcategory}".rstrip()


def judged_again(folder: Path | None = None) -> JudgedAgain:
    """Generate the first units of the recording and have its judges judge them again."""
    recorded = recordings(folder)
    if not recorded:
        return JudgedAgain(absent="No judge of triage is recorded.")
    try:
        find_sandbox()
    except SandboxMissing as error:
        return JudgedAgain(absent=error.line())
    about, runs = recorded_about(recorded[0]), open_recording(recorded[0]).runs
    chosen = list(islice(units(about.n, about.seed, families(about.families)), SAMPLE))
    # A notebook's cells run in an event loop, and a run of a judge begins one of its own: hence the thread.
    with tempfile.TemporaryDirectory(prefix="misstep-") as place, ThreadPoolExecutor(1) as apart:
        cases = _generated(chosen, Path(place) / "cases")
        pairs = []
        for judge, verdicts in runs.items():
            out = Path(place) / judge
            apart.submit(run_judge, known_judge(judge), cases, out, ClientSettings()).result()
            known = {verdict.item: verdict for verdict in verdicts}
            pairs += [(known[again.item], again) for again in read_triage_verdicts(out) if again.item in known]
    return JudgedAgain(tuple(pairs))


def _generated(chosen: Sequence[Unit], out: Path) -> Path:
    """Return a benchmark of some units alone."""
    out.mkdir()
    which = {unit.family: "" for unit in chosen}
    rows = [row for unit in chosen for row in make_unit(unit, out, which)]
    (out / "benchmark.toml").write_text(tomli_w.dumps({"name": "again", "kind": "triage", "labels": list(FAULTS)}))
    (out / "items.jsonl").write_bytes(encode_lines(row.item for row in rows))
    return out
