"""Runs of the reflexive loop opened for analysis, and many of them as a recording: figures by run and no more.

data/recordings/reflexive/ablation/recording.toml   what the runs are of, and the command that makes it again
data/recordings/reflexive/ablation/runs.jsonl       the figures of a run a line (`LoopScores`), without any text
"""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import msgspec
import tomli_w
from msgspec import Struct

from misstep_analysis.reflexive.scores import LoopScores, score_loop
from misstep_analysis.reflexive.work import WorkedRun, worked_run
from misstep_analysis.tables import Evidence
from misstep_analysis.tables.wording import counted_text
from misstep_harness.errors import InputError, UsageError
from misstep_harness.escaping import plain
from misstep_harness.journal.opened import OpenRun, check_named_once, open_of
from misstep_harness.journal.records import MANIFEST, encode_lines, replace_file
from misstep_harness.places import data_folder
from misstep_harness.progress import say
from misstep_harness.reflexive.records import EARLIER, LOOP_RECORDS, LoopSettings, TurnEnded, inert

REFLECTED = "reflect run"
"""What the manifest of a run of the reflexive loop names as its command."""

RECORDING = "recording.toml"
RUNS = "runs.jsonl"
_NAMED = 5


class ReflexiveRun(OpenRun, frozen=True):
    """A run of the reflexive loop: its folder, what was asked, what its log says, and its figures."""

    work: WorkedRun
    scores: LoopScores

    @property
    def evidence(self) -> Evidence:
        """`real` where the manifest says that people made the items, else `generated`."""
        return "real" if self.manifest.settings.get("evidence") == "real" else "generated"


def open_reflexive_run(folder: Path) -> ReflexiveRun:
    """Return the run in a folder, also one in progress."""
    return reflexive_run(open_of(folder, REFLECTED))


def reflexive_run(run: OpenRun) -> ReflexiveRun:
    """Return a run of the loop with what its log says."""
    return ReflexiveRun(run.folder, run.manifest, work := worked_run(run.read(LOOP_RECORDS)), score_loop(work))


def open_reflexive_runs(folders: Sequence[Path]) -> list[ReflexiveRun]:
    """Return several runs that are to be looked at together."""
    check_named_once(folders)
    return [open_reflexive_run(folder) for folder in folders]


def run_folders(named: Sequence[Path]) -> list[Path]:
    """Return the folders of runs: those that are named, and in place of an ablation's its runs."""
    folders: list[Path] = []
    for folder in named:
        below = [file.parent for file in sorted(folder.glob(f"*/*/{MANIFEST}")) if file.parent.parent.name != EARLIER]
        folders += [folder] if (folder / MANIFEST).exists() or not below else below
    return folders


def warn_of(runs: Sequence[ReflexiveRun]) -> list[str]:
    """Return what a reader has to know before any figure, a sentence each."""
    halted = [plain(run.name) for run in runs if run.scores.halted]
    unfinished = [plain(run.name) for run in runs if not run.scores.finished]
    warnings = []
    if unfinished:
        warnings.append(f"{_named(unfinished, runs)} not finished.")
    if halted:
        warnings.append(f"{_named(halted, runs)} halted: the target could not be brought back.")
    if len({(run.scores.seed, run.scores.of) for run in runs}) > len({run.scores.seed for run in runs}):
        warnings.append("The runs of one seed are not all of the same items.")
    of_runs = {run.name: remarks_of(run) for run in runs}
    for sentence in dict.fromkeys(sentence for remarks in of_runs.values() for sentence in remarks):
        named = [plain(name) for name, remarks in of_runs.items() if sentence in remarks]
        warnings.append(sentence if len(named) == len(runs) else f"{', '.join(named)}: {sentence}")
    return warnings


def remarks_of(run: ReflexiveRun) -> tuple[str, ...]:
    """Return what the mechanisms and budgets of a run could not do, or did not, and why; a sentence each."""
    options, scores = run.manifest.settings, run.scores
    settings = msgspec.convert({**options.get("dials", {}), "without": options.get("without", [])}, LoopSettings)
    remarks = list(inert(settings))
    between = settings.failures_between
    failed = sum(len(item.attempts) >= between and not item.solved for item in run.work.items)
    if not remarks and settings.has("re_engagement") and not scores.re_engaged and (scores.plateaus or failed):
        remarks.append(
            f"The strategist was never asked again, with {counted_text(scores.plateaus, 'plateau')} and "
            f"{counted_text(failed, 'item')} that failed {between} times or more: less than "
            f"{settings.least_seconds_to_re_engage:g} seconds of an item's time were left each time."
        )
    turns = [event.happened for event in run.work.events if isinstance(event.happened, TurnEnded)]
    for name, most, spent in (
        ("tokens", settings.item.tokens, sum(turn.tokens_in + turn.tokens_out for turn in turns)),
        ("usd", settings.item.usd, sum(turn.usd for turn in turns)),
    ):
        if most is not None and turns and not spent:
            remarks.append(f"--{name} stopped nothing: of no turn it is known what it took of it.")
    return tuple(remarks)


def _named(names: Sequence[str], runs: Sequence[ReflexiveRun]) -> str:
    if len(runs) == 1:
        return "The run is"
    if len(names) > _NAMED:
        return f"{len(names)} of {len(runs)} runs are"
    return f"{'The runs' if len(names) > 1 else 'The run'} {', '.join(names)} {'are' if len(names) > 1 else 'is'}"


def say_warnings(runs: Sequence[ReflexiveRun], known: Collection[str] = ()) -> None:
    """Say them on stderr, but for those that were said before."""
    for sentence in warn_of(runs):
        if sentence not in known:
            say(f"misstep: {sentence}")


class About(Struct, frozen=True, forbid_unknown_fields=True):
    """What a recording says of itself: what its runs are of, and the command line that makes it again."""

    title: str
    command: str
    evidence: Evidence = "generated"


class RecordedRuns(Struct, frozen=True):
    """A recording: its name, what it says of itself, and the figures of its runs."""

    name: str
    about: About
    runs: tuple[LoopScores, ...]


def record_runs(runs: Iterable[LoopScores], out: Path, about: About) -> RecordedRuns:
    """Write the figures of finished runs into a folder, in an order of their own."""
    in_order = sorted(runs, key=lambda run: (run.skill, run.agents, len(run.without), run.without, run.seed))
    if any(not run.finished for run in in_order):
        raise UsageError("a run is not finished", "Go on with it by the command that began it.")
    out.mkdir(parents=True, exist_ok=True)
    replace_file(out / RUNS, encode_lines(in_order))
    replace_file(out / RECORDING, tomli_w.dumps(msgspec.to_builtins(about)).encode())
    return open_recording(out)


def open_recording(folder: Path) -> RecordedRuns:
    """Return a recording."""
    try:
        about = msgspec.toml.decode((folder / RECORDING).read_bytes(), type=About)
        runs = msgspec.json.Decoder(LoopScores).decode_lines((folder / RUNS).read_bytes())
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(f"no recording: {error}", "Record it anew.", file=folder) from error
    return RecordedRuns(folder.name, about, tuple(runs))


def recordings(folder: Path | None = None) -> dict[str, RecordedRuns]:
    """Return the recordings of a folder, by default the project's own, by name; none if there are none."""
    place = folder or data_folder() / "recordings" / "reflexive"
    return {file.parent.name: open_recording(file.parent) for file in sorted(place.glob(f"*/{RECORDING}"))}
