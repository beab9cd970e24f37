"""The findings of an audit: one for each way in which a printed figure was computed again, or for each row.

`document` is the JSON of `misstep audit`; `Finding` is shown as text and on the page.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, structs

from misstep_analysis.audit.checks import Ways, check_all, check_each_way
from misstep_analysis.audit.judge_tables import SWAPS
from misstep_analysis.audit.rounding_boxes import Checked, Repair, scale
from misstep_analysis.audit.row_figures import UserRow
from misstep_analysis.published import Check, Figure, Paper
from misstep_analysis.tables import FAILED, STATUS_WORDS, WORST_FIRST, Status, Unit


class Finding(Struct, frozen=True):
    """One judgement.

    `source` is the file or the paper and `row` the figure's id there; `place` and `name` are those in a paper;
    `computed` is in the printed unit, a percentage in percent, and `None` if nothing can be computed; `sentence` is
    the arithmetic, `suggestion` a repair that would make the figures fit and `repair` its kind; `remark` has the origin
    of inputs that are not printed, and the file's note on a figure that fails; `value` is a share as a fraction, with
    the ends that the rounding of the inputs leaves open; `figures` are the printed figures of a paper, as rows of
    tables name them; `wanting` is the missing input of an underdetermined figure.
    """

    source: str
    row: str
    check: Check
    status: Status
    printed: str
    computed: float | None
    sentence: str
    suggestion: str = ""
    remark: str = ""
    place: str = ""
    name: str = ""
    unit: Unit = "number"
    value: float | None = None
    low: float | None = None
    high: float | None = None
    figures: tuple[str, ...] = ()
    repair: Repair = ""
    wanting: str = ""

    @property
    def explanation(self) -> str:
        """Return all texts, the suggestion marked as one."""
        marked = f"Suggestion: {self.suggestion}." if self.suggestion else ""
        return " ".join(part for part in (self.sentence, self.remark, marked) if part)


def paper_findings(paper: Paper, source: str) -> list[Finding]:
    """Return every figure of a paper in every way that its file names, in the file's order."""
    return [
        structs.replace(
            _finding(figure, checked, source, figure.id), remark=_remark(paper, figure, ways, checked.status)
        )
        for figure, ways, checked in check_each_way(paper)
    ]


def row_findings(rows: Iterable[UserRow], source: str) -> list[Finding]:
    """Return one finding a row, in the file's order: the worst of its figures'.

    If a row leaves open which measure is printed, it is the best: the measure that fits.
    """
    return [_of_row(row, source) for row in rows]


def document(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the findings as one JSON value: how many figures were checked, and each in the order of the input."""
    names = ("source", "row", "check", "status", "printed", "computed", "explanation")
    return {
        "checked": len(findings),
        "findings": [{name: getattr(finding, name) for name in names} for finding in findings],
    }


def counted(findings: Iterable[Finding]) -> dict[Status, int]:
    """Return how many findings there are of each status, the worst first."""
    counts = Counter(finding.status for finding in findings)
    return {status: counts[status] for status in WORST_FIRST}


def headline(findings: Sequence[Finding]) -> str:
    """Return one sentence on how the checks ended, the worst first."""
    parts = [f"{count:,} {STATUS_WORDS[status][count != 1]}" for status, count in counted(findings).items() if count]
    listed = " and ".join(parts) if len(parts) < 3 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"Of {len(findings):,} {'check' if len(findings) == 1 else 'checks'}, {listed}."


def is_at_least(finding: Finding, status: Status) -> bool:
    """Return whether a finding is of a status or a worse one."""
    return _badness(finding) <= WORST_FIRST.index(status)


def merged(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Return findings grouped: one figure in several places, the cells of a table with swapped rows.

    The worst comes first, of the groups and in each of them.
    """
    every = list(findings)
    cells = {(_swapped_in(finding), finding.row) for finding in every}
    counts = Counter(table for table, _ in cells if table)
    tables = {table for table, count in counts.items() if count > 1}
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for finding in every:
        table = _swapped_in(finding)
        own = (finding.source, finding.check, finding.status, finding.explanation)
        alike.setdefault(table if table in tables else own, []).append(finding)
    groups = [sorted(group, key=_badness) for group in alike.values()]
    return sorted(groups, key=lambda group: _badness(group[0]))


def is_one_figure(alike: Sequence[Finding]) -> bool:
    """Return whether grouped findings say the same; else they are cells of one table."""
    return len({finding.explanation for finding in alike}) == 1


def as_one(alike: Sequence[Finding]) -> Finding:
    """Return a group of `merged` as one finding: the first with all its places, or every cell with its sentence."""
    first, place = alike[0], "; ".join(dict.fromkeys(one.place for one in alike if one.place))
    if is_one_figure(alike):
        return structs.replace(first, place=place, figures=_named(alike, first.status))
    cells = {one.row: one.printed for one in alike}
    sentences: dict[str, list[str]] = {}
    for one in alike:
        sentences.setdefault(one.name, []).append(one.sentence)
    return Finding(
        source=first.source,
        row=first.row,
        check=first.check,
        status=first.status,
        printed=", ".join(cells.values()),
        computed=None,
        sentence=" ".join(f"{name}: {' '.join(dict.fromkeys(texts))}" for name, texts in sentences.items()),
        suggestion=f"{SWAPS['rows_swapped']}: then these {len(cells)} figures fit",
        remark=" ".join(dict.fromkeys(one.remark for one in alike if one.remark)),
        place=place,
        name=f"{len(cells)} figures",
        unit="text",
        figures=_named(alike, first.status),
    )


def _named(alike: Sequence[Finding], status: Status) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for one in alike if one.status == status for name in one.figures))


def _swapped_in(finding: Finding) -> tuple[str, ...]:
    """Return the table in which a finding suggests swapped rows; empty where it does not."""
    is_swap = finding.place and finding.repair == "rows_swapped"
    return (finding.source, finding.check, finding.place) if is_swap else ()


def _badness(finding: Finding) -> int:
    return WORST_FIRST.index(finding.status)


def _of_row(row: UserRow, source: str) -> Finding:
    all_findings = [_finding(figure, checked, source, row.id) for figure, checked in check_all(row.paper)]
    failed = [one for one in all_findings if one.status in FAILED]
    chosen = _readings(all_findings) if row.any_of else failed or all_findings
    worst = min(chosen, key=_badness)
    of_printed = next((one for one in chosen if (one.status, one.check) == (worst.status, row.check)), all_findings[0])
    sentences = [f"As {one.name}: {one.sentence}" if row.any_of else one.sentence for one in chosen]
    return structs.replace(
        of_printed,
        check=row.check,
        status=worst.status,
        printed=row.printed,
        sentence=" ".join(dict.fromkeys(sentences)),
        suggestion="; ".join(dict.fromkeys(one.suggestion for one in chosen if one.suggestion)),
        name=row.id,
        place="",
        figures=(),
        repair="",
        wanting="",
    )


def _readings(findings: Sequence[Finding]) -> Sequence[Finding]:
    """Return the readings of a figure that fit; where none does, those that may; where none may, all of them."""
    for status in ("reproduced", "underdetermined"):
        alike = [one for one in findings if one.status == status]
        if alike:
            return alike
    return findings


def _finding(figure: Figure, checked: Checked, source: str, row: str) -> Finding:
    value = checked.value
    return Finding(
        source=source,
        row=row,
        check=checked.check,
        status=checked.status,
        printed=figure.printed,
        computed=None if value is None else float(f"{value * scale(figure):.12g}"),
        sentence=checked.sentence,
        suggestion=checked.suggestion,
        place=figure.place,
        unit=figure.unit,
        value=value,
        low=checked.low,
        high=checked.high,
        name=figure.column if "\t" in figure.id else f"{figure.row}, {figure.column}",
        figures=figure.named,
        repair=checked.repair,
        wanting=checked.wanting,
    )


def _remark(paper: Paper, figure: Figure, ways: Ways, status: Status) -> str:
    names = [
        name
        for way in ways
        for value in way.inputs.values()
        for name in ((value,) if isinstance(value, str) else value)
    ]
    unprinted = [paper[name] for name in dict.fromkeys(names) if name in paper and paper[name].is_worked_out]
    sentences = [f"{one.printed} is {one.place}." for one in unprinted if status != "reproduced"]
    return " ".join([*sentences, f"Note: {figure.note}."] if figure.note and status in FAILED else sentences)
