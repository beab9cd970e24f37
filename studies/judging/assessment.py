"""What the judge of a run is worth, worked out from the run's own records."""

from misstep.analysis.measures.judging.assessment import Assessment, assess
from misstep.studies.judged_runs import JudgedRun, votes_of
from misstep.studies.judging.item_lengths import item_lengths

NO_JUDGE = "This small model only tests the set-up: it is not a judge, and its figures say nothing about one."


def assessed(run: JudgedRun, *, resamples: int = 10_000, seed: int = 0) -> Assessment:
    """Return what the judge of a run is worth."""
    return assess(
        run.verdicts,
        run.gold,
        tuple(run.question.labels),
        judge=run.judge,
        benchmark=run.question.name,
        clusters=run.clusters,
        items=run.items,
        lengths=item_lengths(run.benchmark),
        positive=run.question.positive,
        level=run.question.level,
        votes=votes_of(run),
        evidence=run.question.evidence,
        resamples=resamples,
        seed=seed,
    )
