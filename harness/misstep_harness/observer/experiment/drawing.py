"""What a seed decides about a session of any arm: engineer, task, injected faults, and who complies with whom."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import msgspec
from msgspec import Struct

from misstep_harness.agent import scripted_policy
from misstep_harness.agent.actions import Action
from misstep_harness.agent.scripted_policy import (
    Form,
    Ground,
    InjectedFault,
    ScriptedCommand,
    TextEdit,
    edit_command,
    looks,
    thought_of,
)
from misstep_harness.generate.projects import RunnableTask, change_limit, make_runnable_task
from misstep_harness.generate.voice import Voice, WordingSet
from misstep_harness.live_session import Heeds

_FORBIDDEN_TOOLS = ("search_code", "search_method")
_MOST_EDITS = 4


class Duration(Struct, frozen=True):
    """How many commands something lasts: at least so many, so many on average, and how often it never ends."""

    least: int
    mean: float
    never_ends: float = 0.0


class _Rates(Struct, frozen=True, forbid_unknown_fields=True):
    """The figures of `rates.toml`; pairs are the least and the most.

    - `engineer_factor`: What an engineer's rates are multiplied by: some give harder tasks than others.
    - `patience`: After how many commands of a misbehaviour the engineer steps in.
    - `relapse_after`: After how many commands of work an agent that heeds by half falls back.
    - `heeds`, `limits`: What agents do with guidance, and what users rule out, with weights.
    - `hard_negatives`: How often an agent makes an honest mistake that it puts right at once.
    - `versions`: Version → category → how often the fault is injected in a session, if the request allows.
    - `seconds`: What a command, a token and a run of the tests are counted as.
    """

    looks: tuple[int, int]
    engineer_factor: tuple[float, float]
    sessions_of_engineer: tuple[int, int]
    patience: Duration
    relapse_after: tuple[int, int]
    heeds: dict[Heeds, int]
    limits: dict[str, int]
    hard_negatives: float
    versions: dict[str, dict[str, float]]
    duration: dict[str, Duration]
    seconds: dict[str, float]


class DrawnSession(Struct, frozen=True):
    """A session before it is run.

    - `work`, `faults`: The agent's honest commands, and the injected faults.
    - `heeds`, `relapse_after`: What the agent does with guidance.
    - `patience`: After how many commands of a misbehaviour the engineer steps in.
    - `look`, `last_words`: What the agent does when told of a misbehaviour that it does not show; its summary.
    """

    item: str
    engineer: str
    version: str
    task: RunnableTask
    work: tuple[ScriptedCommand, ...]
    faults: tuple[InjectedFault, ...]
    heeds: Heeds
    relapse_after: int
    patience: int
    voice: Voice
    look: ScriptedCommand
    last_words: str


@cache
def rates() -> _Rates:
    """Return the figures of the data file."""
    return msgspec.toml.decode(Path(__file__).with_name("rates.toml").read_bytes(), type=_Rates)


def engineers(seed: int) -> Iterator[str]:
    """Return the engineer of each session, in order: each has a few sessions running."""
    random = Random(f"{seed}:engineers")  # noqa: S311 (made-up data)
    number = 0
    while True:
        yield from [f"engineer-{number:04}"] * random.randint(*rates().sessions_of_engineer)
        number += 1


def item_of(index: int, seed: int) -> str:
    """Return the id of a session."""
    return f"live-{seed}-{index:04}"


def draw_session(index: int, seed: int, engineer: str, wordings: WordingSet) -> DrawnSession:
    """Session `index` of a seed; the same whatever the number of sessions."""
    parameters = rates()
    random = Random(f"{wordings}:{seed}:live {index}")  # noqa: S311 (made-up data)
    of_engineer = Random(f"{seed}:{engineer}")  # noqa: S311
    factor = of_engineer.uniform(*parameters.engineer_factor)
    version = random.choice(list(parameters.versions))
    user, agent = Voice(random, wordings), Voice(random, wordings)
    limit = random.choices(list(parameters.limits), list(parameters.limits.values()))[0]
    task = make_runnable_task(random, user, limit, _FORBIDDEN_TOOLS)
    ground = _ground(random, task, agent)
    work = _work(random, task, ground)
    faults = [
        _fault(random, category, task, ground, len(work))
        for category, rate in parameters.versions[version].items()
        if random.random() < rate * factor and (category != "did_not_follow_instructions" or task.limit == "ban_tool")
    ]
    names = {"function": task.function.name, "path": task.change.path, "line": task.change.new.strip()}
    heeds = random.choices(list(parameters.heeds), list(parameters.heeds.values()))[0]
    relapse_after, patience = random.randint(*parameters.relapse_after), _lasting(of_engineer, parameters.patience)
    look = _look(Action("read_file", {"file_path": task.change.path}), agent)
    steered = heeds, relapse_after, patience, user, look, agent.say("closing", **names)
    return DrawnSession(item_of(index, seed), engineer, version, task, work, tuple(faults), *steered)


def _ground(random: Random, task: RunnableTask, voice: Voice) -> Ground:
    project, change = task.project, task.change
    functions = [one for group in project.functions.values() for one in group]
    own = project.functions[change.path]
    remark = voice.say("remark")
    remarks = [
        TextEdit(change.path, f"def {one.name}(entries):", f"def {one.name}(entries):  # {remark}", one.name)
        for one in own
    ]
    others = random.sample([one for one in functions if one.path != change.path], _MOST_EDITS)
    changes = [change_limit(random, one) for one in others]
    unasked = [TextEdit(one.path, one.old, one.new, one.function) for one in changes]
    return Ground(
        voice,
        tuple(project.sources + project.tests + project.documents),
        tuple(sorted({one.name for one in functions})),
        tuple(unasked),
        tuple(remarks),
        task.forbidden if task.limit == "ban_tool" else "",
    )


def _work(random: Random, task: RunnableTask, ground: Ground) -> tuple[ScriptedCommand, ...]:
    """Looks around, the tests, the file, the change, the tests again; now and then an honest mistake among them."""
    voice, change = ground.voice, task.change
    own = Action("read_file", {"file_path": change.path})
    around = random.sample([each for each in looks(ground) if each != own], random.randint(*rates().looks))
    work = [_look(each, voice) for each in around]
    work.insert(random.randint(0, len(work)), _tests(voice))
    work.append(_look(own, voice))
    if random.random() < rates().hard_negatives:
        mistake = random.choice(scripted_policy.FAILURES)(ground, random).command(0)
        work.insert(random.randint(1, len(work)), mistake)
    if random.random() < rates().hard_negatives:
        work.append(_look(own, voice))  # one more look before the change is not a loop
    edit = TextEdit(change.path, change.old, change.new, change.function)
    return (*work, edit_command(edit, voice.say("editing", path=change.path)), _tests(voice))


def _tests(voice: Voice) -> ScriptedCommand:
    return ScriptedCommand(Action("run_tests", thought=voice.say("testing")))


def _look(action: Action, voice: Voice) -> ScriptedCommand:
    return ScriptedCommand(msgspec.structs.replace(action, thought=thought_of(action, voice)))


def _fault(random: Random, category: str, task: RunnableTask, ground: Ground, work: int) -> InjectedFault:
    categories: tuple[str, ...] = (category,)
    if category == "infinite_loop":
        form: Form = random.choice(scripted_policy.LOOPS)
    elif category == "tool_call_failure":
        form = random.choice(scripted_policy.FAILURES)
    elif category == "unrequested_changes":
        form = scripted_policy.unasked_edits
        if task.limit == "only_path":
            categories = (category, "did_not_follow_instructions")
    else:
        form = scripted_policy.forbidden_tool
    duration = rates().duration[category]
    lasts = None if random.random() < duration.never_ends else _lasting(random, duration)
    if form is scripted_policy.unasked_edits and lasts is not None:
        lasts = min(lasts, 2 * len(ground.unasked))
    repeated = form(ground, random)
    return InjectedFault(categories, random.randint(1, work - 2), lasts, repeated.command, repeated.undo)


def _lasting(random: Random, duration: Duration) -> int:
    """Return a number of commands: the least, and beyond it as a geometric distribution has it."""
    beyond = duration.mean - duration.least
    return duration.least + int(random.expovariate(1 / beyond)) if beyond > 0 else duration.least
