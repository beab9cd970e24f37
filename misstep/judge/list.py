"""The judges that a command line may name: with a prompt, by rule, and recorded ones of downloaded data sets."""

from pathlib import Path

from msgspec import Struct

from harness.judges import read_known, shipped_judges
from harness.judges.judge_file import JudgeSpec
from harness.runs.recorded import RecordedJudge, recorded_at_hand
from harness.runs.rule_judge import RULE, RuleJudge, rule_judges


class Listed(Struct, frozen=True):
    """A judge in the list; `prompt` and `model` are `None` where they are not known or not fixed."""

    name: str
    kind: str
    labels: tuple[str, ...]
    prompt: str | None
    model: str | None
    recorded: bool


def listed(data: Path | None = None) -> tuple[list[Listed], list[str]]:
    """All judges, and the data sets with recorded judges that are not on this machine.

    Raises
    ------
    InputError
        The file of a judge or of a data set breaks the form.
    """
    recorded, absent = recorded_at_hand(data)
    prompted = [_prompted(read_known(name)) for name in shipped_judges()]
    rules = [_rule(RuleJudge(name.removesuffix(RULE))) for name in rule_judges()]
    return prompted + rules + [_recorded(judge) for judge in recorded], absent


def listed_text(judges: list[Listed]) -> str:
    """The list for a terminal, one line a judge."""
    width = max(len(judge.name) for judge in judges)
    return "\n".join(f"{judge.name:{width}}  {judge.kind:12}  {_labels_text(judge)}" for judge in judges)


def _labels_text(judge: Listed) -> str:
    labels = ", ".join(judge.labels) or "those of the benchmark"
    return f"{labels}  (recorded)" if judge.recorded else labels


def _prompted(spec: JudgeSpec) -> Listed:
    return Listed(spec.name, spec.kind, tuple(spec.labels), spec.prompt.label, spec.model.name or None, recorded=False)


def _rule(judge: RuleJudge) -> Listed:
    return Listed(judge.name, str(judge.kind), tuple(judge.labels), None, None, recorded=False)


def _recorded(judge: RecordedJudge) -> Listed:
    return Listed(judge.full_name, judge.kind, tuple(judge.labels), None, judge.model or None, recorded=True)
