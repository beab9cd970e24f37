"""The skill `repair`: the cases of the Engineering Agent as work items of the reflexive loop."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any

from misstep.harness.agent.clocks import Clock
from misstep.harness.edits import instructions
from misstep.harness.records.loop_events import WorkItem
from misstep.harness.reflexive.protocols import MakeAgents, Target, VitalSign
from misstep.harness.repair.case import CaseFolder
from misstep.harness.repair.search.localisation import suspects
from misstep.harness.runs.reflect.repair_target import VITAL_SIGNS, open_trees
from misstep.harness.runs.reflect.repair_workers import GoldenWorker, SearchWorker, StubbornWorker, agents_of
from misstep.harness.runs.repair import inputs_of_cases
from misstep.harness.workspace import Sandbox

_MOST_CODE = 9_000
"""How many characters of suspicious files an item shows; the others can be read by command."""

_WORDS = "test tests failed failure assert assertion error expected case change code file function line oracle suite"
"""What every reflection on a repair speaks of."""


class RepairSkill:
    """Repair cases as work items; see `harness.reflexive.protocols.Skill`."""

    name = "repair"
    vital_signs: Sequence[VitalSign] = VITAL_SIGNS
    words = frozenset(_WORDS.split())

    def __init__(self, cases: Sequence[CaseFolder], sandbox: Sandbox) -> None:
        self._cases = {folder.case.id: folder for folder in cases}
        self._sandbox = sandbox
        self.agents: Mapping[str, MakeAgents] = {
            "search": lambda seed: agents_of(SearchWorker(self._cases, seed)),
            "golden": lambda seed: agents_of(GoldenWorker(self._cases)),  # noqa: ARG005
            "stubborn": lambda seed: agents_of(StubbornWorker()),  # noqa: ARG005
        }

    @cached_property
    def items(self) -> tuple[WorkItem, ...]:
        """Return the cases; no case waits for another."""
        return tuple(
            WorkItem(folder.case.id, str(folder.case.extra.get("category", folder.case.language)), _told(folder))
            for folder in self._cases.values()
        )

    def settings(self) -> dict[str, Any]:
        """Return the cases by the digest of their files, and the sandbox."""
        return {"cases": inputs_of_cases([*self._cases.values()]).digest, "sandbox": self._sandbox.name}

    def open(self, kept: Path, clock: Clock) -> AbstractContextManager[Target]:  # noqa: ARG002
        """Lay out the trees of all cases."""
        return open_trees([*self._cases.values()], kept, self._sandbox)


def _told(folder: CaseFolder) -> str:
    sources, places = suspects(folder)
    paths = dict.fromkeys(suspect.path for suspect in places)
    shown: list[str] = []
    left = _MOST_CODE
    for path in paths:
        text = sources[path].text
        if len(text) <= left:
            left -= len(text)
            shown.append(f"{folder.case.id}/{path}\n{text}")
    parts = [f"{folder.case.task.rstrip()}\n\nThe files are in the folder {folder.case.id}/."]
    parts += ["The files that the failure leads to:", *shown] if shown else []
    example = next(iter([*paths, *sources]), folder.case.oracle[0].partition("::")[0])
    return "\n\n".join([*parts, instructions("search_replace", f"{folder.case.id}/{example}")])
