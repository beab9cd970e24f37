"""How often models keep to edit formats, and how far a reader of edits agrees with upstream's verdicts."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.tables import Row, Table, TableHead, estimate_row, made_by_this, rows_in
from misstep.analysis.tables.wording import with_interval
from misstep.harness.records.recorded_edits import EditRun, RecordedEdit

_PAPER = "engineering_agent"
_ABSENT = "The data set is not available."
_TOLERANCE = 0.0501

_WELL_FORMED = "Mean of the printed shares without a malformed reply"
_SOLVED = "Mean of the printed shares solved after two tries"
_FORMATS = TableHead(
    "edit_formats",
    _PAPER,
    "How often models keep to an edit format",
    (
        "A case counts as malformed if any of its replies broke the format. Cases of one model hang together, and "
        "the intervals do not know it.",
        "The format of a run was chosen with its model, and weak models were given whole files: formats do not "
        "compare.",
    ),
)
_RECORDED = TableHead(
    "recorded_edits",
    _PAPER,
    "Replies of real models, and whether they can be read",
    (
        "The share is of replies that were read without refusal. The edited files are not in the set: whether a "
        "reply applies cannot be told here.",
        "A search-and-replace message may quote blocks that it does not mean, and name no file: upstream tried "
        "no edit then.",
    ),
)


class FormatResult(Struct, frozen=True):
    """The runs of one board in one format; `kept` is the share of cases without a malformed reply."""

    board: str
    format: str
    runs: int
    kept: Estimate
    mean_well_formed: float | None
    mean_solved: float | None


class ReadEdit(Struct, frozen=True):
    """A recorded reply and what a reader made of it: the number of its blocks or hunks, or the reason of a refusal."""

    recorded: RecordedEdit
    blocks: int = 0
    refused: str = ""


class Agreement(Struct, frozen=True):
    """Replies of one format and one upstream judgement: `read` of `n` were read, the others refused, by reason."""

    format: str
    upstream: str
    n: int
    read: int
    refused: tuple[tuple[str, int], ...]


def format_results(runs: Iterable[EditRun]) -> list[FormatResult]:
    """Return each board and format, in order of board and of how many runs."""
    groups: dict[tuple[str, str], list[EditRun]] = {}
    for run in runs:
        groups.setdefault((run.board, run.format), []).append(run)
    boards = list(dict.fromkeys(board for board, _ in groups))
    results = [_result(board, name, group) for (board, name), group in groups.items()]
    return sorted(results, key=lambda one: (boards.index(one.board), -one.runs, one.format))


def _result(board: str, name: str, runs: Sequence[EditRun]) -> FormatResult:
    counted = [run for run in runs if run.malformed is not None]
    cases = sum(run.cases for run in counted)
    share = wilson(cases - sum(run.malformed or 0 for run in counted), cases)
    well_formed = [run.well_formed for run in runs if run.well_formed is not None]
    solved = [rate for run in runs if (rate := run.pass_rates[1]) is not None]
    means = [sum(values) / len(values) if values else None for values in (well_formed, solved)]
    return FormatResult(board, name, len(runs), share, *means)


def contradictions(runs: Iterable[EditRun]) -> list[tuple[EditRun, str, float, float]]:
    """Printed percentages that their own count of the cases that ran does not give: the run, what, printed, counted."""
    pairs = []
    for run in runs:
        if run.well_formed is not None and run.malformed is not None:
            pairs.append((run, "well formed", run.well_formed, 100 * (1 - run.malformed / run.cases)))
        for number, (count, rate) in enumerate(zip(run.solved, run.pass_rates, strict=True), start=1):
            if count is not None and rate is not None:
                pairs.append((run, f"solved, {number}", rate, 100 * count / run.cases))
    return [one for one in pairs if abs(one[2] - one[3]) > _TOLERANCE]


def agreements(read: Iterable[ReadEdit]) -> list[Agreement]:
    """Return each format and upstream judgement, with how many replies could be read."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in read:
        reasons.setdefault((one.recorded.format, upstream_words(one.recorded)), []).append(one.refused)
    return [
        Agreement(*key, len(own), own.count(""), tuple(Counter(filter(None, own)).most_common()))
        for key, own in sorted(reasons.items())
    ]


def upstream_words(recorded: RecordedEdit) -> str:
    """Return what upstream says of the form of a reply, and what its tool said of applying it."""
    facts = recorded.facts
    if recorded.format == "search_replace":
        form = "markers balanced" if facts["markers_balanced"] else "markers not balanced"
        return f"{form}; {recorded.verdict.replace('_', ' ')}"
    if recorded.format == "unified_diff":
        parsed = "unidiff parses it" if facts["parses"] else "unidiff finds no file"
        return f"{parsed}; git takes it" if facts["numstat_ok"] else f"{parsed}; git calls it corrupt"
    return "a literal" if facts["literal_ok"] else "no literal"


@made_by_this
def leaderboard_formats_table(runs: Sequence[EditRun]) -> Table:
    """Return how often replies keep to their edit format, by board and format, with Wilson intervals over cases."""
    results, odd = format_results(runs), contradictions(runs)
    rows: list[Row] = []
    for one in results:
        where = f"{one.board}: {one.format}", f"{one.runs} runs, aider_leaderboards"
        means = {_WELL_FORMED: one.mean_well_formed, _SOLVED: one.mean_solved}
        rows += rows_in("share", {"Cases without a malformed reply": one.kept}, *where)
        known = {name: value / 100 for name, value in means.items() if value is not None}
        rows += rows_in("share", known, *where, n=one.runs)
    listed = "; ".join(f"{run.model}, {what}: {printed:g}, not {value:.2f}" for run, what, printed, value in odd)
    contradicting = f"{len(odd)} printed percentages do not follow from the counts of their row: {listed}."
    follow = contradicting if odd else "All printed percentages follow from the counts of their rows."
    datasets = ["aider_leaderboards"] if runs else []
    return _FORMATS.table(_formats_finding(results), rows, [follow], datasets=datasets)


def _formats_finding(results: Sequence[FormatResult]) -> str:
    counted = [one for one in results if one.kept.n]
    if not counted:
        return _ABSENT
    one = max(counted, key=lambda result: result.kept.n or 0)
    return (
        f"In {one.runs} runs with the format {one.format} on the board {one.board}, "
        f"{with_interval(one.kept, 'share')} of cases are without a malformed reply."
    )


@made_by_this
def recorded_edits_table(read: Sequence[ReadEdit]) -> Table:
    """Return how many recorded replies of models the readers of edits take, by what upstream said of them."""
    measured, rows = agreements(read), []
    for one in measured:
        refused = ", ".join(f"{reason} {n}" for reason, n in one.refused)
        counts = f"{one.read} / {one.n}, patch_corpora{f'; refused: {refused}' if refused else ''}"
        rows.append(estimate_row(one.upstream, wilson(one.read, one.n), "share", one.format, counts))
    total = wilson(sum(one.read for one in measured), sum(one.n for one in measured))
    readable = f"Of {total.n:,} recorded replies, {with_interval(total, 'share')} can be read in their format."
    return _RECORDED.table(readable if measured else _ABSENT, rows, datasets=["patch_corpora"] if measured else [])
