"""Table 5 in its kinds of evidence: the printed changes and p-values, beside those of a live A/B experiment.

Wink's interventions: misbehaviour with and without them in shadow mode, and the live experiment.

Both print rates and p-values without counts: the implied counts and sizes are computed.
"""

from collections.abc import Mapping

from msgspec import structs

from misstep_analysis.audit.tables import PrintedCount, checked_figure, checked_rows
from misstep_analysis.observer.experiments.comparison import POWER, ExperimentReport, MetricChange, compare_arms, signed
from misstep_analysis.observer.experiments.sessions import Metric, of_live
from misstep_analysis.observer.paper.live import NOTE, LiveExperiments, shadow_finding, shadow_rows
from misstep_analysis.observer.paper.prevalence import arm_size, arm_size_row
from misstep_analysis.published import Figure as PublishedFigure
from misstep_analysis.published import Paper, load_paper, published_row
from misstep_analysis.stats.decisions.power import tolerated_design_effect, tolerated_icc
from misstep_analysis.stats.decisions.relative_change import implied_change
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.two_proportions import newcombe, pooled_z
from misstep_analysis.stats.significance import Significance, holm
from misstep_analysis.tables import Figure, Row, Table, TableHead, Unit, estimate_row, made_by_this, rows_in, rows_of
from misstep_analysis.tables.wording import interval_words, number_text, p_text, with_interval

METRICS = {
    "tcf": "Failed tool calls",
    "tokens": "Tokens per session",
    "interventions": "Engineer interventions per session",
    "time": "Agent execution time per session",
}

_ARMS = ("treatment", "control")
_LEVEL = 0.05
_RATE = "Misbehaviour rate"


_SHADOW_MODE = TableHead(
    "shadow_mode",
    "wink",
    "Misbehaviour rate with detection alone and with course-correction (Wink, section 4.2)",
    (
        "The correlation within trajectories is not printed. With trajectories of very unequal length less of it "
        "suffices: the size-weighted mean length takes the mean's place.",
    ),
)


@made_by_this
def shadow_table(live: LiveExperiments | None = None) -> Table:
    """Return RQ2: the misbehaviour rate with and without guidance, and how much clustering its p bears."""
    paper = load_paper("wink")
    arms = {"detection": "Detection alone", "correction": "With course-correction"}
    counts = {key: _shadow_count(paper, key) for key in arms}
    rows: list[Row] = []
    for key, name in arms.items():
        count, n = counts[key]
        rate = checked_figure(paper, paper[f"shadow.{key}.rate"], name, _RATE, n=n)
        rate = structs.replace(rate, count=PrintedCount(n, count))
        printed, recomputed = checked_rows([rate])
        rows += [printed, structs.replace(recomputed, value=rate.share.value, method=_independent(rate.share))]
    (x1, n1), (x2, n2) = counts.values()
    difference = newcombe(x1, n1, x2, n2)
    apart = structs.replace(difference, n=n1 + n2, method=_independent(difference))
    name, source = "Detection alone less course-correction", f"{x1} / {n1:,} less {x2} / {n2:,}"
    rows.append(estimate_row(name, apart, "difference", _RATE, source, "recomputed"))
    rows += checked_rows([checked_figure(paper, paper["shadow.p"], "p-value", "Test of the difference")])
    z = abs(pooled_z(x1, n1, x2, n2).statistic or 0)
    size = (n1 + n2) / sum(paper[f"shadow.{key}.trajectories"].number for key in arms)
    borne = {level: tolerated_icc(z, level, size) for level in (0.05, 0.001)}
    bounds = {
        quantity: Estimate(value, n=n1 + n2, method="z over the root of the design effect, trajectories of one size")
        for level, correlation in borne.items()
        for quantity, value in (
            (f"Design effect at which p is {level:g}", tolerated_design_effect(z, level)),
            (f"Intraclass correlation at which p is {level:g}", correlation),
        )
    }
    source = f"z {z:.2f}, {size:.2f} invocations a trajectory"
    rows += rows_in("coefficient", bounds, "How much clustering the finding bears", source, "recomputed")
    return _SHADOW_MODE.table(
        (
            f"The printed p-value follows from the printed rates if invocations are independent; those of one "
            f"trajectory are not, and the difference of {with_interval(difference, 'difference').lstrip('+')} would "
            f"keep p below 0.05 up to an intraclass correlation of {borne[0.05]:.2f}, and below 0.001 up to "
            f"{borne[0.001]:.2f}.{shadow_finding(live)}"
        ),
        (*rows, *shadow_rows(live, tuple(arms.values()), _RATE)),
        () if live is None else (NOTE,),
    )


def _independent(estimate: Estimate) -> str:
    return f"{estimate.method}, invocations taken as independent"


def _shadow_count(paper: Paper, key: str) -> tuple[int, int]:
    n = int(paper[f"shadow.{key}.invocations"].number)
    return round(paper[f"shadow.{key}.rate"].number * n), n


_EXPERIMENT = TableHead(
    "experiment",
    "wink",
    "The live experiment (Wink, section 4.3 and table 5)",
    (
        "Adjusted: Holm over the four metrics; the paper prints the p-values as they are.",
        "The range of arm sizes comes from the rounding of the printed rates and p-value. More calls than that "
        "would mean that the authors' test took account of clustering, as it should.",
    ),
)


@made_by_this
def experiment_table() -> Table:
    """Return RQ3: the live experiment's changes and p-values, their stars, and p-values adjusted for four metrics."""
    paper = load_paper("wink")
    rows: list[Row] = []
    p_values = [paper[f"experiment.{key}.p"] for key in METRICS]
    adjusted = holm([p_value.number for p_value in p_values]).p_values
    for (key, name), p_value, holm_p in zip(METRICS.items(), p_values, adjusted, strict=True):
        change = paper[f"experiment.{key}.change"]
        rows += checked_rows([checked_figure(paper, change, "Change, table 5", name)])
        if key == "tcf":
            rows += [published_row(paper[f"experiment.tcf.{arm}"], arm.capitalize(), group=name) for arm in _ARMS]
        in_text = paper[f"experiment.{key}.change.text"]
        rows += checked_rows([checked_figure(paper, in_text, "Change, in the text", name)])
        rows.append(published_row(p_value, "p-value", group=name))
        if key == "tcf":
            rows.append(arm_size_row(paper, p_value, name))
        rows.append(adjusted_row(p_value, holm_p, name))
    below = sum(p is not None and p < _LEVEL for p in adjusted)
    arms = arm_size(paper, paper["experiment.tcf.p"])
    implied = "" if arms is None else f", either arm had {arms.words} of them"
    return _EXPERIMENT.table(
        (
            f"{below} of the {len(METRICS)} changes stay below p 0.05 when the p-values are adjusted for four metrics; "
            "no arm sizes, standard errors or intervals are printed. If the test of failed "
            f"tool calls took calls as independent{implied}."
        ),
        rows,
    )


def adjusted_row(p_value: PublishedFigure, adjusted: float | None, group: str) -> Row:
    """Return a printed p-value after Holm's adjustment for four metrics."""
    return Row(
        quantity="p-value, adjusted",
        value=adjusted,
        evidence="recomputed",
        source=p_value.place,
        unit="p",
        method="Holm over four metrics",
        group=group,
    )


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
