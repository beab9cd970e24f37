"""A small language model where the papers have large ones: how often it is right, beside always saying one label."""

from collections.abc import Sequence

from misstep.analysis.measures.judging.judged import ScoredItems, rows_of_judge
from misstep.analysis.measures.judging.scores import Standing, standings
from misstep.analysis.tables import Table, TableHead, made_by_this, of_evidence
from misstep.analysis.tables.wording import counted_text

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


@made_by_this
def small_model_table(scored: Sequence[ScoredItems], paper: str, title: str, *, of: str = "") -> Table:
    """Return how a small model answers each question, beside always giving the most frequent label."""
    head = TableHead(f"{paper}_small_model{of and f'_{of}'}", paper, title, _NOTES)
    rows = (row for one in scored for row in rows_of_judge(one))
    return of_evidence(head.table(_finding(scored), rows), "generated")


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
