"""Labels are not given away: neither words nor lengths tell the agent's fault from the task's, families held out.

What agents are asked, say and run is known without running it, and is measured here on several seeds. What commands
print and harnesses log needs a whole benchmark: `MISSTEP_TRIAGE_CASES` names a folder that `misstep generate
triage-cases` wrote.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from misstep_harness.triage.generate.plans import DEFAULT_N, PAIRS, actions, families, summary, units
from misstep_harness.triage.runs import recording, scenarios
from misstep_harness.triage.runs.recording import Done, Instance, Tree, TriageEntry, TriageSession, text_files
from tests.harness.triage.runs.giveaways import VisibleRun, areas, visible_runs

FOLDER = os.environ.get("MISSTEP_TRIAGE_CASES", "")
SEEDS = (1,)


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands change no file, and every test fails: plans are drawn without a sandbox."""

    def gold(self: Instance, _: object) -> Tree:
        return {self.sound.result: TriageEntry(b"a\nb\nc\n")}

    def run_session(tree: Tree, commands: list[str], *_: object, **__: object) -> TriageSession:
        return TriageSession(tuple(Done("", 0) for _ in commands), tree)

    for module in (recording, scenarios):
        monkeypatch.setattr(module, "run_session", run_session)
        monkeypatch.setattr(module, "run_tests", lambda *_, **__: Done("", 1))
    monkeypatch.setattr(Instance, "gold", gold)


def plans(seed: int) -> Iterator[VisibleRun]:
    """What is known of the pairs of a benchmark before they are run."""
    for unit in units(DEFAULT_N, seed, families("development")):
        if unit.kind not in PAIRS or families("development")[unit.family].make:
            continue
        for scenario in scenarios.scenarios(
            unit, Instance(unit.family, families("development")[unit.family], unit.seed)
        ):
            planned = scenario.planned
            turns = actions(planned.work, text_files(planned.setting.environment), planned.length, planned.seed)
            texts = [planned.unsent, *(turn.thought for turn in turns), *(turn.command for turn in turns)]
            texts += [] if unit.kind in ("endless", "hungry") else [summary(planned.seed)]
            asked = planned.setting.instruction
            sizes = (len(turns) + bool(planned.unsent), sum(map(len, texts)), len(asked))
            yield VisibleRun("\n".join([asked, *texts]), sizes, scenario.label == "agent", unit.family)


@pytest.mark.usefixtures("nothing_runs")
def test_words_and_lengths_of_plans_are_near_chance_on_task_against_agent() -> None:
    for area in areas([run for seed in SEEDS for run in plans(seed)]):
        assert area.low <= 0.5 <= area.high or area.value < 0.5, area


@pytest.mark.usefixtures("nothing_runs")
def test_a_run_that_loses_its_last_part_says_all_of_it_and_ends_as_its_partner_does() -> None:
    known, kinds = families("development"), set()
    for unit in units(DEFAULT_N, SEEDS[0], known):
        if unit.kind not in ("cut", "endless", "hungry") or known[unit.family].make:
            continue
        drawn = Instance(unit.family, known[unit.family], unit.seed)
        agent, task = (scenario.planned for scenario in scenarios.scenarios(unit, drawn))
        text = "\n".join([*(command for _, command in agent.work), agent.unsent])
        assert all(line in text for line in drawn.solve_script().splitlines()[1:])
        assert len(agent.work) + bool(agent.unsent) == len(task.work)
        if not agent.unsent:
            assert task.work[-1][1].endswith(agent.work[-1][1].removesuffix(after_last(drawn)).strip())
        kinds.add(unit.kind)
    assert {"cut", "endless"} <= kinds


def after_last(drawn: Instance) -> str:
    """What the honest agent writes from the last part on."""
    return "\n".join(command for kind, command in drawn.work()[drawn.decisive() :] if kind == "write")


@pytest.mark.skipif(not FOLDER, reason="set MISSTEP_TRIAGE_CASES to a generated benchmark of triage cases")
def test_words_and_lengths_of_runs_are_near_chance_on_task_against_agent() -> None:
    for area in areas(list(visible_runs(Path(FOLDER)))):
        assert area.low <= 0.5 <= area.high or area.value < 0.5, area
