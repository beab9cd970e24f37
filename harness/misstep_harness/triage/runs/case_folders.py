"""The folders of generated cases, and the rows about them."""

import random as _random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import tomli_w
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.readers.interchange.atif import to_atif
from misstep_harness.triage.generate.draws import Unit, unstable
from misstep_harness.triage.generate.family import families
from misstep_harness.triage.records.triage_case import CASE, SOLVE, CaseFile
from misstep_harness.triage.runs.instance import Instance, UnshownError
from misstep_harness.triage.runs.proofs import Proof, prove
from misstep_harness.triage.runs.recording import PlannedCase, Recorded, record
from misstep_harness.triage.runs.scenarios import Scenario, scenarios
from misstep_harness.triage.runs.session import Tree, TriageEntry, write_tree

_TRIES = 40
_DRAWINGS = 6


class Row(Struct, frozen=True):
    """What the tables of a benchmark say of a case: the item that judges see, and what only those with the truth do."""

    item: dict[str, Any]
    label: str
    subcategory: str
    family: str
    set: str
    variant: str
    partner: str
    passed: bool
    proof: Proof


def make_unit(unit: Unit, out: Path, which: dict[str, str]) -> list[Row]:
    """Run the cases of a unit, prove their labels, write their folders.

    A drawing that cannot show what the unit is to show is drawn anew before anything of it is kept.
    """
    return [_row_of(case, unit, out, which[unit.family]) for case in _drawn(unit, 0)]


def _drawn(unit: Unit, number: int) -> list["_Proved"]:
    drawing = replace(unit, seed=f"{unit.seed}/{number}", turn=unit.turn + number) if number else unit
    try:
        return list(_proved(drawing, number))
    except UnshownError:
        if number + 1 == _DRAWINGS:
            raise
        return _drawn(unit, number + 1)


class _Proved(Struct, frozen=True):
    scenario: Scenario
    recorded: Recorded
    proof: Proof
    task: str
    solution: Tree


def _proved(unit: Unit, drawing: int) -> Iterator[_Proved]:
    instance = Instance(unit.family, families("all")[unit.family], unit.seed)
    task = f"{unit.family.replace('_', '-')}-{unit.ids[0][-4:]}"
    for identifier, scenario in zip(unit.ids, scenarios(unit, instance), strict=True):
        planned, recorded = _recorded(identifier, task, scenario, instance)
        proof = prove(identifier, replace(scenario, planned=planned), recorded, instance)
        yield _Proved(scenario, recorded, replace(proof, drawing=drawing), task, _solution(instance, scenario))


def _row_of(case: _Proved, unit: Unit, out: Path, family_set: str) -> Row:
    recorded, scenario, name = case.recorded, case.scenario, case.proof.item
    _write(out / name, case)
    item = {
        "id": name,
        "kind": "triage",
        "trajectory": f"{name}/trajectory.json",
        "task": scenario.planned.setting.instruction,
        "text": f"{recorded.tests_log}\n{recorded.harness_log}",
        "extra": {"case": name},
    }
    of_case = (unit.family, family_set, scenario.variant, next((other for other in unit.ids if other != name), ""))
    return Row(item, scenario.label, scenario.subcategory, *of_case, recorded.passed, case.proof)


def _recorded(identifier: str, task: str, scenario: Scenario, instance: Instance) -> tuple[PlannedCase, Recorded]:
    """Return the run of a case; where chance decides, the first of some tries that comes out as planned."""
    planned = scenario.planned
    chance = scenario.proof == "flaky" or scenario.variant in unstable(instance.family)
    for number in range(_TRIES if chance else 1):
        variables = {"PYTHONHASHSEED": str(number), "TEST_SEED": str(number)} if chance else {}
        planned = replace(scenario.planned, variables=variables)
        recorded = record(identifier, task, planned)
        if not chance or not recorded.passed:
            break
    return planned, recorded


def _write(folder: Path, case: _Proved) -> None:
    setting, recorded = case.scenario.planned.setting, case.recorded
    file = CaseFile(
        id=case.proof.item,
        test_command=setting.test_command,
        setup_command=setting.setup,
        outcome="passed" if recorded.passed else "failed",
        task=case.task,
        evidence="generated",
        limits=setting.limits,
    )
    trajectory = msgspec.json.format(msgspec.json.encode(to_atif(recorded.trajectory)), indent=1)
    whole: dict[str, TriageEntry] = {
        CASE: TriageEntry(tomli_w.dumps(msgspec.to_builtins(file)).encode()),
        "instruction.md": TriageEntry(setting.instruction.encode()),
        "trajectory.json": TriageEntry(trajectory + b"\n"),
        "logs/tests.log": TriageEntry(recorded.tests_log.encode()),
        "logs/harness.log": TriageEntry(recorded.harness_log.encode()),
    }
    parts: dict[str, Tree] = {
        "environment": setting.environment,
        "tests": {path.removeprefix("tests/"): one for path, one in setting.tests.items()},
        "solution": case.solution,
        "workspace": recorded.result,
    }
    whole |= {f"{part}/{path}": one for part, tree in parts.items() for path, one in tree.items()}
    write_tree(whole, folder)
    for part in parts:
        (folder / part).mkdir(exist_ok=True)


def _solution(instance: Instance, scenario: Scenario) -> Tree:
    """Return the gold solution as a script, or as the files that it makes in the sound environment."""
    seed = scenario.planned.seed
    if _random.Random(f"{seed}/solution").random() < 0.5:  # noqa: S311 (no secret)
        return {SOLVE: TriageEntry(instance.solve_script().encode(), 0o755)}
    sound = instance.sound.setting
    gold = instance.gold(sound)
    changed = {path: one for path, one in gold.items() if sound.environment.get(path) != one}
    return changed or {SOLVE: TriageEntry(instance.solve_script().encode(), 0o755)}
