"""What `misstep classify` finds in files and folders: at once, or in a run that keeps it."""

from collections.abc import Callable, Sequence
from pathlib import Path

from misstep.options.model import priced_by
from misstep_analysis.sessions.costs import costs_of
from misstep_analysis.sessions.findings import Findings, findings
from misstep_harness.journal.classified import SessionFinding
from misstep_harness.runs.classify import ClassifyPlan, classify_stream


def classified_findings(
    paths: Sequence[Path],
    plan: ClassifyPlan,
    out: Path | None = None,
    tell: Callable[[SessionFinding], None] = lambda _finding: None,
) -> Findings:
    """Return the findings in all trajectories of the files and folders `paths`, with what they cost.

    `tell` is called with each finding that the finished run in `out` does not have, before the new one counts.
    """
    if out is None:
        summary = classify_stream(paths, plan)
        costs = costs_of(plan.categories, summary.costly, priced_by())
        return findings(plan.categories, summary, costs=costs)
    from misstep.classify.run_folder import findings_into

    return findings_into(paths, plan, out, tell)
