"""Cases and whose fault they are, a line each, for a terminal."""

from collections.abc import Sequence

from misstep_analysis.tables.wording import counted_text, in_words, number_text
from misstep_harness.escaping import plain
from misstep_harness.triage.records import TriageVerdict

MOST_CASES = 60
_MOST_EVIDENCE = 90


def cases_text(verdicts: Sequence[TriageVerdict]) -> str:
    """Return the cases in order: label, subcategory, certainty, and the place and text of the strongest evidence."""
    shown = verdicts[:MOST_CASES]
    names = [plain(verdict.item) for verdict in shown]
    causes = [_cause(verdict) for verdict in shown]
    wide, wider = max(map(len, names), default=0), max(map(len, causes), default=0)
    lines = [
        f"{name:{wide}}  {cause:{wider}}  {_evidence(verdict)}".rstrip()
        for name, cause, verdict in zip(names, causes, shown, strict=True)
    ]
    left = len(verdicts) - len(shown)
    more = [f"… and {counted_text(left, 'more case')}; --json prints all of them."] if left else []
    return "".join(f"{line}\n" for line in [*lines, *more])


def _cause(verdict: TriageVerdict) -> str:
    if verdict.label is None:
        return verdict.status
    parts = [verdict.label, in_words(verdict.subcategory)]
    sure = f" ({number_text(verdict.score, 'share')})" if verdict.score is not None else ""
    return ", ".join(filter(None, parts)) + sure


def _evidence(verdict: TriageVerdict) -> str:
    if verdict.label is None:
        text = verdict.error or verdict.rationale
    elif verdict.evidence:
        text = f"{verdict.evidence[0].where}: {verdict.evidence[0].text}"
    else:
        text = verdict.rationale
    line = " ".join(plain(text).split())
    return line if len(line) <= _MOST_EVIDENCE else f"{line[: _MOST_EVIDENCE - 1]}…"
