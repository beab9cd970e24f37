"""Runs of the reflexive loop are read from their folders, shown as text and JSON, and kept as recordings."""

import json
from pathlib import Path

import pytest
from msgspec import structs

from misstep_analysis.reflexive.report import reflections_html, reflections_json, reflections_text
from misstep_analysis.reflexive.runs import (
    About,
    open_recording,
    open_reflexive_run,
    open_reflexive_runs,
    record_runs,
    recordings,
    warn_of,
)
from misstep_harness.errors import InputError, UsageError
from misstep_harness.journal.records import read_manifest, write_manifest
from tests.analysis.made_up_loops import looped_run
from tests.analysis.reflexive.made_up import Log, three_items


def test_one_run_is_told_in_text_and_as_the_document_that_scripts_rely_on(tmp_path: Path) -> None:
    run = open_reflexive_run(looped_run(tmp_path / "calm", three_items()))
    assert reflections_text([run]).startswith("How the items ended\nThe loop solves 66.7%")
    document = json.loads(reflections_json([run]))
    assert (document["run"], document["n"], len(document["items"])) == ("calm", 3, 3)
    assert {"id", "end", "attempts", "seconds"} <= document["items"][0].keys()


def test_runs_that_differ_in_mechanisms_are_an_ablation_and_others_stand_beside_each_other(tmp_path: Path) -> None:
    folders = [
        looped_run(tmp_path / f"{'-'.join(without) or 'whole'}-{seed}", three_items(seed=seed, without=without))
        for without in ((), ("memory",))
        for seed in (0, 1)
    ]
    runs = open_reflexive_runs(folders)
    assert reflections_text(runs).startswith("Each mechanism left out\n")
    assert json.loads(reflections_json(runs))["ablation"]["whole"]["seeds"] == [0, 1]
    assert reflections_text(runs[:2]).startswith("Runs beside each other\n")
    assert "0 of 1 pair of runs differ" in reflections_text(runs[:2])
    assert [pair["n"] for pair in json.loads(reflections_json(runs[:2]))["pairs"]] == [3]


def test_a_reader_is_told_of_runs_that_are_unfinished_halted_or_of_other_items(tmp_path: Path) -> None:
    half = looped_run(tmp_path / "half", three_items()[:-1], finished=False)
    other = looped_run(tmp_path / "other", Log("fig").begin("fig").passing("fig").end("fig").done())
    assert warn_of(open_reflexive_runs([half, other])) == [
        "The run half is not finished.",
        "The runs of one seed are not all of the same items.",
    ]


def test_what_a_run_could_not_do_is_said_on_its_page_and_in_its_document(tmp_path: Path) -> None:
    often = Log("fig").begin("fig").failing("fig").failing("fig", 2).failing("fig", 3).end("fig", "time_budget")
    short = {"dials": {"item": {"seconds": 120.0, "tokens": 9, "usd": 2.0}}}
    runs = [
        open_reflexive_run(looped_run(tmp_path / name, often.done(), **settings))
        for name, settings in {"short": short, "long": {}, "capped": {"dials": {"item": {"usd": 2.0}}}}.items()
    ]
    said = [json.loads(reflections_json([run]))["remarks"] for run in runs]
    assert [[sentence.split(":")[0].split(",")[0] for sentence in remarks] for remarks in said] == [
        ["The strategist is never asked again", "--tokens stopped nothing", "--usd stopped nothing"],
        ["The strategist was never asked again"],
        ["The strategist was never asked again", "--usd stopped nothing"],
    ]
    assert said[0][0] in reflections_html(runs[:1], "again")
    assert f"short: {said[0][0]}" in warn_of(runs)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"run\.toml"):
        open_reflexive_run(tmp_path)
    folder = looped_run(tmp_path / "calm", three_items())
    with pytest.raises(UsageError, match="named twice"):
        open_reflexive_runs([folder, folder])
    manifest = read_manifest(folder)
    assert manifest is not None
    write_manifest(folder, structs.replace(manifest, command="repair run"))
    with pytest.raises(UsageError, match="misstep repair run"):
        open_reflexive_run(folder)


def test_a_recording_has_the_figures_of_runs_in_one_order_and_no_text_of_theirs(tmp_path: Path) -> None:
    scores = [open_reflexive_run(looped_run(tmp_path / f"{n}", three_items(seed=n))).scores for n in (1, 0)]
    about = About("An orchard", "python -m studies.reflexive.ablation")
    kept = record_runs(scores, tmp_path / "kept" / "orchard", about)
    again = record_runs(reversed(scores), tmp_path / "again", about)
    assert kept.runs == again.runs == (scores[1], scores[0])
    assert (kept.name, kept.about) == ("orchard", about)
    assert list(recordings(tmp_path / "kept")) == ["orchard"]
    assert "It failed." not in (tmp_path / "again" / "runs.jsonl").read_text()


def test_an_unfinished_run_is_no_recording_and_a_broken_one_is_refused(tmp_path: Path) -> None:
    half = open_reflexive_run(looped_run(tmp_path / "half", three_items()[:-1], finished=False))
    with pytest.raises(UsageError, match="not finished"):
        record_runs([half.scores], tmp_path / "kept", About("An orchard", ""))
    with pytest.raises(InputError, match="no recording"):
        open_recording(tmp_path)
