"""Failure mode 4, cosmetic novelty: equality does not see a reworded diagnosis; its words bring the strategist in."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from misstep.harness.agent.turns import Turn
from misstep.harness.generate.reflections import form_words, generate_reflections
from misstep.harness.records.loop_events import LoopEvent, PlateauFound, ReEngaged
from misstep.harness.reflexive.protocols import Context
from misstep.harness.reflexive.settings import ItemLimits, LoopSettings
from tests.harness.reflexive.notebook import (
    NotebookSkill,
    Scripted,
    ends,
    happened,
    items,
    looped,
    saying,
    team,
    writing,
)

SETTINGS = LoopSettings(failures_between=1_000, gap_attempts=1_000, item=ItemLimits(attempts=6))
"""Nothing but a plateau has the strategist asked."""

REWORDED = next(case for case in generate_reflections(9, seed=0) if case.kind == "order").reflections
SHARPER = tuple(
    f"Pattern: repeated failure of the worker. Root cause: {cause}."
    for cause in ("the certificate has expired", "nobody may write the folder", "the port is taken by a twin")
)


class Skill(NotebookSkill):
    """The notebook, whose reflector's layouts are known."""

    words = form_words("scoring")


def _loop(reflections: Sequence[str], folder: Path, settings: LoopSettings) -> list[LoopEvent]:
    async def reflect(context: Context, turn: Turn) -> str:
        await turn.think(10.0)
        return reflections[(context.attempt - 1) % len(reflections)]

    give_up = saying("VERDICT: ESCALATE\nREASON: Nothing new is said any more.")
    return looped(Skill(items("a")), team(writing("half"), Scripted("reflector", reflect), give_up), folder, settings)


def test_without_the_mechanism_one_diagnosis_in_other_words_is_never_found(tmp_path: Path) -> None:
    events = _loop(REWORDED, tmp_path, replace(SETTINGS, without=frozenset({"plateau_by_content"})))
    assert happened(events, PlateauFound) == happened(events, ReEngaged) == []
    assert ends(events)["a"].reason == "attempt_cap"


def test_with_it_the_strategist_is_asked_as_soon_as_the_window_is_full(tmp_path: Path) -> None:
    events = _loop(REWORDED, tmp_path, SETTINGS)
    (found,) = happened(events, PlateauFound)
    assert (found.detector, found.window) == ("keywords", 3)
    assert len(found.shared) >= 3
    assert [one.attempt for one in events if isinstance(one.happened, ReEngaged)] == [3]
    assert [one.trigger for one in happened(events, ReEngaged)] == ["plateau"]
    assert ends(events)["a"].reason == "strategist_escalated"


def test_as_printed_a_common_form_gives_up_what_makes_progress_and_the_keywords_do_not(tmp_path: Path) -> None:
    printed = _loop(SHARPER, tmp_path / "printed", replace(SETTINGS, plateau="keywords_as_printed"))
    ours = _loop(SHARPER, tmp_path / "ours", SETTINGS)
    assert {"cause", "pattern", "root"} <= set(happened(printed, PlateauFound)[0].shared)
    assert ends(printed)["a"].reason == "strategist_escalated"
    assert happened(ours, PlateauFound) == []
    assert ends(ours)["a"].reason == "attempt_cap"
