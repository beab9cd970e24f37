"""The skill `repair`: the cases of the Engineering Agent as work items, and its agents that ask no model."""

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache, cached_property
from pathlib import Path
from random import Random
from typing import Any

from misstep_harness.agent.clocks import Clock
from misstep_harness.agent.turns import Turn
from misstep_harness.edits import edit_format, instructions
from misstep_harness.errors import EditRefused
from misstep_harness.reflexive.protocols import Agent, Agents, Context, MakeAgents, Target, VitalSign
from misstep_harness.reflexive.records import WorkItem
from misstep_harness.reflexive.runs.repair_target import VITAL_SIGNS, open_trees
from misstep_harness.repair.case import CaseFolder
from misstep_harness.repair.runs.repair import inputs_of_cases
from misstep_harness.repair.search.candidates import candidates
from misstep_harness.repair.search.localisation import suspects
from misstep_harness.repair.search.source import changed
from misstep_harness.workspace import Sandbox

SECONDS = 5.0
"""How long a worker says that it thinks; on a virtual clock nothing else takes time."""

NO_MORE = "I know of no further change."

_MOST_OUTCOME = 300
_SAME = 3
_REFLECTION = re.compile(r"^reflection: (.*)$", re.MULTILINE)


class SearchWorker:
    """Applies one likely change an attempt, the likeliest first; `seed` shakes their ranks, except 0."""

    name = "search"

    def __init__(self, cases: Mapping[str, CaseFolder], seed: int = 0) -> None:
        self._changes = cache(lambda case: _changes(cases[case], seed))

    async def act(self, context: Context, turn: Turn) -> str:
        """Apply the change whose turn it is; says so if there is none left."""
        await turn.think(SECONDS)
        changes = self._changes(context.item.id)
        if context.attempt > len(changes):
            return NO_MORE
        edit, why = changes[context.attempt - 1]
        await turn.call("apply", {"change": edit, "folder": context.item.id})
        return f"I changed {why}."


def _changes(folder: CaseFolder, seed: int) -> tuple[tuple[str, str], ...]:
    sources, places = suspects(folder)
    form = edit_format("search_replace")
    edits: dict[str, str] = {}
    for each in candidates(sources, places, folder.case.task, Random(f"{seed}").getrandbits(32) if seed else 0):  # noqa: S311
        text = sources[each.path].text
        try:
            edit = form.render(each.path, text, changed(text, each.change))
        except EditRefused:
            continue
        edits.setdefault(edit, f"{each.path}:{each.change.line}, {each.change.template}")
    return tuple(edits.items())


class GoldenWorker:
    """Applies the patch that people wrote: it knows the answer, and shows what the loop does with one."""

    name = "golden"

    def __init__(self, cases: Mapping[str, CaseFolder]) -> None:
        self._cases = cases

    async def act(self, context: Context, turn: Turn) -> str:
        """Apply the patch, where the case has one."""
        await turn.think(SECONDS)
        patch = self._cases[context.item.id].golden()
        if patch is None:
            return NO_MORE
        await turn.call("apply", {"change": patch, "folder": context.item.id, "form": "unified_diff"})
        return "I applied the patch."


class StubbornWorker:
    """Makes the same useless change in every attempt, and learns nothing from what it is told."""

    name = "stubborn"

    async def act(self, context: Context, turn: Turn) -> str:
        """Write a file that nobody reads."""
        await turn.think(SECONDS)
        edit = "notes.txt\n<<<<<<< SEARCH\n=======\nIt should work now.\n>>>>>>> REPLACE\n"
        await turn.call("apply", {"change": edit, "folder": context.item.id})
        return "I changed it, and it should work now."


class Companion:
    """Plans, reflects and decides by what its context says, without a model."""

    name = "companion"

    async def act(self, context: Context, turn: Turn) -> str:
        """Return what was done and found where it reflects, a verdict where one is asked for, else a plan."""
        await turn.think(SECONDS)
        if context.role == "reflector":
            outcome = " ".join(context.part("outcome").split())[:_MOST_OUTCOME]
            return f"{context.part('turn')} It did not mend the case: {outcome}"
        if context.role == "strategist":
            last = _REFLECTION.findall(context.part("history"))[-_SAME:]
            if NO_MORE in context.part("history"):
                return f"VERDICT: ESCALATE\nPLAN: {NO_MORE}"
            if len(last) == _SAME and len(set(last)) == 1:
                return f"VERDICT: ESCALATE\nPLAN: The same was tried {_SAME} times: {last[0]}"
            return "VERDICT: CONTINUE\nPLAN: Try the next change."
        return "Change the code that the failing tests lead to, and leave the tests as they are."


def agents_of(worker: Agent) -> Agents:
    """Return a worker with companions in the other roles."""
    companion = Companion()
    return Agents(companion, worker, companion, companion)


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
            WorkItem(folder.case.id, str(folder.case.extra.get("category", folder.case.language)), _case_text(folder))
            for folder in self._cases.values()
        )

    def settings(self) -> dict[str, Any]:
        """Return the cases by the digest of their files, and the sandbox."""
        return {"cases": inputs_of_cases([*self._cases.values()]).digest, "sandbox": self._sandbox.name}

    def open(self, kept: Path, clock: Clock) -> AbstractContextManager[Target]:  # noqa: ARG002
        """Lay out the trees of all cases."""
        return open_trees([*self._cases.values()], kept, self._sandbox)


def _case_text(folder: CaseFolder) -> str:
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
