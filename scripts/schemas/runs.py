"""The documents of commands about finished runs."""

from misstep.analysis.measures.counted import CountedReport
from misstep.analysis.measures.passing.scores import PassReport
from misstep.analysis.measures.prevalence import Prevalence
from misstep.analysis.measures.session_comparison import SessionComparison
from misstep.analysis.pages.findings import Findings
from misstep.studies.run_in_brief import RunInBrief
from scripts.schemas.forms import Form
from scripts.schemas.judges import SCORES
from scripts.schemas.systems import REPAIRED, TRIAGED

DOCUMENTS: dict[str, Form] = {
    "show": RunInBrief,
    "report": (SessionComparison, {"by": str, "groups": dict[str, Prevalence]}),
    "pass": PassReport,
    "merge": (Findings, SCORES, TRIAGED, REPAIRED),
    "count": CountedReport,
    "export": {"out": str, "rows": dict[str, int]},
}
