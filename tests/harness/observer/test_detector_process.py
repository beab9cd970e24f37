"""A detector in a process of its own: what it says comes through, what it does stays there."""

import asyncio

import pytest

from misstep.harness.exchange import Outcome, Reply, Request
from misstep.harness.observer.detector_process import DetectorFailed, DetectorProcess
from misstep.harness.records.intervention import Misbehaviour
from misstep.harness.trajectory import Trajectory
from tests.harness.agent.folders import NoModel
from tests.harness.observer.runs import asked, call, read, run

LOOP = run(asked(), *[read()] * 4)


class Echo:
    """A model that says what it was asked."""

    model = "small-1"

    async def __call__(self, request: Request) -> Outcome:
        return Reply(f"{request.model}: {request.messages[0].content}", None, "stop", request.model, 1, 1, 0.1, None)


class Begun(NoModel):
    """A way to ask that tells when the detector has begun."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def __call__(self, request: Request) -> Outcome:
        self.asked.set()
        return await super().__call__(request)


def _bad(name: str) -> str:
    return f"tests.harness.observer.bad_detectors:{name}"


def _found(name: str) -> tuple[Misbehaviour, ...]:
    async def found() -> tuple[Misbehaviour, ...]:
        async with DetectorProcess(name, NoModel()) as detector:
            return (await detector.detect(LOOP)).misbehaviours

    return asyncio.run(found())


def test_the_rules_find_a_loop_and_the_call_that_is_repeated() -> None:
    (loop,) = _found("rules")
    assert (loop.category, loop.steps) == ("infinite_loop", (1, 2, 3, 4))
    assert loop.evidence["call"] == "read_file(file_path='a.py')"


def test_a_detector_asks_a_model_through_the_observer_and_gets_steps_as_they_come() -> None:
    async def said(*runs: Trajectory) -> list[str]:
        async with DetectorProcess(_bad("Asking"), Echo()) as detector:
            return [(await detector.detect(one)).misbehaviours[0].rationale for one in runs]

    first = [asked(), call(answer="half \ud83d a sign"), read()]
    runs = [run(*first[:2]), run(*first), run(asked(), read("b.py"))]
    assert asyncio.run(said(*runs)) == ["small-1: half � a sign 2", "small-1: one = 1 3", "small-1: one = 1 2"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Raising", "ValueError: broken"),
        ("Wrong", "str where Feedback belongs"),
        ("Leaving", "ended"),
        ("None", "None"),
    ],
)
def test_a_detector_that_fails_costs_one_answer(name: str, text: str) -> None:
    async def fails() -> str:
        async with DetectorProcess(_bad(name), NoModel()) as detector:
            for _ in range(2):
                with pytest.raises(DetectorFailed) as failure:
                    await detector.detect(LOOP)
        return failure.value.line()

    line = asyncio.run(fails())
    assert text in line
    assert len(line) < 2_000


def test_what_a_detector_prints_goes_nowhere() -> None:
    assert _found(_bad("Printing")) == ()


def test_a_detector_never_sees_the_key_of_the_model_that_it_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-1")
    assert _found(_bad("Spying"))[0].rationale == "[]"


def test_a_flood_is_cut_before_it_is_sent() -> None:
    faults = _found(_bad("Flooding"))
    assert (len(faults), max(len(one.category) + len(one.rationale) for one in faults)) == (20, 2_000)


@pytest.mark.parametrize("name", ["Hanging", "Heedless", "Blocking", "Computing"])
def test_a_detector_that_never_answers_is_killed_when_it_is_cancelled_and_starts_anew(name: str) -> None:
    async def processes() -> set[int | None]:
        seen = set()
        model = Begun()
        async with DetectorProcess(_bad(name), model) as detector:
            for _ in range(2):
                model.asked.clear()
                task = asyncio.create_task(detector.detect(LOOP))
                await model.asked.wait()
                seen.add(detector.process_id)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert detector.process_id is None
        return seen

    assert len(asyncio.run(processes()) - {None}) == 2
