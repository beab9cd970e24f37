"""The effect of critics by table 4's counts, and of this software's judges, on a closed loop of filter and retrain.

The paper says that a bias from agent to task compounds over iterations, without a figure. The simulation of
`analysis.measures.triage.closed_loop` takes the confusions of table 4, and those measured here, under printed
assumptions.
"""

from collections.abc import Mapping, Sequence

from misstep.analysis.measures.judging.scores import Scores
from misstep.analysis.measures.triage.closed_loop import BLAME, PERFECT, Assumption, ClosedLoop, Critic, Round
from misstep.analysis.papers.autotriage.judges import matrix_counts, triage_matrices
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Row, Table, TableHead, made_by_this, rows_in
from misstep.analysis.tables.wording import counted_text, number_text

_SHOWN_ROUNDS = (1, 5, 10, 20)
_MEASURES = {
    "lost": "Valid negative signal lost",
    "noise": "Noise among failures trained on",
    "capability": "Sound tasks that the agent can do",
    "perceived": "Solve rate as it is seen",
}


def printed_critics() -> list[Critic]:
    """Return table 4's judges by their printed counts; its runs labelled task defect are not printed."""
    critics = []
    for name, matrix in triage_matrices().items():
        places = [matrix.columns.index(column) for column in ("Agent", "Task", "Harn.")]
        rows = dict(zip(matrix.rows, matrix_counts(matrix), strict=True))
        agent, harness = ([rows[row][place] for place in places] for row in ("Agent Err.", "Harness"))
        critics.append(Critic(f"{name.capitalize()}, read-only (table 4)", {"agent": agent, "infrastructure": harness}))
    return critics


def measured_critics(scored: Mapping[str, Scores]) -> list[Critic]:
    """Return the judges of this software by their counts on generated cases."""
    critics = []
    for name, scores in scored.items():
        matrix, place = scores.confusion.matrix, {label: scores.confusion.labels.index(label) for label in BLAME}
        counts = {gold: tuple(matrix[place[gold]][place[label]] for label in BLAME) for gold in BLAME}
        critics.append(Critic(name, counts))
    return critics


_CLOSED_LOOP = TableHead(
    "closed_loop",
    "autotriage",
    "Filter and retrain in a closed loop, simulated",
    (
        "A simulation, not a measurement. Each loop draws the critic's rates from what its counts leave possible "
        "(Dirichlet, Jeffreys' prior); intervals are the middle 95% of loops.",
        "A row of the confusion matrix that is not printed is taken to be judged right always, in the critic's "
        "favour: of table 4, the task defects.",
    ),
)


@made_by_this
def closed_loop_table(loops: Sequence[ClosedLoop], assumed: Mapping[str, Assumption], seed: int = 0) -> Table:
    """Return the effect of a critic's errors on a simulated closed loop of filter and retrain, with all assumptions."""
    source = f"simulated, seed {seed}"
    rows = [
        row
        for loop in loops
        for one in loop.rounds
        if one.number in _SHOWN_ROUNDS
        for row in _round_rows(loop, one, source)
    ]
    drawn = [
        row
        for loop in loops
        for row in rows_in(
            "share", {f"Round {one.number}": one.lost for one in loop.rounds}, loop.critic.name, source, "generated"
        )
    ]
    return _CLOSED_LOOP.table(
        _loop_finding(loops),
        rows,
        (f"Assumed, {name.replace('_', ' ')}: {one.value:g}. {one.meaning}" for name, one in assumed.items()),
        drawn=drawn,
    )


def _round_rows(loop: ClosedLoop, one: Round, source: str) -> list[Row]:
    after = f"after {counted_text(one.number, 'round')}"
    shares = {f"{name} {after}": getattr(one, measure) for measure, name in _MEASURES.items()}
    return rows_in("share", shares, loop.critic.name, source, "generated")


def _loop_finding(loops: Sequence[ClosedLoop]) -> str:
    ends = {loop.critic.name: loop.rounds[-1] for loop in loops if loop.rounds and loop.critic != PERFECT}
    if not ends:
        return "No critic was tried in the loop."
    worst = max(ends, key=lambda name: ends[name].lost.value or 0.0)
    least = min(ends, key=lambda name: ends[name].lost.value or 0.0)
    end = ends[worst]
    sentence = (
        f"In the simulated loop {worst} loses {_briefly(end.lost)} of the valid negative signal in {end.number} "
        f"rounds, and the agent seems to solve {number_text(end.perceived.value, 'share')} where it can do "
        f"{number_text(end.capability.value, 'share')}"
    )
    return f"{sentence}; {least} loses {_briefly(ends[least].lost)}. A critic without errors loses none."


def _briefly(share: Estimate) -> str:
    low, high = (number_text(end, "share") for end in (share.low, share.high))
    return f"{number_text(share.value, 'share')} (middle 95% of loops {low} to {high})"
