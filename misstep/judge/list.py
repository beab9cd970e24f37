"""List the judges that a command line may name: with a prompt, by rule, and recorded ones of downloaded data sets."""

from pathlib import Path

from msgspec import Struct, structs

from misstep_harness.errors import MisstepError
from misstep_harness.judges import JUDGES, added_judges, read_known, shipped_judges
from misstep_harness.judges.judge_file import JudgeSpec
from misstep_harness.judges.prompted_judge import PromptedJudge
from misstep_harness.protocols import FittedJudge
from misstep_harness.runs.judging.known_judges import known_judge
from misstep_harness.runs.judging.recovery_rule import RULE, RecoveryRule, RuleJudge, rule_judges
from misstep_harness.runs.recorded import recorded_at_hand
from misstep_harness.triage.runs.judges import triage_judge, triage_names


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
    known = [_prompted(read_known(name)) for name in shipped_judges()]
    broken = []
    for name in added_judges():
        try:
            judge = known_judge(name)
            prompted = _prompted(judge.spec) if isinstance(judge, PromptedJudge) else _unprompted(judge)
            known.append(structs.replace(prompted, name=name))  # a command names it by its registered name
        except MisstepError as error:
            broken.append(f"the judge {name!r} ({JUDGES.origin(name)}): {error.line()}")
    rules: list[FittedJudge] = [RuleJudge(name.removesuffix(RULE)) for name in rule_judges()]
    known += map(_unprompted, [*rules, RecoveryRule(), *map(triage_judge, triage_names())])
    known += [
        ListedJudge(one.full_name, one.kind, tuple(one.labels), None, one.model or None, recorded=True)
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


def _prompted(spec: JudgeSpec) -> ListedJudge:
    return ListedJudge(spec.name, spec.kind, tuple(spec.labels), spec.prompt.label, spec.model.name or None)


def _unprompted(judge: FittedJudge) -> ListedJudge:
    return ListedJudge(judge.name, str(judge.kind), tuple(judge.labels))
