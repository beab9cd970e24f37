"""Have a model write the instructions of repair cases back from their fixes, each case once, and read them again."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from misstep_harness.agent.model_policy import ModelSettings
from misstep_harness.clients import ClientSettings
from misstep_harness.errors import UsageError
from misstep_harness.journal.opened import open_of
from misstep_harness.journal.records import Inputs
from misstep_harness.prompting import shipped_prompt
from misstep_harness.repair.back_translation import PROMPT, back_translated
from misstep_harness.repair.case import CaseFolder
from misstep_harness.repair.records import INSTRUCTION_RECORDS, CaseInstructions
from misstep_harness.repair.runs.repair import inputs_of_cases
from misstep_harness.runs.kind import RunKind, Units
from misstep_harness.runs.model_requests import ItemAsk, ModelRequests
from misstep_harness.trajectory import noted, together

COMMAND = "repair instructions"


class InstructionRun(RunKind[CaseFolder, CaseInstructions]):
    """A model asked for the instructions of each case."""

    command, noun, records = COMMAND, "cases", INSTRUCTION_RECORDS
    asks_again = True

    def __init__(self, cases: Sequence[CaseFolder], model: ModelSettings, client: ClientSettings) -> None:
        self._cases, self._model, self._client = cases, model, client
        self.folder = str(cases[0].folder.parent.resolve()) if cases else ""

    def settings(self) -> dict[str, Any]:
        """Return the model and the prompt."""
        model = self._model
        request = {"model": model.name, "base_url": self._client.base_url or "", "prompt": shipped_prompt(PROMPT).label}
        how = {"temperature": model.temperature, "max_tokens": model.max_tokens, "seed": model.seed}
        return {**request, **how, **noted(together(one.case.evidence for one in self._cases))}

    def inputs(self) -> Inputs:
        """Return every file of the cases."""
        return inputs_of_cases(self._cases)

    def units(self) -> Units[CaseFolder]:
        """Return the cases."""
        return Units(len(self._cases), self._cases)

    def id_of(self, unit: CaseFolder) -> str:
        """Return the id of a case."""
        return unit.case.id

    def recorded_id(self, record: CaseInstructions) -> str:
        """Return the id of the case."""
        return record.case

    def failure_of(self, record: CaseInstructions) -> str | None:
        """Return why the model gave no answer."""
        return record.error or None

    def cost_of(self, record: CaseInstructions) -> float | None:
        """Return the cost of the answers."""
        return record.cost_usd

    async def do(self, unit: CaseFolder, requests: ModelRequests) -> tuple[CaseInstructions, float | None] | None:
        """Ask for both texts of a case."""
        ask = ItemAsk(requests, unit.case.id, self._model.name)
        texts = await back_translated(unit, ask, self._model)
        return None if ask.cut_off else (texts, ask.spent_usd)


class WrittenInstructions(Struct, frozen=True):
    """The instructions of a run: by whom they are, and those of each case, the last where it was asked again."""

    by: str
    cases: Mapping[str, CaseInstructions]


def read_instructions(run: Path) -> WrittenInstructions:
    """Return the instructions in the folder of a finished run."""
    opened = open_of(run, COMMAND)
    settings = opened.manifest.settings
    if not opened.manifest.finished:
        raise UsageError(f"the run {run} is not finished", "Go on with it by the command that began it.")
    cases = {one.case: one for one in opened.read(INSTRUCTION_RECORDS)}
    texts = hashlib.sha256(encode([cases[name] for name in sorted(cases)])).hexdigest()[:12]
    return WrittenInstructions(f"{settings['model']}, {settings['prompt']}, {texts}", cases)


def with_instructions(
    cases: Sequence[CaseFolder], texts: WrittenInstructions, kind: str
) -> tuple[list[CaseFolder], dict[str, str]]:
    """Return the cases with the texts of a run in place of their own, and of each case without one the reason."""
    instructed_cases: list[CaseFolder] = []
    without: dict[str, str] = {}
    key = kind.replace("-", "_")
    for folder in cases:
        one = texts.cases.get(folder.case.id)
        if one is None or key not in one.texts:
            without[folder.case.id] = one.refused.get(key, one.error) if one else "the run has no such case"
            continue
        extra = {**folder.case.extra, "file": one.file, "instructions": dict(one.texts)}
        instructed_cases.append(replace(folder, case=replace(folder.case, extra=extra)))
    return instructed_cases, without
