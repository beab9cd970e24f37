"""Any set of judges and kinds of access on the same cases: their scores, the finer ones, and pairs of them tested.

A judge's kappa and agreement are against the label that most raters gave, as in AutoTriage's table 3. Cases of one
family of tasks hang together: intervals and tests are over families where these are known.
"""

from collections.abc import Mapping

from msgspec import Struct

from misstep.analysis.measures.judging.item_costs import PerItem, item_costs
from misstep.analysis.measures.judging.pairs.comparison import PairedJudges, compare_judges
from misstep.analysis.measures.judging.people.ceiling import Ceiling, ceiling
from misstep.analysis.measures.judging.scores import Scores, score
from misstep.analysis.measures.triage.cases import LABELS, JudgedCases, finer_gold, finer_labels, finer_verdicts
from misstep.analysis.measures.triage.direction import Direction, direction
from misstep.analysis.measures.triage.families import Families, left_out


class TriageScores(Struct, frozen=True):
    """What one run of a judge is worth as triage.

    - `access`: What the judge could use, as its verdicts say.
    - `scores`: Against the labels.
    - `finer`: Against the subcategories; a case whose verdict names none counts as unanswered there. `None` where no
      gold subcategories are known.
    - `direction`: Which way it errs between agent and task.
    - `families`: What hangs on single families.
    - `by_set`: Set of families → the scores on its cases alone; empty where all are of one.
    - `ceiling`: People's agreement beside the judge's; `None` where one rater labelled.
    - `seconds`, `cost`: What a case takes.
    """

    access: str
    scores: Scores
    finer: Scores | None
    direction: Direction
    families: Families
    by_set: Mapping[str, Scores]
    ceiling: Ceiling | None
    seconds: PerItem
    cost: PerItem


class ComparedCases(Struct, frozen=True):
    """Runs on the same cases: each with its scores, and every two of them on the cases asked of both."""

    cases: JudgedCases
    runs: Mapping[str, TriageScores]
    pairs: tuple[PairedJudges, ...]

    @property
    def scored(self) -> dict[str, Scores]:
        """Name of a run → its scores."""
        return {name: one.scores for name, one in self.runs.items()}

    @property
    def best(self) -> str:
        """Return the run with the highest kappa, unanswered counted; empty where none has one."""
        known = {name: one.cohen_kappa_all.value for name, one in self.scored.items()}
        return max(
            (name for name, value in known.items() if value is not None),
            key=lambda name: known[name] or 0.0,
            default="",
        )


def compared(cases: JudgedCases, resamples: int = 10_000, seed: int = 0) -> ComparedCases:
    """Runs of judges on the same cases, scored and compared in pairs with Holm's adjustment."""
    runs = {name: triage_scores(cases, name, resamples, seed) for name in cases.runs}
    pairs = compare_judges(cases.runs, cases.gold, clusters=cases.clusters, resamples=resamples, seed=seed)
    return ComparedCases(cases, runs, pairs)


def triage_scores(cases: JudgedCases, run: str, resamples: int = 10_000, seed: int = 0) -> TriageScores:
    """Return what one run of a judge is worth."""
    sample, verdicts, clusters = cases.sample(run), cases.runs[run], cases.clusters
    took = item_costs(sample)
    measured = took.now if took.now["seconds"].reported or not took.cached else took.from_cache

    def scored(some: JudgedCases) -> Scores:
        return score(
            some.runs[run],
            some.gold,
            LABELS,
            judge=run,
            benchmark=some.on,
            clusters=clusters,
            resamples=resamples,
            seed=seed,
        )

    sets = cases.sets()
    return TriageScores(
        access=next((one.access for one in verdicts if one.access), ""),
        scores=scored(cases),
        finer=finer_scores(cases, run, resamples, seed),
        direction=direction(sample, seed),
        families=left_out(sample, clusters),
        by_set={name: scored(cases.of_set(name)) for name in sets} if len(sets) > 1 else {},
        ceiling=ceiling(sample, resamples, seed) if len(sample.raters) > 1 else None,
        seconds=measured["seconds"],
        cost=measured["cost_usd"],
    )


def finer_scores(cases: JudgedCases, run: str, resamples: int = 10_000, seed: int = 0) -> Scores | None:
    """The scores of a run against the subcategories, with those of the code book as labels; `None` without gold."""
    if not cases.subcategories:
        return None
    gold = finer_gold(cases)
    kept = {label.item for label in gold}
    verdicts = [verdict for verdict in finer_verdicts(cases.runs[run]) if verdict.item in kept]
    return score(
        verdicts,
        gold,
        finer_labels(),
        judge=run,
        benchmark=cases.on,
        clusters=cases.clusters,
        resamples=resamples,
        seed=seed,
    )
