"""The skills of the reflexive loop by name: each is a kind of work with its items, its target and its checks."""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.errors import UsageError
from misstep_harness.reflexive.guarded import answer_of, check_members
from misstep_harness.reflexive.protocols import Skill
from misstep_harness.reflexive.records import WorkItem
from misstep_harness.registry import Registry
from misstep_harness.workspace import find_sandbox


class SkillOptions(Struct, frozen=True):
    """What a skill is made from.

    - `n`: How many items it generates, or draws of those that it has; `None` for its own number.
    - `cases`: Where the cases are, for a skill that works on a user's own.
    - `target`: The file of a target, for the skill `command`.
    - `sandbox`: Which sandbox it runs commands in; one that runs none does not look for it.
    - `show`: The folders that the user has shown in it.
    """

    n: int | None = None
    seed: int = 0
    cases: Path | None = None
    sandbox: str = "auto"
    target: Path | None = None
    show: tuple[Path, ...] = ()


SKILLS: Registry[Callable[[SkillOptions], Skill]] = Registry(
    "misstep.skills",
    {
        "simulated": "misstep_harness.reflexive.runs.skills:simulated",
        "repair": "misstep.reflect.repair_skill:repair_skill",
        "command": "misstep_harness.reflexive.runs.skills:command",
    },
)
"""Name → dotted path of a function from options to a skill, which leaves alone options that it has no use for."""


def made_skill(name: str, options: SkillOptions) -> Skill:
    """Return the skill of a name or a dotted path, made from options."""
    make = SKILLS.load(name)
    skill = answer_of(name, lambda: make(options))
    check_members(f"the skill {name}", skill, Skill)
    return skill


def simulated(options: SkillOptions) -> Skill:
    """Generated items on a machine in memory."""
    from misstep_harness.reflexive.simulated.skill import SimulatedSkill

    return SimulatedSkill(seed=options.seed) if options.n is None else SimulatedSkill(options.n, options.seed)


def sampled(items: Sequence[WorkItem], n: int, seed: int) -> tuple[str, ...]:
    """Return the ids of at most `n` items by chance, each with its prerequisites, in their own order."""
    known = {item.id: item for item in items}

    def with_earlier(name: str) -> set[str]:
        return {name}.union(*(with_earlier(before) for before in known[name].after))

    chosen: set[str] = set()
    for name in Random(seed).sample(list(known), len(known)):  # noqa: S311 -- no secret
        grown = chosen | with_earlier(name)
        chosen = grown if len(grown) <= n else chosen
    return tuple(name for name in known if name in chosen)


def command(options: SkillOptions) -> Skill:
    """Return the items of a file on a checkout of the user's."""
    from misstep_harness.reflexive.runs.command_file import read_command_file
    from misstep_harness.reflexive.runs.command_target import CommandSkill

    if options.target is None:
        advice = "Name its TOML file with --target; `misstep help reflect-command` shows one."
        raise UsageError("the skill `command` needs a file that names a checkout and its items", advice)
    form = read_command_file(options.target)
    if options.n is not None:
        chosen = sampled(form.items, options.n, options.seed)
        form = replace(form, item=tuple(one for one in form.item if one.id in chosen))
    return CommandSkill(options.target, form, find_sandbox(options.sandbox).showing(options.show))
