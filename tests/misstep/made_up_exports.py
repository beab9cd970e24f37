"""One small finished run of each kind, as folders."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path

from msgspec import structs

from misstep.classify.findings import classified_findings
from misstep.observe.findings import observed_findings
from misstep_harness.journal.records import (
    encode_lines,
    read_manifest,
    read_records,
    replace_file,
    write_manifest,
    written_in,
)
from misstep_harness.observer.records import LIVE_RECORDS
from misstep_harness.observer.runs.observe import Observation
from misstep_harness.places import data_folder
from misstep_harness.runs.classify import ClassifyPlan
from tests.analysis.made_up_loops import looped_run
from tests.analysis.reflexive.made_up import three_items
from tests.misstep.made_up import CATEGORIES, SETTINGS, atif_lines, by_id, by_lot
from tests.misstep.made_up_runs import (
    benchmark_of_runs,
    four,
    judged_run,
    repaired_run,
    triage_benchmark,
    triage_run,
    verdict,
)


def classified(folder: Path) -> Path:
    """Twelve sessions with the verdicts of two rules, some of which abstain."""
    sessions = atif_lines(folder / "sessions.jsonl", (f"session-{number}" for number in range(12)))
    classified_findings([sessions], ClassifyPlan(CATEGORIES, by_id, [str(sessions)]), folder / "classified")
    return folder / "classified"


def judged(folder: Path) -> Path:
    """Verdicts on eight items: yes and no, one that abstains, one refused, one failed."""
    benchmark = benchmark_of_runs(folder / "gates", 8)
    given = [verdict(number, ("yes", "no")[number % 2], score=0.75, steps=[1, 3], model="m-1") for number in range(5)]
    given[1] = verdict(1, "no", input_tokens=20, output_tokens=4, model="m-1")
    given += [
        verdict(5, None, status="abstained", rationale="There is nothing to judge."),
        verdict(6, None, status="refused", error="I cannot help with that."),
        verdict(7, None, status="failed", error="the server is gone"),
    ]
    return judged_run(folder / "judged", benchmark, given)


def triaged(folder: Path) -> Path:
    """Verdicts of a judge of triage on five cases, with evidence."""
    answers = ("agent/timeout", "agent/logical_failure", "task/brittle_tests", "", "pass")
    return triage_run(folder / "triaged", triage_benchmark(folder / "cases", 5), answers)


def observed(folder: Path) -> Path:
    """Nine sessions before an observer, some with an intervention."""
    sessions = atif_lines(folder / "seen.jsonl", (f"seen-{number}" for number in range(9)))
    how = Observation(by_lot, settings=SETTINGS, arguments=[str(sessions)])
    observed_findings([sessions], how, folder / "observed", with_page=False)
    return folder / "observed"


def repaired(folder: Path) -> Path:
    """Four attempts with patches and signals."""
    return repaired_run(folder / "repaired", four())


def reflected(folder: Path) -> Path:
    """A loop over three items."""
    return looped_run(folder / "reflected", three_items())


def experiment(folder: Path) -> Path:
    """The first twelve sessions of a recorded experiment."""
    recorded, run = data_folder() / "recordings" / "wink" / "shadow", folder / "experiment"
    manifest = read_manifest(recorded)
    assert manifest is not None
    run.mkdir()
    replace_file(run / LIVE_RECORDS.file, encode_lines(list(islice(read_records(recorded, LIVE_RECORDS), 12))))
    write_manifest(run, structs.replace(manifest, written=written_in(run, LIVE_RECORDS.file)))
    return run


KINDS: dict[str, Callable[[Path], Path]] = {
    one.__name__: one for one in (classified, judged, triaged, observed, repaired, reflected, experiment)
}
"""The name of a kind of run → what makes one in a folder."""
