"""A run of `classify` whose open sessions judges are asked about: its verdicts, its shares and their correction."""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import structs

from misstep.classify.run_folder import concluding_with
from misstep.options.model import priced_by
from misstep_analysis.gold import read_gold
from misstep_analysis.runs.finished import read_scores
from misstep_analysis.sessions.costs import costs_of
from misstep_analysis.sessions.findings import Findings, NewSessions, findings
from misstep_analysis.sessions.prevalence import ANY
from misstep_analysis.sessions.session_rates import JudgedSession, corrected_shares, majorities
from misstep_analysis.stats.estimate import Estimate
from misstep_harness.errors import InputError, MissingPrerequisite, opening
from misstep_harness.journal.classified import Summary, labelled_sessions
from misstep_harness.journal.opened import OpenRun
from misstep_harness.places import path_text
from misstep_harness.runs.classify import ClassifyPlan
from misstep_harness.runs.inputs import files_changed, found_files
from misstep_harness.runs.judging.category_judges import JUDGES, CategoryJudge, answered, ask_judges
from misstep_harness.runs.judging.known_judges import BENCHMARK
from misstep_harness.runs.kind import RunEnd
from misstep_harness.runs.verdict_cache import revise

_GOLD_FORM = "The file has the columns item, category and label (yes or no); a category may be any."


class CategoryJudges:
    """What judges are to be asked after the rules, and how that ended."""

    def __init__(self, judges: Sequence[CategoryJudge], gold: Path | None = None, in_flight: int = 16) -> None:
        self._judges, self._in_flight = judges, in_flight
        self._gold = list(_labels_in(gold)) if gold is not None else []
        self.ends: list[RunEnd] = []
        self.missing: MissingPrerequisite | None = None

    def judged(
        self, run: OpenRun, paths: Sequence[Path], plan: ClassifyPlan, new: NewSessions | None = None
    ) -> Findings:
        """Ask the judges about what is open in a finished run, and return the findings of both; they are in the run."""
        files = files_changed(found_files(paths, left_out=run.folder), plan.changed)
        try:
            for end in ask_judges(run, files, self._judges, plan.rules, self._in_flight, plan.arguments):
                self.ends.append(end)
        except MissingPrerequisite as error:
            self.missing = error

        def findings_of(summary: Summary, folder: Path) -> Findings:
            return structs.replace(self._findings(summary, folder, run, plan.categories), new=new)

        revise(
            run,
            answered(run, self._judges),
            concluding_with(findings_of, list(map(path_text, paths)), plan.arguments),
        )
        return read_scores(run.folder, Findings)

    def _findings(self, summary: Summary, folder: Path, run: OpenRun, categories: Sequence[str]) -> Findings:
        costs = costs_of(categories, labelled_sessions(folder), priced_by())
        return findings(categories, summary, self._corrected(folder, run, categories), costs)

    def _corrected(self, folder: Path, run: OpenRun, categories: Sequence[str]) -> dict[str, Estimate]:
        labels = [*self._gold]
        for category in categories:
            benchmark = run.folder / JUDGES / category / BENCHMARK
            if (benchmark / "gold.csv").is_file():
                labels += [(category, one.item, one.label) for one in read_gold(benchmark)]
        sessions = (
            JudgedSession(one.session.item, one.labels, tuple(bool(verdict.by) for verdict in one.verdicts))
            for one in labelled_sessions(folder)
            if one.session.parent is None
        )
        return corrected_shares(categories, sessions, majorities(labels))


def _labels_in(file: Path) -> Iterator[tuple[str, str, str]]:
    """Return the category, the session and the label in each line of a file of labels."""
    with opening(file, _GOLD_FORM):
        text = file.read_text(encoding="utf-8-sig")
    rows = csv.DictReader(io.StringIO(text))
    if not {"item", "label"} <= set(rows.fieldnames or ()):
        raise InputError(f"the columns are {', '.join(rows.fieldnames or ()) or 'none'}", _GOLD_FORM, file=file, line=1)
    for row in rows:
        label = (row["label"] or "").strip()
        if label and label not in ("yes", "no"):
            raise InputError(f"the label {label!r}", _GOLD_FORM, file=file, line=rows.line_num, field="label")
        if label:
            yield (row.get("category") or ANY), row["item"], label
