"""A case and the taxonomy as texts for a prompt: what comes from the case is fenced and within a budget."""

from misstep.harness.judges.context import CHARACTERS_PER_TOKEN, cut_text, fitted_steps, shares
from misstep.harness.judges.fencing import fence
from misstep.harness.records.attribution import taxonomy
from misstep.harness.records.triage_case import Outcome
from misstep.harness.triage.protocols import TextAccess

_UNKNOWN = "The record does not say whether the tests passed."


def taxonomy_text() -> str:
    """Return the labels with their subcategories and what each means for runs that failed and that passed."""
    lines: list[str] = []
    for label, category in taxonomy().items():
        lines.append(f"{label} ({category.name}):")
        for observed, cell in (("failed", category.failure), ("passed", category.success)):
            if cell is not None:
                lines.append(f"  of a run that {observed}: {cell.meaning}")
        lines += [f"  - {name} (of a {each.observed}): {each.meaning}" for name, each in category.subcategories.items()]
    return "\n".join(lines)


def case_text(access: TextAccess, outcome: Outcome | None, budget: int) -> str:
    """Return what a judge is shown of a case before it asks for more."""
    run = access.trajectory
    texts = {"What the agent was asked": access.instruction or (run.task if run is not None else "")}
    texts |= {f"logs/{name}": text for name, text in access.logs.items()}
    texts = {name: text for name, text in texts.items() if text.strip()}
    room = budget * CHARACTERS_PER_TOKEN
    rooms = shares([len(text) for text in texts.values()], room // 2 if run is not None and run.steps else room)
    shown = {name: cut_text(text, most).text for (name, text), most in zip(texts.items(), rooms, strict=True)}
    if run is not None and run.steps:
        left = room - sum(map(len, shown.values()))
        shown["The run"] = fitted_steps(run.steps, left, "shorten_middle", None, 0).text
    said = _UNKNOWN if outcome is None else f"The tests {outcome}, as the harness recorded it."
    salt = access.case.id
    return "\n\n".join([said, *(f"{name}:\n{fence(text, f'{salt} {name}')}" for name, text in shown.items())])
