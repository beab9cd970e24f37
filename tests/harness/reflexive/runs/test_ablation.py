"""An ablation: every configuration over every seed, each a run of its own, gone on with by the same call."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from misstep_harness.errors import UsageError
from misstep_harness.journal.records import read_manifest
from misstep_harness.reflexive.records import MECHANISMS, RunEnded
from misstep_harness.reflexive.runs.running import AblationPlan, configurations, recorded_events, run_ablation
from misstep_harness.reflexive.runs.skills import SkillOptions

TINY = AblationPlan(seeds=(3, 4), options=SkillOptions(n=3), mechanisms=("snapshots",))


def written(out: Path) -> dict[str, bytes]:
    return {str(file.relative_to(out)): file.read_bytes() for file in sorted(out.rglob("events.jsonl"))}


def test_every_mechanism_is_left_out_once_and_all_of_them_together() -> None:
    named = configurations(list(MECHANISMS))
    assert (named["whole"], named["without_all"]) == (frozenset(), frozenset(MECHANISMS))
    assert [without for without in named.values() if len(without) == 1] == [frozenset({name}) for name in MECHANISMS]


def test_each_configuration_is_run_with_each_seed_on_the_same_items(tmp_path: Path) -> None:
    runs = run_ablation(TINY, tmp_path, processes=1)
    assert [(run.configuration, run.seed) for run in runs] == [
        (name, seed) for name in ("whole", "without_snapshots", "without_all") for seed in (3, 4)
    ]
    items = {}
    for run in runs:
        first, *_, last = recorded_events(run.folder)
        assert isinstance(last.happened, RunEnded)
        assert frozenset(first.happened.without) == run.without
        assert items.setdefault(run.seed, first.happened.items) == first.happened.items
    assert items[3] != items[4]


def test_the_runs_of_a_seed_begin_with_the_lessons_of_one_run_before_them(tmp_path: Path) -> None:
    runs = run_ablation(TINY, tmp_path, processes=1)
    before = {seed: (tmp_path / "earlier" / f"seed-{seed}" / "events.jsonl").stat().st_size for seed in TINY.seeds}
    for run in runs:
        manifest = read_manifest(run.folder)
        assert (manifest.inputs.files, manifest.inputs.bytes) == (1, before[run.seed])


def test_a_stopped_ablation_goes_on_to_the_same_end(tmp_path: Path) -> None:
    run_ablation(TINY, tmp_path / "whole", processes=1)
    stopped = tmp_path / "stopped"
    run_ablation(msgspec.structs.replace(TINY, seeds=(3,)), stopped, processes=1)
    assert written(stopped).items() < written(tmp_path / "whole").items()
    run_ablation(TINY, stopped, processes=1)
    assert written(stopped) == written(tmp_path / "whole")


def test_two_processes_write_what_one_writes(tmp_path: Path) -> None:
    for processes in (1, 2):
        run_ablation(TINY, tmp_path / str(processes), processes=processes)
    assert written(tmp_path / "1") == written(tmp_path / "2")


def test_what_is_not_known_is_said_before_anything_is_written(tmp_path: Path) -> None:
    for wrong in ({"mechanisms": ("luck",)}, {"agents": "tireless"}, {"skill": "gardening"}):
        with pytest.raises(UsageError, match=r"luck|tireless|gardening"):
            run_ablation(msgspec.structs.replace(TINY, **wrong), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_second_ablation_in_a_folder_leaves_the_first_alone(tmp_path: Path) -> None:
    holding = (
        "import fcntl, sys; s = open(sys.argv[1], 'ab'); fcntl.lockf(s, fcntl.LOCK_EX); print(flush=True); input()"
    )
    command = [sys.executable, "-c", holding, str(tmp_path / "progress.jsonl")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        with pytest.raises(UsageError, match="another process is writing"):
            run_ablation(TINY, tmp_path, processes=1)
        assert not written(tmp_path)
        other.communicate(b"\n")
    assert run_ablation(TINY, tmp_path, processes=1)
    assert not (tmp_path / "progress.jsonl").exists()
