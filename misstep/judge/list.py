"""List the judges that a command line may name: with a prompt, by rule, and recorded ones of downloaded data sets."""

from pathlib import Path

import typer
from msgspec import Struct

from misstep.options.common import Data, Json, json_text, say_remarks
from misstep_harness.catalogue import how_to_get
from misstep_harness.errors import MisstepError
from misstep_harness.judges import JUDGES, added_judges, shipped_judges
from misstep_harness.judges.runnable import RunnableJudge
from misstep_harness.progress import say
from misstep_harness.runs.judging.known_judges import FAMILIES, family, known_judge
from misstep_harness.runs.recorded import full_name, recorded_at_hand


class ListedJudge(Struct, frozen=True):
    """Judge in the list; `prompt` and `model` are `None` if they are not known or not fixed."""

    name: str
    kind: str
    labels: tuple[str, ...]
    prompt: str | None = None
    model: str | None = None
    recorded: bool = False


class Judges(Struct, frozen=True):
    """All judges, the data sets with recorded judges that are not on this machine, and what is wrong with a plug-in."""

    known: list[ListedJudge]
    absent: list[str]
    broken: list[str]


def listed(data: Path | None = None) -> Judges:
    """Return the judges that a command may name."""
    recorded, absent = recorded_at_hand(data)
    known = [_listed_judge(known_judge(name)) for name in shipped_judges()]
    broken = []
    for name in added_judges():
        try:
            judge = known_judge(name)
            known.append(_listed_judge(judge, name))  # a command names it by its registered name
        except MisstepError as error:
            broken.append(f"the judge {name!r} ({JUDGES.origin(name)}): {error.line()}")
    families = map(family, FAMILIES)
    known += [_listed_judge(module.judge_named(name)) for module in families for name in module.judge_names()]
    known += [
        ListedJudge(full_name(one), one.kind, tuple(one.labels), None, one.model or None, recorded=True)
        for one in recorded
    ]
    return Judges(known, absent, broken)


def listed_text(judges: list[ListedJudge]) -> str:
    """Return the list for a terminal, one line a judge."""
    width = max(len(judge.name) for judge in judges)
    return "\n".join(
        f"{judge.name:{width}}  {judge.kind:12}  {', '.join(judge.labels) or 'those of the benchmark'}"
        f"{'  (recorded)' if judge.recorded else ''}"
        for judge in judges
    )


def _listed_judge(judge: RunnableJudge, name: str = "") -> ListedJudge:
    model = judge.model or None if judge.spec is not None else None
    return ListedJudge(name or judge.name, judge.kind, tuple(judge.labels), judge.prompt, model)


def list_judges(data: Data = None, json: Json = False) -> None:
    """List all judges: with a prompt, rules, recorded ones.

    The exit code is 1 if a judge of another package cannot be used; stderr names it.
    """
    judges = listed(data)
    print(json_text(judges.known) if json else listed_text(judges.known))
    if judges.absent:
        say(f"misstep: recorded judges of {', '.join(judges.absent)} are not available. {how_to_get(judges.absent)}")
    say_remarks(judges.broken)
    if judges.broken:
        raise typer.Exit(1)
