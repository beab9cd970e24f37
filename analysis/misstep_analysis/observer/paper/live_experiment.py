"""Table 5 in its kinds of evidence: the printed changes and p-values, beside those of a live A/B experiment."""

from collections.abc import Mapping

from misstep_analysis.observer.experiments.comparison import POWER, ExperimentReport, MetricChange, compare_arms, signed
from misstep_analysis.observer.experiments.sessions import Metric, of_live
from misstep_analysis.observer.paper.interventions import METRICS, adjusted_row
from misstep_analysis.observer.paper.live import NOTE, LiveExperiments
from misstep_analysis.published import load_paper, published_row
from misstep_analysis.stats.decisions.relative_change import implied_change
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.significance import Significance, holm
from misstep_analysis.tables import Figure, Row, Table, TableHead, Unit, estimate_row, made_by_this, rows_of
from misstep_analysis.tables.wording import interval_words, number_text, p_text

KEYS: Mapping[Metric, str] = {
    "failed_calls": "tcf",
    "tokens": "tokens",
    "engineer_interventions": "interventions",
    "seconds": "time",
}


def report_of(live: LiveExperiments | None) -> ExperimentReport | None:
    """Return the A/B experiment as compared; `None` if there is none."""
    if live is None or not live.ab:
        return None
    return compare_arms(of_live(live.ab), "control", "guide", seed=live.seed)


_IMPLIED = "table 5 and section 4.3"


def implied_changes() -> dict[str, Estimate]:
    """Return key of a metric → the interval that its printed change and p-value imply."""
    paper = load_paper("wink")
    return {
        key: implied_change(paper[f"experiment.{key}.change"].number, paper[f"experiment.{key}.p"].number)
        for key in METRICS
    }


_EXPERIMENT_EVIDENCE = TableHead(
    "experiment_evidence",
    "wink",
    "The live experiment of table 5 beside one with a scripted agent",
    (
        "Recomputed changes: the interval that the printed change and p-value imply, if the test was a normal one "
        "of the log ratio (Altman and Bland 2011). What was tested, and over which units, is not printed.",
        "Generated changes: Fieller's interval by the delta method over the units that were assigned; sums that a "
        "few sessions dominate are tested by permuting units.",
    ),
)


@made_by_this
def experiment_evidence_table(live: LiveExperiments | None = None) -> Table:
    """Return changes and p-values of table 5, with those of a live experiment, if there is one."""
    paper, report = load_paper("wink"), report_of(live)
    adjusted = holm([paper[f"experiment.{key}.p"].number for key in METRICS]).p_values
    implied = implied_changes()
    rows: list[Row] = []
    for (key, name), p_value in zip(METRICS.items(), adjusted, strict=True):
        printed = paper[f"experiment.{key}.p"]
        rows += [
            published_row(paper[f"experiment.{key}.change"], "Change", group=name),
            estimate_row("Change", implied[key], "share", name, _IMPLIED, "recomputed"),
            published_row(printed, "p-value", group=name),
            adjusted_row(printed, p_value, name),
        ]
    if live is not None and report is not None:
        for change in report.changes:
            rows += _change_rows(change, METRICS[KEYS[change.metric]], live.source(live.ab), len(report.changes))
    return _EXPERIMENT_EVIDENCE.table(
        f"{_printed_finding(implied)} {_finding(report, live)}", rows, () if live is None else (NOTE,)
    )


def _change_rows(change: MetricChange, group: str, source: str, metrics: int) -> list[Row]:
    test = change.compared.test
    adjusted = Significance(None, change.p_adjusted, test.n, f"Holm over {metrics} metrics", test.reason)
    figures: list[tuple[str, Figure, Unit]] = [
        ("Change", change.compared.relative, "share"),
        ("p-value", test, "p"),
        ("p-value, adjusted", adjusted, "p"),
    ]
    if change.naive is not None:
        figures.append(("p-value, calls taken as independent", change.naive, "p"))
    if change.smallest is not None:
        method = "normal test of the log ratio, from the control's spread"
        smallest = Estimate(change.smallest, n=test.n, method=method)
        figures.append((f"Smallest decrease found with a chance of {number_text(POWER, 'share')}", smallest, "share"))
    return rows_of(figures, group, source, "generated")


def _printed_finding(implied: Mapping[str, Estimate]) -> str:
    estimates = {name.lower(): implied[key] for key, name in METRICS.items()}
    sentences = [
        f"{name} {interval_words(one.low, one.high, 'share').removeprefix('95% interval ')}"
        for name, one in estimates.items()
    ]
    return (
        f"The printed changes and p-values imply 95% intervals that the paper does not print: {'; '.join(sentences)}."
    )


def _finding(report: ExperimentReport | None, live: LiveExperiments | None) -> str:
    if report is None or live is None:
        return "No live experiment is available for comparison."
    mismatch = "; the arms do not fit their shares" if report.mismatched else ""
    sizes = " and ".join(f"{arm.units:,}" for arm in report.arms if arm.units)
    changed, unchanged = (
        [_change_text(one) for one in report.changes if one.changed is is_so] for is_so in (True, False)
    )
    parts = [f"changed with guidance: {'; '.join(changed)}"] if changed else []
    none = "No" if parts else "no"
    parts += [f"{none} difference was found after adjustment in {'; '.join(unchanged)}"] if unchanged else []
    return f"In generated sessions of {live.agents} ({sizes} units{mismatch}) {'. '.join(parts)}."


def _change_text(change: MetricChange) -> str:
    relative = change.compared.relative
    sure = interval_words(relative.low, relative.high, "share")
    p_values = p_text(change.compared.test.p_value, change.p_adjusted)
    return f"{METRICS[KEYS[change.metric]].lower()} (change {signed(relative.value)}, {sure}; {p_values})"
