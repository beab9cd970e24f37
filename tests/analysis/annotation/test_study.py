"""The folder of an annotation study: nothing that was answered is lost, and nothing is answered twice."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from misstep_analysis.annotation.study import Conflict, Server, read_study
from misstep_harness.annotation import PHASES, RaterAnswer
from misstep_harness.errors import InputError, UsageError
from tests.analysis.annotation.made_up import opened, write_case, write_cases


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    return write_cases(tmp_path / "cases", 4)


def _answer(study, rater: str, item: str, label: str = "task", **more: object) -> RaterAnswer:
    given = RaterAnswer(item, rater, study.state.phase, label, certainty="high", **more)  # type: ignore[arg-type]
    study.answer(given)
    return given


def _lines(study: Path) -> list[bytes]:
    return (study / "answers.jsonl").read_bytes().splitlines(keepends=True)


def test_an_answer_is_a_line_on_disk_when_it_is_taken(cases: Path, tmp_path: Path) -> None:
    with opened(cases, tmp_path / "study") as study:
        (item, _) = study.state.plan.calibration
        _answer(study, "ann", item, note="because")
        assert [b'"because"' in line for line in _lines(tmp_path / "study")] == [True]


def test_what_raters_answered_blind_is_for_the_user_alone(cases: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    with opened(cases, folder) as study:
        _answer(study, "ann", study.state.plan.calibration[0])
        names = ("answers.jsonl", "progress.jsonl")
        assert {(folder / name).stat().st_mode & 0o777 for name in names} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_study_that_was_killed_goes_on_where_it_was(cases: Path, tmp_path: Path) -> None:
    with opened(cases, tmp_path / "study") as study:
        for item in study.state.plan.calibration:
            _answer(study, "ann", item)
        kept = study.state.answers
    with (tmp_path / "study/answers.jsonl").open("ab") as file:
        file.write(b'{"item":"case-1","rater":"be')
    with opened(cases, tmp_path / "study") as again:
        assert again.state.answers == kept
        _answer(again, "ben", again.state.plan.calibration[0])
    assert [line.endswith(b"}\n") for line in _lines(tmp_path / "study")] == [True] * 3
    assert len(read_study(tmp_path / "study")[0].answers) == 3


@pytest.mark.parametrize(
    "changed", [{"raters": ("ann", "dan")}, {"calibration": 1}, {"seed": 9}], ids=["rater", "calibration", "seed"]
)
def test_another_plan_is_another_study_and_says_what_differs(cases, tmp_path, changed) -> None:
    with opened(cases, tmp_path / "study"):
        pass
    with pytest.raises(
        UsageError, match=r"holds another run: (raters were ann, ben and are now ann, dan|.*calibration)"
    ):
        opened(cases, tmp_path / "study", **changed)  # type: ignore[arg-type]


def test_cases_that_changed_are_refused(cases: Path, tmp_path: Path) -> None:
    with opened(cases, tmp_path / "study"):
        pass
    (cases / "case-1/instruction.md").write_text("Something else.")
    with pytest.raises(UsageError, match=r"instruction\.md"):
        opened(cases, tmp_path / "study")


def test_the_same_answer_sent_twice_is_kept_once(cases: Path, tmp_path: Path) -> None:
    with opened(cases, tmp_path / "study") as study:
        (item, _) = study.state.plan.calibration
        sent = _answer(study, "ann", item)
        study.answer(sent)
        study.answer(structs.replace(sent, revision=1))
        assert len(study.state.answers) == 1


def test_a_stale_tab_overwrites_nothing(cases: Path, tmp_path: Path) -> None:
    with opened(cases, tmp_path / "study") as study:
        (item, _) = study.state.plan.calibration
        _answer(study, "ann", item)
        with pytest.raises(Conflict, match="answered elsewhere meanwhile: task"):
            _answer(study, "ann", item, "agent")
        _answer(study, "ann", item, "agent", revision=1)
        with pytest.raises(Conflict):
            _answer(study, "ann", item, "task")
        assert len(study.state.answers) == 2


def test_in_reconciliation_a_tab_of_the_independent_phase_changes_no_blind_label(cases: Path, tmp_path: Path) -> None:
    with opened(cases, tmp_path / "study", calibration=0) as study:
        for rater, label in (("ann", "task"), ("ben", "agent")):
            for item in study.state.order(rater):
                _answer(study, rater, item, label)
        assert study.state.phase == "reconciliation"
        item = study.state.disputed[0]
        late = RaterAnswer(item, "ann", "independent", "agent", certainty="low", revision=1)
        with pytest.raises(Conflict, match="phase independent"):
            study.answer(late)
        assert study.state.study.blind()[item, "ann"].label == "task"


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ann", "ben"]),
            st.integers(0, 1),
            st.sampled_from(["task", "agent", None]),
            st.sampled_from(PHASES),
            st.integers(0, 2),
        ),
        max_size=30,
    )
)
def test_whatever_tabs_send_answers_are_only_added_and_blind_labels_stand(tmp_path_factory, sent) -> None:
    folder = tmp_path_factory.mktemp("study")
    before: tuple[RaterAnswer, ...] = ()
    blind = None
    with opened(write_cases(folder / "cases", 2), folder / "study", calibration=1) as study:
        for rater, number, label, phase, revision in sent:
            given_now = RaterAnswer(f"case-{number}", rater, phase, label, revision=revision)
            with suppress(Conflict):
                study.answer(given_now)
            assert study.state.answers[: len(before)] == before
            before = study.state.answers
            if study.state.phase == "reconciliation":
                blind = blind or study.state.study.blind()
                assert study.state.study.blind() == blind
        for (phase, item, rater), answers in study.state.by_rater.items():
            assert [one.revision for one in answers] == list(range(len(answers))), (phase, item, rater)
    assert read_study(folder / "study")[0].answers == before


def test_address_and_secret_outlive_the_server(cases: Path, tmp_path: Path) -> None:
    with opened(cases, tmp_path / "study") as study:
        server = study.server(0)
        study.serves(Server(5123, server.secret))
    with opened(cases, tmp_path / "study") as again:
        assert again.server(0) == Server(5123, server.secret)
        assert again.server(6000).port == 6000
    assert (tmp_path / "study/server.json").stat().st_mode & 0o777 == 0o600


def test_a_manifest_that_lacks_something_is_said(cases: Path, tmp_path: Path) -> None:
    with opened(cases, tmp_path / "study"):
        pass
    manifest = tmp_path / "study/run.toml"
    manifest.write_text(manifest.read_text().replace("labels = ", "label = "))
    with pytest.raises(InputError, match=r"run\.toml: not what .* wrote: .*labels"):
        read_study(tmp_path / "study")


def test_what_is_no_study_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a folder of an annotation study"):
        read_study(tmp_path)
    write_case(tmp_path / "cases", "one")
    with pytest.raises(UsageError, match="no triage case"):
        opened(tmp_path, tmp_path / "study")
