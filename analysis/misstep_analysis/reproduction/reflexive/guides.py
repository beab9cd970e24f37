"""Pages of the help on the reflexive loop: how a skill is written, and what each mechanism is for."""

import textwrap

from misstep_analysis.pages.form_text import form_text, members_text
from misstep_harness.agent.turns import Turn
from misstep_harness.reflexive.protocols import Agent, Agents, Check, HealthProbe, Reading, Skill, Target
from misstep_harness.reflexive.records import ALL, MECHANISMS, WorkItem

_WIDTH = 96

_OPENING = (
    "A skill is a kind of work for the reflexive loop: work items, a target that workers change, a check for each "
    "item, and vital signs that are read when an attempt failed. It is a Python class with the names below; the loop "
    "knows nothing else of it.",
    "A function makes the skill from its options (`n`, `seed`, `cases`, `sandbox`). `misstep reflect run "
    "package.module:function --out RUN` runs it. An entry point in the group misstep.skills gives it a name. "
    "examples/settings_skill.py is a small one. All that it needs is imported from `misstep`.",
    "A command is a `Tool(name, purpose, parameters, run)`: `run` is a coroutine function of the arguments, which are "
    "texts, and of the target's `place`, and it gives an `Observation` with a text.",
)

_PUBLIC_NAMES: dict[type, str] = {HealthProbe: "VitalSign"}
"""The names by which `from misstep import …` has a form, where it has another."""

_RULES = (
    "The check gives a typed result: `passed`, `failed`, or `unknown` where it could not be made. Nobody reads it out "
    "of a text.",
    "Snapshots and digests are the host's. They work when the target's own access is broken, and they outlive the "
    "process in the folder that `open` is given.",
    "`protected` is the digest of the files that the checks consist of. An attempt that changes it has failed.",
    "Agents keep nothing between turns: they see their context and act through their turn. So a run that was killed "
    "goes on as if it had not been.",
)


def skill_guide() -> str:
    """Return how a skill is written."""
    parts = [*map(_filled, _OPENING), f"The skill\n{members_text(Skill)}", f"The target\n{members_text(Target)}"]
    parts += [_form(form) for form in (WorkItem, HealthProbe, Reading, Check)]
    parts += [f"An agent; `Agents` has one for each of {', '.join(Agents.__struct_fields__)}\n{members_text(Agent)}"]
    parts += [f"The turn, by which an agent acts\n{members_text(Turn)}"]
    rules = (textwrap.fill(rule, _WIDTH, initial_indent="- ", subsequent_indent="  ") for rule in _RULES)
    return "\n\n".join([*parts, "\n".join(["Four rules", *rules])])


def mechanisms_guide() -> str:
    """Return what happens without each mechanism of the loop."""
    width = max(map(len, MECHANISMS))
    opening = (
        "`misstep reflect run --without MECHANISM` leaves a mechanism of the loop out; several are named with commas, "
        f"and `{ALL}` names all. This is what happens without each:"
    )
    lines = (
        textwrap.fill(without, _WIDTH, initial_indent=f"  {name:{width}}  ", subsequent_indent=" " * (width + 4))
        for name, without in MECHANISMS.items()
    )
    return "\n\n".join([_filled(opening), "\n".join(lines)])


def _filled(text: str) -> str:
    return textwrap.fill(text, _WIDTH)


def _form(form: type) -> str:
    title, _, rest = form_text(form).partition("\n\n")
    return f"{_PUBLIC_NAMES.get(form, form.__name__)}: {title}\n{rest}"
