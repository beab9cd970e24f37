"""Labels are not given away: neither words nor lengths tell the agent's fault from the task's, families held out.

What agents are asked, say and run is known without running it, and is measured here on several seeds. What commands
print and harnesses log needs a whole benchmark: `MISSTEP_TRIAGE_CASES` names a folder that `misstep generate
triage-cases` wrote.
"""

import os

import pytest

from misstep.harness.generate.triage.draws import DEFAULT_N, units
from misstep.harness.generate.triage.family import families
from misstep.harness.runs.triage import instance, scenarios
from misstep.harness.runs.triage.instance import Instance
from misstep.harness.runs.triage.session import Done, Tree, TriageEntry, TriageSession

FOLDER = os.environ.get("MISSTEP_TRIAGE_CASES", "")
SEEDS = (1,)


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands change no file, and every test fails: plans are drawn without a sandbox."""

    def gold(self: Instance, _: object) -> Tree:
        return {self.sound.result: TriageEntry(b"a\nb\nc\n")}

    def run_session(tree: Tree, commands: list[str], *_: object, **__: object) -> TriageSession:
        return TriageSession(tuple(Done("", 0) for _ in commands), tree)

    for module in (instance, scenarios):
        monkeypatch.setattr(module, "run_session", run_session)
        monkeypatch.setattr(module, "run_tests", lambda *_, **__: Done("", 1))
    monkeypatch.setattr(Instance, "gold", gold)


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
