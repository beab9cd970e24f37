"""The judges of triage cases by name: `triage@` with an access asks a model, any other is a rule."""

from typing import get_args

from misstep_harness.agent.loop import AgentLimits
from misstep_harness.agent.policies.model import ModelSettings
from misstep_harness.errors import UsageError
from misstep_harness.judges.runnable import RunnableJudge
from misstep_harness.registry import Registry
from misstep_harness.triage.agentic.methods import MOST_TOKENS, AgenticMethod
from misstep_harness.triage.records.attribution import Access
from misstep_harness.triage.replica import SECONDS_OF_CASE
from misstep_harness.triage.runs.case_judge import CaseJudge, Method

TRIAGE = "triage@"
PHRASES = f"{TRIAGE}phrases"
TOKENS_OF_CASE = 24_000
"""Tokens of a case's texts in the first message to a model."""

AGENTIC: dict[str, Access] = {f"{TRIAGE}{access}": access for access in get_args(Access)}
"""The judges that ask a model: name → access."""

RULES: Registry[Method] = Registry(
    "misstep.triage.run",
    {
        f"{TRIAGE}rules-text": "misstep_harness.triage.runs.rule_methods:TEXT",
        f"{TRIAGE}rules-read-only": "misstep_harness.triage.runs.rule_methods:READ_ONLY",
        f"{TRIAGE}rules-sandbox": "misstep_harness.triage.runs.rule_methods:SANDBOX",
        f"{TRIAGE}phrases": "misstep_harness.triage.runs.rule_methods:PHRASES",
    },
)
"""The judges that ask none: name → dotted path of the method; entry points in the group add to it."""


def judge_names() -> tuple[str, ...]:
    """Return the names of all of them, rules first."""
    return (*RULES.names(), *AGENTIC)


def judge_name(kind: str, access: Access) -> str:
    """The name of the judge of a kind, `rules`, `phrases` or `model`, with an access; the phrases know texts alone."""
    return {"rules": f"{TRIAGE}rules-{access}", "phrases": PHRASES}.get(kind, f"{TRIAGE}{access}")


def judge_named(named: str, model: str = "") -> RunnableJudge:
    """Return the judge of a name as a run asks it, with the model that the command line names."""
    return triage_judge(named, model=ModelSettings(model, 0.0, seed=0)).runnable()


def triage_judge(
    named: str,
    *,
    model: ModelSettings = ModelSettings(),  # noqa: B008 -- frozen
    seconds: float = SECONDS_OF_CASE,
    sandbox: str = "auto",
    iterations: int = 40,
    budget: int = TOKENS_OF_CASE,
) -> CaseJudge:
    """Return the judge of a name."""
    if named in AGENTIC:
        limits = AgentLimits(iterations, seconds, MOST_TOKENS)
        method: Method = AgenticMethod(AGENTIC[named], model, limits, budget)
    elif named in RULES.names():
        method = RULES.load(named)
    else:
        known = ", ".join(judge_names())
        raise UsageError(f"unknown judge {named!r}", f"Judges of triage cases are {known}.")
    return CaseJudge(method, seconds, sandbox)
