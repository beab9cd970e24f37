"""A detector in a process of its own: what it says comes through, what it does stays there."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import pytest

from misstep_harness.errors import MissingPrerequisite, MisstepError
from misstep_harness.exchange import Outcome, Reply, Request
from misstep_harness.intervention import Misbehaviour
from misstep_harness.observer.observer import DetectorFailed, DetectorProcess
from misstep_harness.protocols import Ask
from tests.harness.agent.folders import NoModel
from tests.harness.observer.made_up_runs import asked, call, read, run

LOOP = run(asked(), *[read()] * 4)


class Echo:
    """A model that says what it was asked."""

    model = "small-1"

    async def __call__(self, request: Request) -> Outcome:
        return Reply(f"{request.model}: {request.messages[0].content}", None, "stop", request.model, 1, 1, 0.1, None)


class Begun(NoModel):
    """A way to ask that tells when the detector has begun."""

    def __init__(self) -> None:
        self.asked = Event()

    async def __call__(self, request: Request) -> Outcome:
        self.asked.set()
        return await super().__call__(request)


class Refusing(NoModel):
    """A way to ask that raises, as one without a key does."""

    async def __call__(self, request: Request) -> Outcome:  # noqa: ARG002
        raise MissingPrerequisite("no key")


def _bad(name: str) -> str:
    return f"tests.harness.observer.bad_detectors:{name}"


@contextmanager
def _started(name: str, ask: Ask) -> Iterator[DetectorProcess]:
    detector = DetectorProcess(name, ask)
    detector.start()
    yield detector
    detector.kill()


def _found(name: str) -> tuple[Misbehaviour, ...]:
    with _started(name, NoModel()) as detector:
        return detector.detect(LOOP).misbehaviours


def test_the_rules_find_a_loop_and_the_call_that_is_repeated() -> None:
    (loop,) = _found("rules")
    assert (loop.category, loop.steps) == ("infinite_loop", (1, 2, 3, 4))
    assert loop.evidence["call"] == "read_file(file_path='a.py')"


def test_a_detector_asks_a_model_through_the_observer_and_gets_steps_as_they_come() -> None:
    first = [asked(), call(answer="half \ud83d a sign"), read()]
    runs = [run(*first[:2]), run(*first), run(asked(), read("b.py"))]
    with _started(_bad("Asking"), Echo()) as detector:
        rationales = [detector.detect(one).misbehaviours[0].rationale for one in runs]
    assert rationales == ["small-1: half � a sign 2", "small-1: one = 1 3", "small-1: one = 1 2"]


@pytest.mark.parametrize(("name", "error"), [("Asking", "no key"), ("Endless", "more than 100 times")])
def test_a_question_that_broke_off_while_the_detector_waits_leaves_no_process_that_waits_on(name, error) -> None:
    with _started(_bad(name), Refusing() if name == "Asking" else Echo()) as detector:
        for _ in range(2):
            detector.start()
            with pytest.raises(MisstepError, match=error):
                detector.detect(LOOP)
            assert detector.process_id is None


def test_an_error_of_a_detector_is_cut() -> None:
    with _started(_bad("Raising"), NoModel()) as detector, pytest.raises(DetectorFailed, match="broken") as failure:
        detector.detect(LOOP)
    assert len(failure.value.line()) < 2_000


def test_what_a_detector_prints_goes_nowhere() -> None:
    assert _found(_bad("Printing")) == ()


def test_a_detector_never_sees_the_key_of_the_model_that_it_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-1")
    assert _found(_bad("Spying"))[0].rationale == "[]"


def test_a_flood_is_cut_before_it_is_sent() -> None:
    faults = _found(_bad("Flooding"))
    assert (len(faults), max(len(one.category) + len(one.rationale) for one in faults)) == (20, 2_000)


@pytest.mark.parametrize("name", ["Hanging", "Heedless", "Blocking", "Computing"])
def test_a_detector_that_never_answers_is_killed_and_its_question_ends(name: str) -> None:
    model, errors = Begun(), []

    def detect() -> None:
        try:
            detector.detect(LOOP)
        except DetectorFailed as error:
            errors.append(error)

    with _started(_bad(name), model) as detector:
        question = Thread(target=detect)
        question.start()
        assert model.asked.wait(60)
        detector.kill()
        question.join(60)
        assert detector.process_id is None
    assert len(errors) == 1
