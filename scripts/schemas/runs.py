"""The documents of commands about finished runs."""

from misstep_analysis.passing.scores import PassReport
from misstep_analysis.runs.kind import RunInBrief
from misstep_analysis.sessions.prevalence import Prevalence
from misstep_analysis.sessions.session_comparison import SessionComparison
from scripts.schemas.forms import Form

DOCUMENTS: dict[str, Form] = {
    "show": RunInBrief,
    "report": (SessionComparison, {"by": str, "groups": dict[str, Prevalence]}),
    "pass": PassReport,
    "export": {"out": str, "rows": dict[str, int]},
}
