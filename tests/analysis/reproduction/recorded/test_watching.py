"""Detectors are put before the same recordings, with the steps that people marked or a generator planted."""

from misstep_analysis.observer.alarms import alarms
from misstep_analysis.reproduction.recorded.watching import (
    ANNOTATED,
    STUCK,
    WATCHERS,
    watched_errors,
    watched_generated,
)


def test_each_detector_watches_the_same_generated_runs_and_finds_loops_among_hard_negatives() -> None:
    runs = watched_generated(80, 5)
    by_detector = {name: [run.run for run in runs if run.detector == name] for name in WATCHERS}
    assert len({tuple(names) for names in by_detector.values()}) == 1
    results = {(one.detector, one.dataset): one for one in alarms(runs)}
    for dataset in STUCK.values():
        rules = results["rules, asked at every step", dataset]
        assert (rules.onsets_found.value or 0) > (rules.by_others.value or 1)


def test_recorded_alarms_stand_beside_the_steps_that_people_marked(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MISSTEP_DATA", str(tmp_path))
    runs = watched_errors(ANNOTATED[:1])
    assert {run.dataset for run in runs} == {"agentrx"}
    assert sum(len(run.onsets) for run in runs) == 39 * len(WATCHERS)
    assert all(onset < run.n_steps for run in runs for onset in run.onsets)
