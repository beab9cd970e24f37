"""Judges of triage on generated cases as recordings: gold labels and verdicts, without the folders of the cases.

    data/recordings/triage/scoring/recording.toml        what the cases are, and the command lines that made it
    data/recordings/triage/scoring/gold.csv              and the other gold files of the benchmark
    data/recordings/triage/scoring/rules-text/run.toml   a folder a judge
    data/recordings/triage/scoring/rules-text/verdicts.jsonl

`python -m misstep_analysis.reproduction.triage_recording` generates the cases, runs every judge on them
and records them anew. What a verdict quotes is cut to a line a piece of evidence.
"""

import argparse
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import msgspec
import tomli_w
from msgspec import Struct, structs

from misstep_analysis.gold import CONSTRUCTIONS, SUBCATEGORIES, read_constructions, read_gold, read_subcategories
from misstep_analysis.judging.judged_runs import JUDGED
from misstep_analysis.repair.recorded_runs import placeless
from misstep_analysis.runs.finished import write_recording
from misstep_analysis.triage.comparison import BASELINE, JudgedCases
from misstep_harness.errors import InputError, MisstepError
from misstep_harness.journal.opened import open_of
from misstep_harness.journal.records import MANIFEST, VERDICT_RECORDS, read_manifest, replace_file
from misstep_harness.journal.run_folder import make_new_folder
from misstep_harness.places import data_folder
from misstep_harness.progress import say
from misstep_harness.triage.generate.cases import FamilyChoice
from misstep_harness.triage.records import Evidence, TriageVerdict, read_triage_verdicts

RECORDING = "recording.toml"
JUDGES = (BASELINE, "triage@rules-text", "triage@rules-read-only", "triage@rules-sandbox")
"""The judges that ask no model, the baseline first."""

CASES, SEED = 148, 0
FAMILIES: FamilyChoice = "scoring"
_GOLD = ("gold.csv", SUBCATEGORIES, CONSTRUCTIONS)
_PIECES, _LINE, _REASON = 3, 160, 240


class About(Struct, frozen=True, forbid_unknown_fields=True):
    """The description of a recording: its number of cases, seed, set of families and maker."""

    n: int
    seed: int
    families: FamilyChoice
    commands: list[str]


def record_triage(benchmark: Path, runs: Sequence[Path], out: Path, about: About) -> JudgedCases:
    """Write the recording of finished runs of judges on one benchmark into a folder of its own."""
    make_new_folder(out)
    for name in _GOLD:
        shutil.copyfile(benchmark / name, out / name)
    for run in (open_of(folder, JUDGED) for folder in runs):
        folder = out / run.requested("judge").partition("@")[2]
        last = {verdict.item: verdict for verdict in read_triage_verdicts(run.folder)}
        # What was read is not listed file by file: the digest over all of it tells two benchmarks apart.
        inputs = structs.replace(run.manifest.inputs, parts=())
        verdicts = (compacted(last[item]) for item in sorted(last))
        write_recording(run, folder, VERDICT_RECORDS, verdicts, inputs=inputs)
    replace_file(out / RECORDING, tomli_w.dumps(msgspec.to_builtins(about)).encode())
    return open_recording(out)


def compacted(verdict: TriageVerdict) -> TriageVerdict:
    """Return a verdict with its first pieces of evidence, a line each, and without the paths of a machine."""
    evidence = tuple(
        Evidence(one.kind, placeless(one.where, _LINE), placeless(one.text, _LINE))
        for one in verdict.evidence[:_PIECES]
    )
    seconds = None if verdict.seconds is None else round(verdict.seconds, 3)
    return structs.replace(verdict, evidence=evidence, rationale=placeless(verdict.rationale, _REASON), seconds=seconds)


def open_recording(folder: Path) -> JudgedCases:
    """Return a recording as measures take it."""
    file = folder / RECORDING
    try:
        about = msgspec.toml.decode(file.read_bytes(), type=About)
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(f"no recording: {error}", "Record it anew.", file=file) from error
    runs: dict[str, tuple[TriageVerdict, ...]] = {}
    for place in sorted(folder.glob(f"*/{MANIFEST}")):
        manifest = read_manifest(place.parent)
        if manifest is not None:
            runs[str(manifest.settings["judge"])] = tuple(read_triage_verdicts(place.parent))
    gold = tuple(read_gold(folder))
    known = {name: runs[name] for name in JUDGES if name in runs}
    return JudgedCases(
        on=f"generated cases of {about.families} families",
        source=f"generated, seed {about.seed}, n {len(gold):,}, {about.families} families",
        runs=known | runs,
        gold=gold,
        subcategories=read_subcategories(folder),
        constructions=read_constructions(folder),
        evidence="generated",
    )


def recorded_about(folder: Path) -> About:
    """Return the description of a recording."""
    return msgspec.toml.decode((folder / RECORDING).read_bytes(), type=About)


def recordings(folder: Path | None = None) -> list[Path]:
    """Return the recordings of a folder, by default the project's own, by name; none if there are none."""
    place = folder or data_folder() / "recordings" / "triage"
    return [file.parent for file in sorted(place.glob(f"*/{RECORDING}"))]


def recorded_cases() -> JudgedCases | None:
    """The project's own recording of judges on families that no rule was worked out on; `None` if there is none."""
    return next((open_recording(folder) for folder in recordings() if folder.name == FAMILIES), None)


def command_lines(n: int, seed: int, families: FamilyChoice) -> list[str]:
    """Return the command lines that make a recording's cases and runs, with `cases` and `runs` as their folders."""
    generate = f"misstep generate triage-cases --n {n} --seed {seed} --families {families} --out cases"
    judges = [f"misstep judge run {judge} --benchmark cases --out runs/{judge}" for judge in JUDGES]
    return [generate, *judges]


def record_anew(n: int, seed: int, families: FamilyChoice, out: Path, place: Path) -> JudgedCases:
    """Generate cases, run every judge on them in `place`, and record them."""
    commands = command_lines(n, seed, families)
    for line in commands:
        done = subprocess.run([sys.executable, "-m", *shlex.split(line)], cwd=place, check=False)  # noqa: S603
        if done.returncode:
            raise MisstepError(f"`{line}` ended with exit code {done.returncode}", "See what it printed above.")
    shutil.rmtree(out, ignore_errors=True)
    return record_triage(
        place / "cases", [place / "runs" / judge for judge in JUDGES], out, About(n, seed, families, commands)
    )


def _main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m studies.triage_recording", description="Record judges of triage anew."
    )
    parser.add_argument("--n", type=int, default=CASES, help="number of cases")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of the cases")
    parser.add_argument("--families", default=FAMILIES, choices=get_args(FamilyChoice), help="set of families")
    parser.add_argument(
        "--out", type=Path, default=data_folder() / "recordings" / "triage" / FAMILIES, help="folder of the recording"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="misstep-") as place:
        cases = record_anew(options.n, options.seed, options.families, options.out.resolve(), Path(place))
    say(f"{len(cases.gold)} cases, {len(cases.runs)} judges: {options.out}")


if __name__ == "__main__":
    _main()
