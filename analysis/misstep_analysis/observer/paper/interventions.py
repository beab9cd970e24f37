"""Wink's interventions: misbehaviour with and without them in shadow mode, and the live experiment.

Both print rates and p-values without counts: the implied counts and sizes are computed.
"""

from msgspec import structs

from misstep_analysis.audit.tables import PrintedCount, checked_figure, checked_rows
from misstep_analysis.observer.paper.live import NOTE, LiveExperiments, shadow_finding, shadow_rows
from misstep_analysis.observer.paper.prevalence import arm_size, arm_size_row
from misstep_analysis.published import Figure, Paper, load_paper, published_row
from misstep_analysis.stats.decisions.power import tolerated_design_effect, tolerated_icc
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.two_proportions import newcombe, pooled_z
from misstep_analysis.stats.significance import holm
from misstep_analysis.tables import Row, Table, TableHead, estimate_row, made_by_this, rows_in
from misstep_analysis.tables.wording import with_interval

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


def adjusted_row(p_value: Figure, adjusted: float | None, group: str) -> Row:
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
