"""A small language model's verdicts as recordings: labels, what it answered, and its replies without the requests.

    data/recordings/small_model/infinite_loop/recording.toml   which question, of which items, by which command
    data/recordings/small_model/infinite_loop/verdicts.jsonl   a verdict a line
    data/recordings/small_model/infinite_loop/gold.csv         the labels of these items
    data/recordings/small_model/infinite_loop/replies.jsonl    replies by the key of their request, to be replayed
    data/recordings/small_model/recovery/benchmark.tar.xz      its items; without it they are those of the next line
    data/recordings/small_model/sessions.tar.xz                generated sessions, items of several recordings
    data/recordings/small_model/recovery/judge.toml            the judge that was asked, if it asks otherwise by now

`python -m misstep_analysis.reproduction.recorded.small_model RUN --out DIR` records a run of a judge, finished or not.
"""

import argparse
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import tomli_w
from msgspec import Struct
from msgspec.structs import replace

from misstep_analysis.gold import read_gold, write_gold
from misstep_analysis.judging.judged import JudgedItems, ScoredItems, scored_items
from misstep_analysis.judging.judged_runs import open_run
from misstep_analysis.repair.recorded_runs import placeless
from misstep_analysis.reproduction.recorded.again import apart
from misstep_analysis.reproduction.small_model_tables import NAME
from misstep_harness.clients import ClientSettings
from misstep_harness.clients.recording import copy_replies
from misstep_harness.errors import InputError, MisstepError
from misstep_harness.items import read_items
from misstep_harness.journal.records import VERDICTS, encode_lines, read_verdicts, replace_file
from misstep_harness.journal.run_folder import make_new_folder
from misstep_harness.judges import read_known
from misstep_harness.judges.prompted_judge import PromptedJudge
from misstep_harness.places import data_folder
from misstep_harness.progress import say
from misstep_harness.protocols import Judge
from misstep_harness.runs.judging.judge import run_judge
from misstep_harness.trajectory import Evidence
from misstep_harness.verdict import Verdict

RECORDING, REPLIES, JUDGE = "recording.toml", "replies.jsonl", "judge.toml"
BENCHMARK, SESSIONS = "benchmark.tar.xz", "sessions.tar.xz"

BUDGET, LONGEST_ANSWER = 1_500, 300
"""Tokens of an item in a prompt and of an answer.

A small model on a processor reads some 60 tokens a second.
"""

_REASON = 240


class About(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The description of a recording.

    - `judge`: The shipped judge, by its name.
    - `of`: The number of items that are to be asked about; a recording may have fewer.
    - `clusters`: Item → what it hangs together with others by.
    """

    title: str
    source: str
    of: int
    judge: str
    benchmark: str
    evidence: Evidence
    labels: tuple[str, ...]
    positive: str
    model: str
    prompt: str
    clusters: dict[str, str] = {}


def record(
    folder: Path, out: Path, replies: Path | None = None, items: Path | None = None, **about: Any
) -> JudgedItems:
    """Write the recording of a run of a judge, with the benchmark `items` if it is not the shared sessions."""
    make_new_folder(out)
    run = open_run(folder)
    # Without replies the items are those of a data set: a rationale would quote it.
    verdicts = [_short(one, quotes=replies is not None) for one in run.verdicts if one.status != "failed"]
    item_ids = {one.item for one in verdicts}
    settings, question = run.manifest.settings, run.question
    description = About(
        **about,
        judge=str(settings["judge"]),
        benchmark=question.name,
        evidence=question.evidence,
        labels=tuple(question.labels),
        positive=question.positive,
        model=str(settings["model"]),
        prompt=str(settings.get("prompt", "")),
        clusters={item: cluster for item, cluster in run.clusters.items() if item in item_ids},
    )
    write_gold(out, [row for row in run.gold if row.item in item_ids])
    replace_file(out / VERDICTS, encode_lines(verdicts))
    if replies is not None:
        copy_replies(replies, out / REPLIES)
    if items is not None:
        with tarfile.open(out / BENCHMARK, "w:xz") as archive:
            archive.add(items, ".", filter=_plain)
    replace_file(out / RECORDING, tomli_w.dumps(msgspec.to_builtins(description)).encode())
    return _opened(out)


def scored(folder: Path | None = None, *, seed: int = 0) -> list[ScoredItems]:
    """Return the recordings, scored, by name; none without any."""
    return [scored_items(_opened(one), seed=seed) for one in recordings(folder)]


def recordings(folder: Path | None = None) -> list[Path]:
    """Return the recordings of a folder, by default the project's own, by name."""
    place = folder or data_folder() / "recordings" / "small_model"
    return [file.parent for file in sorted(place.glob(f"*/{RECORDING}"))]


def replay_again(folder: Path | None = None) -> int:
    """Judge the items again by the recorded replies, and return how many verdicts came out as recorded.

    A changed prompt asks another request, to which no reply is recorded.
    """
    again = [one for one in recordings(folder) if (one / REPLIES).is_file()]
    with tempfile.TemporaryDirectory(prefix="misstep-") as place:
        return sum(_replayed(recording, Path(place)) for recording in again)


def _replayed(recording: Path, place: Path) -> int:
    recorded = {one.item: one for one in read_verdicts(recording)}
    benchmark = _benchmark(recording, place)
    items = [item for item in read_items(benchmark) if item.id in recorded]
    replace_file(benchmark / "items.jsonl", encode_lines(items))
    about, out = _about(recording), place / recording.name / "run"
    settings = ClientSettings(client="replay", replay=recording / REPLIES)
    asked = str(recording / JUDGE) if (recording / JUDGE).is_file() else about.judge
    apart(run_judge, judge(asked, about.model), benchmark, out, settings)
    answers = {one.item: (one.status, one.label) for one in read_verdicts(out)}
    for verdict in recorded.values():
        if answers.get(verdict.item) != (verdict.status, verdict.label):
            message = f"the verdict on {verdict.item} differs from the recording {recording.name}"
            raise MisstepError(message, "Record the judge anew: its prompt or its items have changed.")
    return len(recorded)


def _benchmark(recording: Path, place: Path) -> Path:
    """Unpack the items of a recording into a folder of their own."""
    own = recording / BENCHMARK
    with tarfile.open(own if own.is_file() else recording.parent / SESSIONS) as archive:
        archive.extractall(folder := place / recording.name / "items", filter="data")
    return folder


def judge(named: str, model: str) -> Judge:
    """Return a judge by its name as the small model is asked with it."""
    spec = read_known(named)
    return PromptedJudge(replace(spec, budget=BUDGET, model=replace(spec.model, name=model, max_tokens=LONGEST_ANSWER)))


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    # The same items give the same bytes, whoever packs them and when.
    entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = 0, 0, 0, "", ""
    return entry


def _opened(recording: Path) -> JudgedItems:
    about = _about(recording)
    verdicts, gold = tuple(read_verdicts(recording)), tuple(read_gold(recording))
    title = f"{about.title}, {len(verdicts):,} of {about.of:,}" if len(verdicts) < about.of else about.title
    where = about.benchmark, about.source
    return JudgedItems(NAME, *where, verdicts, gold, about.clusters, about.labels, about.positive, title)


def _about(recording: Path) -> About:
    file = recording / RECORDING
    try:
        return msgspec.toml.decode(file.read_bytes(), type=About)
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(f"no recording: {error}", "Record it anew.", file=file) from error


def _short(verdict: Verdict, *, quotes: bool) -> Verdict:
    seconds = None if verdict.seconds is None else round(verdict.seconds, 1)
    return replace(verdict, rationale=placeless(verdict.rationale, _REASON) if quotes else "", seconds=seconds)


def _main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m misstep_analysis.reproduction.recorded.small_model", description="Record a run of a judge."
    )
    parser.add_argument("run", type=Path, help="folder of `misstep judge run`, finished or not")
    parser.add_argument("--title", required=True, help="what was asked, of which items")
    parser.add_argument("--source", required=True, help="origin of the items")
    parser.add_argument("--of", type=int, required=True, help="number of items that are to be asked about")
    parser.add_argument("--replies", type=Path, help="file of --record, if `reproduce` replays it")
    parser.add_argument("--items", type=Path, help="benchmark to keep with it, if it is not the shared sessions")
    parser.add_argument("--out", type=Path, required=True, help="folder of the recording")
    options = parser.parse_args()
    about = {"title": options.title, "source": options.source, "of": options.of}
    judged = record(options.run, options.out, options.replies, options.items, **about)
    say(f"{len(judged.verdicts)} verdicts: {options.out}")


if __name__ == "__main__":
    _main()
