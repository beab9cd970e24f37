"""The judges that a command line may name: with a prompt, by rule, and recorded ones of downloaded data sets."""

from pathlib import Path

from msgspec import Struct, structs

from misstep.harness.errors import MisstepError
from misstep.harness.judges import JUDGES, added_judges, read_known, shipped_judges
from misstep.harness.judges.judge_file import JudgeSpec
from misstep.harness.judges.prompted_judge import PromptedJudge
from misstep.harness.runs.judging.known_judges import known_judge
from misstep.harness.runs.judging.recovery_rule import RULE, RecoveryRule, RuleJudge, rule_judges
from misstep.harness.runs.recorded import RecordedJudge, recorded_at_hand
from misstep.harness.runs.triage.case_judge import CaseJudge
from misstep.harness.runs.triage.judges import triage_judge, triage_names


class _Listed(Struct, frozen=True):
    """A judge in the list; `prompt` and `model` are `None` where they are not known or not fixed."""

    name: str
    kind: str
    labels: tuple[str, ...]
    prompt: str | None
    model: str | None
    recorded: bool


class Judges(Struct, frozen=True):
    """All judges, the data sets with recorded judges that are not on this machine, and what is wrong with a plug-in."""

    known: list[_Listed]
    absent: list[str]
    broken: list[str]


def listed(data: Path | None = None) -> Judges:
    """Return the judges that a command may name."""
    recorded, absent = recorded_at_hand(data)
    known = [_prompted(read_known(name)) for name in shipped_judges()]
    broken = []
    for name in added_judges():
        try:
            known.append(_added(name))
        except MisstepError as error:
            broken.append(f"the judge {name!r} ({JUDGES.origin(name)}): {error.line()}")
    rules = [*(_rule(RuleJudge(name.removesuffix(RULE))) for name in rule_judges()), _rule(RecoveryRule())]
    rules += [_rule(triage_judge(name)) for name in triage_names()]
    return Judges(known + rules + [_recorded(judge) for judge in recorded], absent, broken)


def listed_text(judges: list[_Listed]) -> str:
    """Return the list for a terminal, one line a judge."""
    width = max(len(judge.name) for judge in judges)
    return "\n".join(f"{judge.name:{width}}  {judge.kind:12}  {_labels_text(judge)}" for judge in judges)


def _labels_text(judge: _Listed) -> str:
    labels = ", ".join(judge.labels) or "those of the benchmark"
    return f"{labels}  (recorded)" if judge.recorded else labels


def _prompted(spec: JudgeSpec) -> _Listed:
    return _Listed(spec.name, spec.kind, tuple(spec.labels), spec.prompt.label, spec.model.name or None, recorded=False)


def _added(name: str) -> _Listed:
    """Return a judge of another package under its registered name, which is what a command names it by."""
    judge = known_judge(name)
    if isinstance(judge, PromptedJudge):
        return structs.replace(_prompted(judge.spec), name=name)
    return _Listed(name, judge.kind, tuple(judge.labels), None, None, recorded=False)


def _rule(judge: RuleJudge | RecoveryRule | CaseJudge) -> _Listed:
    return _Listed(judge.name, str(judge.kind), tuple(judge.labels), None, None, recorded=False)


def _recorded(judge: RecordedJudge) -> _Listed:
    return _Listed(judge.full_name, judge.kind, tuple(judge.labels), None, judge.model or None, recorded=True)
