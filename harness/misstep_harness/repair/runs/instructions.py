"""Have a model write the instructions of repair cases back from their fixes ("backtranslation", section 5.1).

A text that shows a line of the fix would hand the patcher its answer. Such a text is asked for again, with the line
named, and is refused after the last try. Each case is asked about once, and the texts of a run are read again here.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from misstep_harness.agent.protocols import ModelSettings
from misstep_harness.clients import ClientSettings
from misstep_harness.edits import unified_diff
from misstep_harness.errors import MisstepError, UsageError
from misstep_harness.exchange import Failure, Message, Outcome, Reply, Request
from misstep_harness.journal.opened import open_of
from misstep_harness.journal.records import Inputs
from misstep_harness.prompting import fill, shipped_prompt
from misstep_harness.protocols import Ask
from misstep_harness.repair.case import CaseFolder
from misstep_harness.repair.records import INSTRUCTION_RECORDS, CaseInstructions
from misstep_harness.repair.runs.repair import inputs_of_cases
from misstep_harness.runs.kind import RunKind, Units
from misstep_harness.runs.model_requests import ItemAsk, ModelRequests
from misstep_harness.trajectory import noted, together

PROMPT = "agent/back_translation"

FORMS = {
    "high_level": (
        "Write one or two sentences at a high level: what the program is to do, as someone asks for it who knows the "
        "goal and leaves the way to the programmer."
    ),
    "detailed": (
        "Write a numbered list of steps in detail: in which function each change is and what is to be done there, so "
        "that a programmer can follow it without further thought."
    ),
}
TRIES = 3
_TOKEN = re.compile(r"\w+|[^\w\s]")
_FEWEST_TOKENS = 3
"""A shorter line, such as `return total`, is also in plain prose."""
_MOST_TOKENS = 8
"""From here on words of a text in a row that a line of the fix has too are code of it, not the names in it."""

_END_MARKS = frozenset(":;,{")


class CaseFix(Struct, frozen=True):
    """The fix of a case: the one file that it changes, the diff, and the lines that it adds."""

    path: str
    diff: str
    added: tuple[str, ...]


async def back_translated(folder: CaseFolder, ask: Ask, settings: ModelSettings) -> CaseInstructions:
    """Return both texts for a case, or why one is lacking."""
    name = folder.case.id
    try:
        fix = fix_of(folder)
    except MisstepError as unreadable:
        return CaseInstructions(name, "", refused=dict.fromkeys(FORMS, unreadable.found))
    outcomes: list[Outcome] = []
    answers = {kind: await _reply(kind, fix, ask, settings, outcomes) for kind in FORMS}
    texts = {kind: text for kind, (text, _) in answers.items() if text}
    refused = {kind: complaint for kind, (_, complaint) in answers.items() if complaint}
    replies = [outcome for outcome in outcomes if isinstance(outcome, Reply)]
    costs = [reply.cost_usd for reply in replies if reply.cost_usd is not None]
    error = next((outcome.sentence for outcome in outcomes if isinstance(outcome, Failure)), "")
    return CaseInstructions(name, fix.path, texts, refused, error, len(replies), sum(costs) if costs else None)


async def _reply(
    kind: str, fix: CaseFix, ask: Ask, settings: ModelSettings, outcomes: list[Outcome]
) -> tuple[str, str]:
    """Return the text of a kind, or what is wrong with the last answer; neither where the model gave none."""
    prompt = shipped_prompt(PROMPT)
    values = {"form": FORMS[kind], "path": fix.path, "diff": fix.diff}
    opening = Message("system", fill(prompt.system, values)), Message("user", fill(prompt.user, values))
    messages: tuple[Message, ...] = opening
    complaint = ""
    how = settings.temperature, settings.max_tokens, settings.seed
    for _ in range(TRIES):
        outcome = await ask(Request(settings.name or ask.model, messages, *how))
        outcomes.append(outcome)
        if isinstance(outcome, Failure):
            return "", ""
        text = (outcome.text or "").strip()
        complaint = "it is cut off" if outcome.finish == "length" else unfit(text, fix.added)
        if not complaint:
            return text, ""
        again = f"This does not fit: {complaint}. Write the request anew, in words alone."
        messages = (*opening, Message("assistant", text), Message("user", again))
    return "", complaint


def fix_of(folder: CaseFolder) -> CaseFix:
    """Return the fix of a case, where it changes one file."""
    golden = folder.golden()
    if golden is None:
        raise UsageError("the case has no golden.patch", "Leave it out.")
    files = unified_diff.parse(golden).files
    if len(files) != 1:
        raise UsageError(f"the fix changes {len(files)} files", "Leave it out: instructions are for one file.")
    lines = (line for hunk in files[0].hunks for line in hunk.lines)
    return CaseFix(files[0].path, golden, tuple(line.text.strip() for line in lines if line.tag == "+"))


def unfit(text: str, added: Iterable[str]) -> str:
    """Return what is wrong with a text about a fix that adds some lines, in a clause; empty if nothing is."""
    if not text:
        return "it is empty"
    if "```" in text or "~~~" in text:
        return "it holds a code block"
    words = _joined(_TOKEN.findall(text))
    for line in added:
        tokens = _TOKEN.findall(line)
        while tokens and tokens[-1] in _END_MARKS:
            tokens.pop()
        if len(tokens) < _FEWEST_TOKENS:
            continue
        length = min(len(tokens), _MOST_TOKENS)
        runs = (tokens[start : start + length] for start in range(len(tokens) - length + 1))
        if any(_joined(run) in words for run in runs):
            whole = _joined(tokens) in words
            return f"it holds {'' if whole else 'part of '}the line `{line}` of the change"
    return ""


def _joined(tokens: list[str]) -> str:
    return "\n" + "\n".join(tokens) + "\n"


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
        return {**request, **how, **noted(together(case.case.evidence for case in self._cases))}

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
