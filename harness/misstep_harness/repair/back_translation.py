"""Have a model write instructions back from a fix ("backtranslation", section 5.1), without code of it.

A text that shows a line of the fix would hand the patcher its answer. Such a text is asked for again, with the line
named, and is refused after the last try.
"""

import re
from collections.abc import Iterable

from msgspec import Struct

from misstep_harness.agent.model_policy import ModelSettings
from misstep_harness.edits import unified_diff
from misstep_harness.errors import MisstepError, UsageError
from misstep_harness.exchange import Failure, Message, Outcome, Reply, Request
from misstep_harness.prompting import fill, shipped_prompt
from misstep_harness.protocols import Ask
from misstep_harness.repair.case import CaseFolder
from misstep_harness.repair.records import CaseInstructions

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
