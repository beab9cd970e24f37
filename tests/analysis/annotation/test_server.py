"""The pages of an annotation study: each rater for itself, blind where it must be, closed to everybody else."""

import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.analysis.annotation.made_up import HOSTILE, Served, opened, served, write_cases
from tests.analysis.pages.html_rules import check_page
from tests.misstep.as_a_user import files_end_at

NOTE = "Only Ann could write this."


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[Served]:
    """The pages of a study of two raters and four cases, two of them for calibration."""
    with opened(write_cases(tmp_path / "cases", 4), tmp_path / "study") as study, served(study) as running:
        yield running


def _first(pages: Served, rater: str = "ann") -> tuple[str, str]:
    """The first case of the calibration, and its address for a rater."""
    plan = pages.pages.study.state.plan
    return plan.calibration[0], pages.address(rater, f"case/{plan.items.index(plan.calibration[0])}")


def _all_of_the_phase(pages: Served, **labels: str) -> None:
    for rater in pages.pages.study.state.plan.raters:
        for item in pages.pages.study.state.left(rater):
            status, text, _ = pages.label(rater, item, **_as(labels.get(rater, "agent")))
            assert status == 200, text


def _as(label: str) -> dict[str, object]:
    return {"label": label, "subcategory task": "brittle_tests", "note": f"{label} it is"}


def test_a_rater_comes_to_the_first_case_that_is_left_and_goes_on_from_there(pages: Served) -> None:
    first, second = pages.pages.study.state.plan.calibration
    status, text, address = pages.get(pages.address("ann"))
    assert (status, first in text) == (200, True)
    status, text, after = pages.label("ann", first)
    assert (status, second in text) == (200, True)
    assert after != address
    assert pages.get(pages.address("ann"))[2] == after


def test_the_page_keeps_the_rules_of_pages_and_shows_hostile_text_as_text(tmp_path: Path) -> None:
    cases = write_cases(tmp_path / "cases", 1, text=HOSTILE)
    with opened(cases, tmp_path / "study", calibration=0) as study, served(study) as pages:
        _, text, _ = pages.get(pages.address("ann"))
    page = check_page(text)
    assert page.tags.count("img") == 0
    assert page.text.count("<img src=x onerror=alert(1)>") > 5
    assert "sha256-" in text.split("Content-Security-Policy")[1][:80]


def test_gold_labels_are_on_no_page(pages: Served) -> None:
    for rater in ("ann", "ben"):
        for item in pages.pages.study.state.plan.calibration:
            number = pages.pages.study.state.plan.items.index(item)
            assert "construction" not in pages.get(pages.address(rater, f"case/{number}"))[1]


def test_nobody_sees_an_answer_of_another_before_the_phase_is_over(pages: Served) -> None:
    state = pages.pages.study.state
    first, second = state.plan.calibration
    assert pages.label("ann", first, note=NOTE)[0] == 200
    _, text, _ = pages.get(pages.address("ben", f"case/{state.plan.items.index(first)}"))
    assert NOTE not in text
    assert pages.get(pages.address("ben", "calibration"))[0] == 409
    assert pages.label("ann", second)[0] == 200
    waiting = pages.get(pages.address("ann"))[1]
    assert "You are done with this phase" in waiting
    assert "ben (2 cases)" in waiting
    check_page(waiting)


def test_after_calibration_the_labels_stand_side_by_side_with_the_code_book(pages: Served) -> None:
    _all_of_the_phase(pages, ben="task")
    status, text, address = pages.get(pages.address("ann"))
    assert (status, address) == (200, pages.address("ann", "calibration"))
    assert "The raters differ on 2 of 2 cases" in text
    assert "they are stricter than the instruction" in text
    check_page(text)


def test_a_dispute_shows_every_label_and_note_with_its_history_and_keeps_the_blind_ones(pages: Served) -> None:
    _all_of_the_phase(pages)
    _all_of_the_phase(pages, ben="task")
    study = pages.pages.study
    assert study.state.phase == "reconciliation"
    item = study.state.disputed[0]
    _, text, _ = pages.get(pages.address("ann"))
    assert "agent it is" in text
    assert "task it is" in text
    assert pages.label("ben", item, **_as("agent"), revision=0)[0] == 200
    _, text, _ = pages.get(pages.address("ann", f"case/{study.state.plan.items.index(item)}"))
    assert "together" in check_page(text).text
    assert study.state.study.blind()[item, "ben"].label == "task"
    _all_of_the_phase(pages)
    assert "All cases are labelled. 2 cases in dispute were reconciled." in pages.get(pages.address("ann"))[1]


def test_an_address_of_no_rater_leads_nowhere(pages: Served) -> None:
    root = f"http://127.0.0.1:{pages.port}"
    for path in ("/", "/dan/", f"/{'0' * 32}/", f"/{'0' * 32}/case/0"):
        assert pages.get(root + path)[0] == 404
    assert pages.post(f"{root}/{'0' * 32}/case/0", {"label": "task"})[0] == 404


def test_one_raters_form_is_refused_under_anothers_address(pages: Served) -> None:
    item, address = _first(pages, "ben")
    status, text, _ = pages.post(address, pages.form("ann", item))
    assert (status, "not from this rater" in text) == (400, True)
    assert pages.pages.study.state.answers == ()


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
    ids=lambda headers: " ".join(f"{name} {value}" for name, value in headers.items()),
)
def test_other_origins_can_neither_read_nor_write(pages: Served, headers: dict[str, str]) -> None:
    item, address = _first(pages)
    assert pages.get(address, **headers)[0] == 403
    assert pages.post(address, pages.form("ann", item), **headers)[0] == 403
    assert pages.pages.study.state.answers == ()


def test_a_write_that_does_not_say_where_it_is_from_is_refused(pages: Served) -> None:
    item, address = _first(pages)
    body = urllib.parse.urlencode(pages.form("ann", item), doseq=True).encode()
    with pytest.raises(urllib.error.HTTPError, match="403") as refused:
        urllib.request.urlopen(urllib.request.Request(address, body), timeout=30)  # noqa: S310 (loopback)
    refused.value.close()


def test_every_reply_forbids_frames_caches_and_guessed_types(pages: Served) -> None:
    with urllib.request.urlopen(pages.address("ann"), timeout=30) as reply:  # noqa: S310 (loopback)
        headers = reply.headers
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"label": "nobody"}, "cannot be labelled"),
        ({"subcategory agent": "brittle_tests"}, "cannot be labelled"),
        ({"certainty": ""}, "how certain"),
        ({"note": "x" * 4001}, "4,000"),
        ({"step": ["-1"]}, "not a number"),
        ({"revision": "many"}, "not a number"),
        ({"phase": "holiday"}, "unknown phase"),
        ({"item": "case-9"}, "another case"),
    ],
)
def test_what_the_page_cannot_send_is_refused_with_a_sentence(pages, changed, said) -> None:
    item, address = _first(pages)
    status, text, _ = pages.post(address, pages.form("ann", item) | changed)
    assert (status in (400, 409), said in text) == (True, True), text
    assert pages.pages.study.state.answers == ()


def test_a_full_disk_is_said_and_nothing_is_taken_for_kept(tmp_path: Path) -> None:
    cases = write_cases(tmp_path / "cases", 4)
    with opened(cases, tmp_path / "study") as study, served(study) as pages:
        first, second = study.state.plan.calibration
        assert pages.label("ann", first)[0] == 200
        with files_end_at((tmp_path / "study/answers.jsonl").stat().st_size + 20):
            status, text, _ = pages.label("ann", second)
        assert (status, "answers.jsonl: cannot write" in text) == (507, True)
        assert [one.item for one in study.state.answers] == [first]
    with opened(cases, tmp_path / "study") as again:
        assert [one.item for one in again.state.answers] == [first]
        assert again.state.left("ann") == (second,)
