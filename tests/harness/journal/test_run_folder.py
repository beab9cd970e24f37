"""A run that was cut anywhere is gone on with as if nothing had happened."""

import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from misstep_harness.errors import InputError, UsageError
from misstep_harness.journal.records import (
    VERDICT_RECORDS,
    VERDICTS,
    Inputs,
    Manifest,
    Records,
    encode_lines,
    read_manifest,
    read_verdicts,
    write_manifest,
)
from misstep_harness.journal.run_folder import PROGRESS, RunInProgress, standing
from misstep_harness.verdict import Verdict
from tests.harness.journal.made_up import manifest as _manifest

BATCHES = [b"a\n", b"", b"bb\nccc\n", b"d" * 40 + b"\n", b"e\nf\n"]
WHOLE = b"".join(BATCHES)


def _opened(folder: Path, **changes: object) -> RunInProgress[Verdict, int]:
    return RunInProgress(folder, _manifest(**changes), VERDICT_RECORDS, int)


def _run_on(folder: Path, until: int = len(BATCHES)) -> list[int]:
    """Append what is missing, up to a batch, and give what was noted of all."""
    with _opened(folder) as run:
        for number in range(len(run.entries), until):
            run.append_lines(BATCHES[number], number)
        return run.entries


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(WHOLE) + 30), st.integers(0, 200), st.integers(0, len(BATCHES)))
def test_cut_at_any_byte_of_either_file_it_goes_on_to_the_same_bytes(tmp_path, verdict_bytes, progress_bytes, until):
    for file in tmp_path.iterdir():
        file.unlink()
    _run_on(tmp_path, until)
    for name, kept in ((VERDICTS, verdict_bytes), (PROGRESS, progress_bytes)):
        file = tmp_path / name
        file.write_bytes(file.read_bytes()[:kept])
    assert _run_on(tmp_path) == list(range(len(BATCHES)))
    assert (tmp_path / VERDICTS).read_bytes() == WHOLE


def test_a_broken_line_in_the_journal_ends_what_is_trusted(tmp_path: Path) -> None:
    _run_on(tmp_path)
    journal = tmp_path / PROGRESS
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([lines[0], b"{]\n", *lines[2:]]))
    assert _run_on(tmp_path, 0) == [0]
    assert _run_on(tmp_path) == list(range(len(BATCHES)))
    assert (tmp_path / VERDICTS).read_bytes() == WHOLE


def test_a_number_in_the_journal_that_was_changed_is_seen(tmp_path: Path) -> None:
    _run_on(tmp_path)
    journal = tmp_path / PROGRESS
    content = journal.read_bytes()
    assert content.count(b'"entry":2}') == 1
    journal.write_bytes(content.replace(b'"entry":2}', b'"entry":7}'))
    assert _run_on(tmp_path, 0) == [0, 1]


def _try_to_open(folder: Path, said: "multiprocessing.SimpleQueue[str]") -> None:
    try:
        _opened(folder).close()
        said.put("")
    except UsageError as error:
        said.put(error.line())


def test_two_processes_never_write_one_run(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    with _opened(tmp_path):
        other = context.Process(target=_try_to_open, args=(tmp_path, queue))
        other.start()
        other.join(30)
    assert "another process is writing" in queue.get()


def _other_process(monkeypatch: pytest.MonkeyPatch, also: Callable[[], None] = lambda: None, **changes: object) -> None:
    """Write another manifest after the first look at a folder, before the lock is had."""
    looks: list[Manifest | None] = []

    def look(folder: Path, manifest: Manifest, records: Records[Any]) -> Manifest | None:
        looks.append(standing(folder, manifest, records))
        if len(looks) == 1:
            write_manifest(folder, _manifest(**changes))
            also()
        return looks[-1]

    monkeypatch.setattr("misstep_harness.journal.run_folder.standing", look)


def test_a_run_that_another_process_finished_before_the_lock_was_had_keeps_every_byte(tmp_path, monkeypatch) -> None:
    with _opened(tmp_path) as run:
        run.append_lines(WHOLE, 0)
    _other_process(monkeypatch, (tmp_path / PROGRESS).unlink, finished="later")
    with _opened(tmp_path) as run:
        assert run.finished
    assert (tmp_path / VERDICTS).read_bytes() == WHOLE
    assert not (tmp_path / PROGRESS).exists()


def test_a_run_that_another_process_began_before_the_lock_was_had_is_not_begun_again(tmp_path, monkeypatch) -> None:
    _other_process(monkeypatch, settings={"categories": ["c"]})
    with pytest.raises(UsageError, match="categories were c"):
        _opened(tmp_path)
    there = read_manifest(tmp_path)
    assert there.settings == {"categories": ["c"]}


def test_beginning_twice_finds_what_was_begun(tmp_path: Path) -> None:
    with _opened(tmp_path / "deep" / "run") as first:
        pass
    with _opened(tmp_path / "deep" / "run", started="now", python="4", arguments=["-v"]) as second:
        assert second.manifest == first.manifest


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"command": "observe"}, "it is one of `misstep classify`"),
        ({"settings": {"categories": ["a"]}}, "categories were a, b and are now a"),
        (
            {"inputs": Inputs(2, 2, "ee")},
            "its inputs are not as they were: 1 file of 2 bytes then, 2 files of 2 bytes now",
        ),
        ({"inputs": Inputs(1, 2, "ff", "aa")}, ""),
        ({"misstep": "2"}, "begun by Misstep 1"),
    ],
)
def test_a_folder_with_another_run_is_refused_in_one_sentence(tmp_path, changes, message) -> None:
    _opened(tmp_path).close()
    if not message:
        _opened(tmp_path, **changes).close()
        return
    with pytest.raises(UsageError, match=message) as caught:
        _opened(tmp_path, **changes)
    assert "\n" not in caught.value.line()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"prompt": "p@1+bbbb"}, ["the prompt changed"]),
        ({"examples": "cccc"}, ["the judge's examples changed"]),
        ({"judge_digest": "dddd"}, ["the judge's file changed"]),
        ({"judge_digest": "dddd", "prompt": "p@1+bbbb"}, ["the prompt changed"]),
        ({"judge_digest": "dddd", "settings": '{"temperature":0.5}'}, ["temperature was 0.0 and is now 0.5"]),
        ({"settings": '{"temperature":0.0,"seed":null}'}, []),
        ({"sample": 20}, ["sample was not given and is now 20"]),
        ({"model": "large", "votes": 3}, ["model was small and is now large", "votes were 1 and are now 3"]),
        ({"settings": {"temperature": 0.5, "seed": 3}}, ["temperature was 0.0 and is now 0.5", "seed was not given"]),
        ({"settings": {"temperature": 0.0, "seed": None}}, []),
        ({"limits": {"steps": 30, "of": {"tokens": 9}}}, ["steps were 20 and are now 30", "tokens were not given"]),
    ],
)
def test_what_a_run_was_asked_otherwise_is_said_in_words_and_never_in_digests(tmp_path, asked, message) -> None:
    first = {"judge_digest": "aaaa", "prompt": "p@1+aaaa", "settings": '{"temperature":0.0}', "model": "small"}
    first |= {"votes": 1, "limits": {"steps": 20, "of": {}}}  # type: ignore[dict-item]
    _opened(tmp_path, settings=first).close()
    if not message:
        _opened(tmp_path, settings=first | asked).close()
        return
    with pytest.raises(UsageError) as caught:
        _opened(tmp_path, settings=first | asked)
    assert "holds another run: " in caught.value.line()
    assert all(clause in caught.value.line() for clause in message)
    assert caught.value.line().count(";") == len(message) - 1
    assert not any(digest in caught.value.line() for digest in ("aaaa", "bbbb", "cccc", "dddd"))


def test_a_finished_run_stays_as_it_is_under_a_newer_version(tmp_path: Path) -> None:
    with _opened(tmp_path) as run:
        run.finish("later")
    with _opened(tmp_path, misstep="2") as run:
        assert run.finished
        assert run.manifest.finished == "later"


def test_finishing_takes_the_journal_away_and_may_be_done_again(tmp_path: Path) -> None:
    _run_on(tmp_path)
    with _opened(tmp_path) as run:
        for _ in range(2):
            run.finish("later")
            assert not (tmp_path / PROGRESS).exists()


def test_verdicts_without_a_manifest_are_somebody_elses(tmp_path: Path) -> None:
    (tmp_path / VERDICTS).write_text("precious")
    with pytest.raises(UsageError, match=r"no run\.toml"):
        _opened(tmp_path)
    assert (tmp_path / VERDICTS).read_text() == "precious"
    assert not (tmp_path / PROGRESS).exists()


def test_a_file_in_the_place_of_the_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(InputError, match="the folder cannot be made"):
        _opened(tmp_path / "run")


VERDICT_LINES = [encode_lines([Verdict(f"item-{number}", "made_up", "yes")]) for number in range(6)]
PAID = b"".join(VERDICT_LINES)


def _name(verdict: Verdict, noted: str | None) -> str:
    return verdict.item if noted is None else noted


def _asked(folder: Path) -> RunInProgress[Verdict, str]:
    """A run whose verdicts are paid for."""
    return RunInProgress(folder, _manifest(), VERDICT_RECORDS, str, _name)


@pytest.fixture
def paid(tmp_path: Path) -> Path:
    """An unfinished run of verdicts that were paid for; the journal says of each that it was noted."""
    with _asked(tmp_path) as run:
        for number, line in enumerate(VERDICT_LINES):
            run.append_lines(line, f"noted-{number}")
    return tmp_path


def test_paid_verdicts_stay_whichever_byte_of_the_journal_is_broken(paid: Path) -> None:
    journal = paid / PROGRESS
    content = journal.read_bytes()
    for place in range(0, len(content), 7):
        journal.write_bytes(content[:place] + bytes([content[place] ^ 0x15]) + content[place + 1 :])
        with _asked(paid) as run:
            broken = content.count(b"\n", 0, place)
            assert [entry[:5] for entry in run.entries].count("item-") in (1, 2), place
            assert {entry[-1] for number, entry in enumerate(run.entries) if number != broken} <= set("012345")
        assert (paid / VERDICTS).read_bytes() == PAID


@pytest.mark.parametrize("kept", [*range(0, len(PAID), 9), len(PAID)])
def test_cut_at_any_byte_without_a_journal_every_whole_paid_verdict_stays(paid: Path, kept: int) -> None:
    (paid / PROGRESS).unlink()
    (paid / VERDICTS).write_bytes(PAID[:kept])
    with _asked(paid) as run:
        whole = PAID[:kept].count(b"\n")
        assert run.entries == [f"item-{number}" for number in range(whole)]
    assert (paid / VERDICTS).read_bytes() == b"".join(VERDICT_LINES[:whole])


def test_a_paid_verdict_that_was_written_before_its_note_stays(paid: Path) -> None:
    further = encode_lines([Verdict("further", "made_up", "no")])
    with (paid / VERDICTS).open("ab") as stream:
        stream.write(further + b'{"item": "half')
    with _asked(paid) as run:
        assert run.entries[-1] == "further"
        run.append_lines(VERDICT_LINES[0], "again")
    assert (paid / VERDICTS).read_bytes() == PAID + further + VERDICT_LINES[0]
    with _asked(paid) as run:
        assert run.entries == [*(f"noted-{number}" for number in range(6)), "further", "again"]


@pytest.mark.parametrize("kept", [None, 0, len(PAID) // 2])
def test_paid_verdicts_that_are_gone_are_asked_again_only_when_a_person_says_so(paid: Path, kept: int | None) -> None:
    if kept is None:
        (paid / VERDICTS).unlink()
    else:
        (paid / VERDICTS).write_bytes(PAID[:kept])
    noted = (paid / PROGRESS).read_bytes()
    for _ in range(2):
        with pytest.raises(InputError, match=r"verdicts\.jsonl: \d of the 6 answers .* delete progress\.jsonl"):
            _asked(paid)
        assert (paid / PROGRESS).read_bytes() == noted
        assert (paid / VERDICTS).read_bytes() == PAID[: kept or 0]
    (paid / PROGRESS).unlink()
    with _asked(paid) as run:
        assert len(run.entries) == PAID[: kept or 0].count(b"\n")


def test_a_broken_line_among_paid_verdicts_is_named_and_nothing_is_cut(paid: Path) -> None:
    broken = PAID.replace(b'"item":"item-2"', b'"item":"item-2', 1)
    (paid / VERDICTS).write_bytes(broken)
    with pytest.raises(InputError, match=r"verdicts\.jsonl:3: not a valid verdict"):
        _asked(paid)
    assert (paid / VERDICTS).read_bytes() == broken


@pytest.mark.parametrize("kept", [0, 1, 5])
def test_a_finished_run_whose_verdicts_were_cut_off_at_a_line_end_is_not_taken_for_a_whole_one(tmp_path, kept) -> None:
    with RunInProgress(tmp_path, _manifest(), VERDICT_RECORDS, int) as run:
        run.append([Verdict(f"item-{number}", "made_up", "yes") for number in range(6)], 0)
        run.finish("later")
    assert len(list(read_verdicts(tmp_path))) == 6
    file = tmp_path / VERDICTS
    whole = file.read_bytes()
    file.write_bytes(b"".join(whole.splitlines(keepends=True)[:kept]))
    for look in (lambda: read_manifest(tmp_path), lambda: _opened(tmp_path)):
        with pytest.raises(InputError, match=rf"verdicts\.jsonl: {kept} lines of .* finished run had 6 lines of"):
            look()
    file.unlink()
    with pytest.raises(InputError, match=r"verdicts\.jsonl: cannot open: .* finished run had 6 lines"):
        read_manifest(tmp_path)
    file.write_bytes(whole)
    assert _opened(tmp_path).finished


def test_a_run_that_was_finished_before_its_length_was_noted_is_read_as_before(tmp_path: Path) -> None:
    write_manifest(tmp_path, _manifest(finished="later"))
    (tmp_path / VERDICTS).write_bytes(PAID)
    assert _opened(tmp_path).finished
