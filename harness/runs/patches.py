"""The patches of repair runs as a benchmark for judges of patches: gold is whether the tests of the case pass.

That is less than what people call acceptable: a patch may pass the tests and silence the symptom.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from misstep.harness.datasets.benchmark import Benchmark, Gold, write_benchmark
from misstep.harness.errors import InputError, UsageError, writing
from misstep.harness.evidence import Evidence, together
from misstep.harness.items import Item, read_question
from misstep.harness.journal.records import MANIFEST, Manifest
from misstep.harness.journal.run_folder import make_folder
from misstep.harness.records.repair_attempt import FLAKY, RepairAttempt
from misstep.harness.repair.case import FAILURE
from misstep.harness.repair.validators.patch_judge import (
    ACCEPTABLE,
    UNACCEPTABLE,
    patch_item,
    question_folder,
    with_failure,
)
from misstep.harness.runs.repair import COMMAND, recorded_attempts
from misstep.harness.runs.standing_runs import manifest_of

_RATER = "oracle"


def write_patches(runs: Sequence[Path], out: Path) -> Benchmark:
    """Write the patches of runs that were scored as a benchmark folder; a patch's cluster is its case."""
    if out.exists():
        raise UsageError(f"{out} is there already", "Name a folder that is not there yet.")
    manifests = [_manifest(run) for run in runs]
    attempts = [attempt for run in runs for attempt in {each.id: each for each in recorded_attempts(run)}.values()]
    flaky = {attempt.case for attempt in attempts if attempt.ended == FLAKY}
    attempts = [attempt for attempt in attempts if attempt.case not in flaky]
    judged = [(_item(attempt), attempt.solved) for attempt in attempts if attempt.patch and attempt.solved is not None]
    twice, count = Counter(item.id for item, _ in judged).most_common(1)[0] if judged else ("", 0)
    if count > 1:
        raise UsageError(f"two of the runs made the attempt {twice}", "Name one of them, or write a benchmark of each.")
    if not judged:
        raise InputError(
            "no attempt has a patch that was scored", "A recording of a run keeps no patches.", file=runs[0]
        )
    question = read_question(question_folder())
    benchmark = Benchmark(
        name=question.name,
        title="Patches of repair runs, and whether the tests of their cases pass",
        kind=question.kind,
        labels=question.labels,
        raters=(_RATER,),
        licence="",
        citation="",
        origin=tuple(run.resolve().name for run in runs),
        digest=" ".join(manifest.inputs.digest for manifest in manifests),
        positive=question.positive,
        evidence=together(map(_evidence, manifests)),
        question=question.asks,
    )
    gold = (Gold(item.id, _RATER, ACCEPTABLE if solved else UNACCEPTABLE) for item, solved in judged)
    parent = out.resolve().parent
    make_folder(parent)
    with writing(out), TemporaryDirectory(dir=parent, prefix=f".{out.name}.") as building:
        written = write_benchmark(Path(building) / out.name, benchmark, (item for item, _ in judged), gold)
        (Path(building) / out.name).rename(out)
    return written


def _manifest(run: Path) -> Manifest:
    advice = f"Name a folder that `misstep {COMMAND}` wrote."
    manifest = manifest_of(run, advice)
    if manifest.command != COMMAND:
        raise InputError(f"{MANIFEST} is not that of a repair run", advice, file=run)
    return manifest


def _evidence(manifest: Manifest) -> Evidence:
    """Return the kind of evidence of the cases of a run, which its `run.toml` says."""
    return "generated" if manifest.settings.get("evidence") == "generated" else "real"


def _item(attempt: RepairAttempt) -> Item:
    """Return what a judge is shown of an attempt's patch, as in the run itself."""
    run = attempt.trajectory
    task = with_failure(run.task, run.extra.get(FAILURE)) if run is not None else ""
    item = patch_item(attempt.id, task, attempt.patch, attempt.signals)
    return replace(item, extra={"cluster": attempt.case})
