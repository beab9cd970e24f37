"""The judge that a command line names: a TOML file, a shipped prompt, a rule, a recording, or a judge in Python."""

from pathlib import Path

from msgspec.structs import replace

from misstep_harness.agent.model_policy import ModelSettings as AgentModel
from misstep_harness.benchmarks.folders import benchmark_named
from misstep_harness.errors import UsageError
from misstep_harness.judges import JUDGES, added_judges, read_known
from misstep_harness.judges.prompted_judge import PromptedJudge
from misstep_harness.judges.python_judge import python_judge
from misstep_harness.protocols import Judge
from misstep_harness.runs.judging.recovery_rule import RULE, RecoveryRule, RuleJudge, rule_judges
from misstep_harness.runs.recorded import RecordedJudge, is_recorded, recorded_benchmark, recorded_judge
from misstep_harness.triage.runs.judges import is_triage, triage_judge


def known_judge(named: str, *, model: str = "", base_url: str | None = None, data: Path | None = None) -> Judge:
    """Return the judge of a name."""
    if not Path(named).is_file() and not named.endswith(".toml"):
        if named.endswith(RULE):
            return _rule(named)
        if is_triage(named):
            return triage_judge(named, model=AgentModel(model, 0.0, seed=0))
        if is_recorded(named):
            return recorded_judge(named, data)
        if ":" in named or named in added_judges():
            entry = JUDGES.load(named)
            if not isinstance(entry, str | Path):
                return python_judge(entry, named, model)
            named = str(entry)
    spec = read_known(named)
    named_settings = {"name": model or spec.model.name, "base_url": base_url or spec.model.base_url}
    return PromptedJudge(replace(spec, model=replace(spec.model, **named_settings)))


def benchmark_of(judge: Judge, named: str, data: Path | None = None) -> Path:
    """The folder of the benchmark that a judge is asked about: the one that is named; a recorded judge has its own."""
    if isinstance(judge, RecordedJudge):
        return recorded_benchmark(judge, named, data)
    if not named:
        raise UsageError("no benchmark is named", "Name one with --benchmark, or name sessions.")
    return benchmark_named(named, data)


def _rule(named: str) -> Judge:
    if named == RecoveryRule.name:
        return RecoveryRule()
    if named not in rule_judges():
        known = ", ".join((*rule_judges(), RecoveryRule.name))
        raise UsageError(f"unknown judge {named!r}", f"Rules are {known}.")
    return RuleJudge(named.removesuffix(RULE))
