"""AutoTriage's annotation study: printed agreement beside recomputed figures, and the same on real raters.

Table 2 prints raw agreement and kappas. The raw agreements follow from whole counts; the kappas also need how often
each label was used, which is not printed. One set of ratings that print every figure of the table is in the published
figures, as a reconstruction, and shows how uncertain such kappas are.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.agreement import AgreementReport, agreement_report
from misstep_analysis.audit.tables import checked_figure, checked_rows
from misstep_analysis.labels import Labels
from misstep_analysis.published import load_paper
from misstep_analysis.stats.clusters.clustered import cluster_bootstrap
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters import coefficients
from misstep_analysis.stats.raters.patterns import IntArray, category_counts, distinct_rows
from misstep_analysis.stats.resampling import percentile_interval
from misstep_analysis.tables import Row, Table, TableHead, estimate_row, made_by_this, measured_on, rows_in
from misstep_analysis.tables.wording import number_text, with_interval

_PAIRS = {"a1a2": "A1 and A2", "a1a3": "A1 and A3", "a2a3": "A2 and A3"}
_ALL = "All three annotators"
_AGREEMENT = "Raw agreement"
_KAPPA = "Kappa"
_FLEISS = "Fleiss' kappa"
_FITS = "Ratings that print every figure of table 2; others do too, and these are not the authors'."


class RatedSet(Struct, frozen=True):
    """Real ratings; `clusters` gives each item's cluster, and is empty if items are independent."""

    title: str
    dataset: str
    source: str
    labels: Labels
    report: AgreementReport
    clusters: tuple[str, ...] = ()


_ANNOTATION = TableHead(
    "annotation",
    "autotriage",
    "Agreement of three annotators on 118 failed runs (AutoTriage, table 2)",
    (
        "Recomputed agreements: the whole count that prints so; those of a pair have Wilson's interval, those over "
        "all pairs none, as the comparisons of one trajectory hang together.",
        f"Generated rows: {_FITS}",
        "97.7% is the mean over three pairs of annotators: 346 of 354 comparisons. Of 118 trajectories, all "
        "three agree on 114.",
    ),
)


@made_by_this
def annotation_table(resamples: int = 10_000, seed: int = 0) -> Table:
    """Return AutoTriage's table 2, printed, recomputed and reconstructed, with intervals for the kappas."""
    paper = load_paper("autotriage")
    patterns = paper.reconstruction[0].patterns
    codes = np.repeat([pattern.labels for pattern in patterns], [pattern.items for pattern in patterns], axis=0)
    names = [f"trajectory {number}" for number in range(1, len(codes) + 1)]
    categories = ["agent", "task", "infrastructure", "pass"]
    report = agreement_report(
        Labels("reconstruction", names, ["A1", "A2", "A3"], categories, [], codes.astype(np.int64), []),
        resamples=resamples,
        seed=seed,
    )
    n = int(paper["annotation.n"].number)
    fleiss, pairs = report.fleiss_kappa, [pair.cohen_kappa_interval for pair in report.pairs]
    kappas = {"fleiss": (_ALL, fleiss)} | {
        key: (name, kappa) for (key, name), kappa in zip(_PAIRS.items(), pairs, strict=True)
    }
    rows: list[Row] = []
    reconstructed: list[Row] = []
    for key, (name, kappa) in kappas.items():
        # The mean over pairs of annotators is of the comparisons; these hang together, so that it has no interval.
        of = int(paper["annotation.pairs"].number) if name == _ALL else n
        agreement = paper[f"annotation.{key}.agreement"]
        rows += checked_rows(
            [
                checked_figure(paper, agreement, _AGREEMENT, name, n=of, with_count=name != _ALL),
                checked_figure(paper, paper[f"annotation.{key}.kappa"], _KAPPA, name, n=n),
            ]
        )
        source = f"one reconstruction of the {n} ratings, seed {seed}"
        reconstructed.append(
            estimate_row(_KAPPA, structs.replace(kappa, n=n), "coefficient", name, source, "generated")
        )
        rows.append(reconstructed[-1])
    # The text's "< 3%" in its possible meaning.
    disagreements, group = paper["annotation.disagreements"], "Disagreements, in the text"
    rows += checked_rows([checked_figure(paper, disagreements, "Share that disagree", group)])
    return _ANNOTATION.table(
        (
            f"The printed raw agreements are whole counts and fit together; Fleiss' kappa, printed as "
            f"{paper['annotation.fleiss.kappa'].printed} without an interval, could as well be anything from "
            f"{number_text(fleiss.low, 'coefficient')} to {number_text(fleiss.high, 'coefficient')} (95% interval)."
        ),
        rows,
        drawn=reconstructed,
    )


_REAL_AGREEMENT = TableHead(
    "real_agreement",
    "autotriage",
    "The same statistics on public ratings",
    (
        "Alpha takes graded ratings as ordinal; the kappas and AC1 take every label as a name.",
        "Labels that agree perfectly were settled in discussion: no measure of independent agreement.",
    ),
)


@made_by_this
def real_agreement_table(sets: Sequence[RatedSet], seed: int = 0, notes: Sequence[str] = ()) -> Table:
    """Return agreement of real raters on public sets: raw, Fleiss' kappa, Krippendorff's alpha, AC1, with intervals."""
    kappas = {rated.title: rated.report.fleiss_kappa for rated in sets}
    known = {title: kappa for title, kappa in kappas.items() if kappa.value is not None}
    if known:
        lowest, highest = (pick(known, key=lambda title: known[title].value or 0) for pick in (min, max))
        finding = (
            f"On {len(sets)} public sets of ratings, Fleiss' kappa runs from "
            f"{with_interval(known[lowest], 'coefficient', lowest)} to "
            f"{with_interval(known[highest], 'coefficient', highest)}; "
            "good agreement depends on the question more than on the raters."
        )
    else:
        finding = "No set of ratings is available."
    return _REAL_AGREEMENT.table(
        finding,
        (row for rated in sets for row in measured_on(rated.dataset, _rows_of_set(rated, seed))),
        (*notes,),
        datasets=(rated.dataset for rated in sets),
        drawn=(
            estimate_row(_FLEISS, rated.report.fleiss_kappa, "coefficient", rated.title, rated.source) for rated in sets
        ),
    )


def _rows_of_set(rated: RatedSet, seed: int) -> list[Row]:
    report = rated.report
    agreement = Estimate(report.percent_agreement, n=report.n_items, reason="" if report.n_items else "no items")
    figures = {
        _FLEISS: report.fleiss_kappa,
        f"Krippendorff's alpha ({report.level})": report.krippendorff_alpha,
        "Gwet's AC1": report.gwet_ac1,
    }
    if rated.clusters:
        figures[f"{_FLEISS}, resampling clusters"] = clustered_fleiss(rated, seed=seed)
    if report.n_raters == 2:
        figures["Cohen's kappa"] = report.pairs[0].cohen_kappa_interval
    return [
        estimate_row(_AGREEMENT, agreement, "share", rated.title, rated.source),
        *rows_in("coefficient", figures, rated.title, rated.source),
    ]


def clustered_fleiss(rated: RatedSet, resamples: int = 10_000, seed: int = 0) -> Estimate:
    """Return Fleiss' kappa with an interval over clusters of items, if items of one cluster are not independent."""
    by_count = distinct_rows(np.sort(rated.labels.codes, axis=1))
    counts = category_counts(by_count.rows, len(rated.labels.categories))
    table = _items_by_cluster(rated.clusters, by_count.of_item, len(by_count.rows))
    statistic = partial(coefficients.fleiss, counts=counts)
    value = float(statistic(by_count.items[None, :].astype(np.float64))[0])
    drawn = cluster_bootstrap(statistic, table, resamples, np.random.default_rng(seed))
    low, high = percentile_interval(drawn)
    method = f"percentile bootstrap, {resamples:,} resamples of {len(table)} clusters"
    return Estimate.of(value, low, high, n=len(rated.labels.items), method=method)


def _items_by_cluster(clusters: Sequence[str], patterns: IntArray, n_patterns: int) -> IntArray:
    names, places = np.unique(clusters, return_inverse=True)
    table = np.zeros((len(names), n_patterns), dtype=np.int64)
    np.add.at(table, (places, patterns), 1)
    return table[np.argsort(np.unique(places, return_index=True)[1])]  # clusters in the order of their first items
