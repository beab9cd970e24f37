"""What a model of 1.5 billion parameters does where the papers have large ones: its repairs and its judgements."""

from collections.abc import Sequence

from misstep_analysis.judging.judged import ScoredItems, rows_of_judge
from misstep_analysis.judging.scores import Standing, standings
from misstep_analysis.repair.attempts import RepairArm
from misstep_analysis.repair.paper.repairs import datasets_of, measured_on_arm
from misstep_analysis.repair.scores import RepairScores, score_repairs
from misstep_analysis.tables import Row, Table, TableHead, made_by_this, of_evidence, rows_in
from misstep_analysis.tables.wording import counted_text, with_interval

_STANDING: dict[Standing, str] = {
    "less often": "right less often",
    "not shown": "not shown to be right more or less often",
    "more often": "right more often",
}
NAME = "Qwen2.5-Coder 1.5B"
MODEL = "Qwen2.5-Coder-1.5B-Instruct"
SIZE = "1.5 billion parameters, about 4 bits each"

NOT_SHOWN = (
    f"{MODEL} has {SIZE}. That it fails says nothing of the models of the papers: "
    "these figures show that the software asks a real model, reads what it replies and scores it, and what a model "
    "of this size is worth."
)
"""What a model of this size cannot show."""

_NOTES = (
    NOT_SHOWN,
    "Its prompts are the shipped ones, with 1,500 tokens of each item; none was changed for these items.",
    "Precision and recall leave out items without a readable answer; the first accuracy counts them as wrong.",
)

_HEAD = TableHead("small_model", "small_model", "Judges' prompts, asked of a small model", _NOTES)


@made_by_this
def small_model_table(scored: Sequence[ScoredItems]) -> Table:
    """Return how a small model answers each question, beside always giving the most frequent label."""
    rows = (row for one in scored for row in rows_of_judge(one))
    return of_evidence(_HEAD.table(_finding(scored), rows), "generated")


def _finding(scored: Sequence[ScoredItems]) -> str:
    if not scored:
        return f"No answers of {MODEL} are recorded."
    by_standing: dict[Standing, list[str]] = {"less often": [], "not shown": [], "more often": []}
    for one, standing in zip(scored, standings(one.scores for one in scored), strict=True):
        by_standing[standing].append(one.judged.on)
    count = counted_text(len(scored), "question")
    parts = [
        f"{_STANDING[standing]} in {len(on)} of {count}: {'; '.join(on)}" for standing, on in by_standing.items() if on
    ]
    return f"Beside always giving the most frequent label, {MODEL} ({SIZE}) is {'. It is '.join(parts)}."


_REPAIRS = TableHead(
    "small_model_repairs",
    "small_model",
    "Cases that a small model repaired",
    (
        NOT_SHOWN,
        "Cases were chosen so that a laptop gets through: those in Python, or with a file that fits its window.",
    ),
)


@made_by_this
def small_model_repairs_table(arms: Sequence[RepairArm], seed: int = 0) -> Table:
    """Return the share of cases that a small model repaired, by setting or by edit format and instructions."""
    scored = [score_repairs(arm, seed) for arm in arms]
    rows = [row for one in scored for row in measured_on_arm(one.arm, _repair_rows(one))]
    return _REPAIRS.table(_repairs_finding(scored), rows, datasets=datasets_of(arms))


def _repair_rows(scores: RepairScores) -> list[Row]:
    arm = scores.arm
    source = f"policy {arm.policy} on {arm.benchmark}"
    return rows_in("share", {_setting(arm): scores.solve_rate}, source, source, arm.evidence)


def _repairs_finding(scored: Sequence[RepairScores]) -> str:
    solving = [one for one in scored if one.solve_rate.value]
    rates = [with_interval(one.solve_rate, "share", _setting(one.arm)) for one in solving]
    sentence = f"{MODEL} repaired at least one case in {len(solving)} of {counted_text(len(scored), 'run')}"
    return f"{sentence}: {', '.join(rates)}." if rates else f"{sentence}."


def _setting(arm: RepairArm) -> str:
    return f"{arm.format}, {arm.instructions}" if arm.instructions else arm.setting
