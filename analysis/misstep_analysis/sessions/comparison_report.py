"""Finished runs of `classify` compared, or one of them by project, model, agent or week: as a page and as JSON."""

import shlex
from collections.abc import Iterable, Sequence
from importlib.util import find_spec

import msgspec
from msgspec import structs

from misstep_analysis.pages import Foot, Section, page
from misstep_analysis.pages.page import figure_html
from misstep_analysis.plots.rows import forest
from misstep_analysis.runs.finished import read_scores, require_finished
from misstep_analysis.sessions.findings import Findings
from misstep_analysis.sessions.session_comparison import (
    SessionComparison,
    SessionRun,
    compare_sessions,
    comparison_finding,
    comparison_table,
    corrected_changes,
    corrected_table,
    newly_flagged,
    newly_flagged_table,
)
from misstep_analysis.sessions.session_rates import Grouping, group_of, rates_by, session_rates_table
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Table, of_evidence
from misstep_harness.errors import UsageError
from misstep_harness.journal.classified import labelled_sessions
from misstep_harness.journal.opened import OpenRun, distinct_names
from misstep_harness.journal.records import encode
from misstep_harness.trajectory import together

_MOST_LINES_OPEN = 20


def compared_runs(runs: Sequence[OpenRun]) -> SessionComparison:
    """Return two runs compared."""
    if len({run.folder.resolve() for run in runs}) < 2:
        raise UsageError(f"the run {runs[0].folder} is named twice", "Name each run once.")
    a, b = map(_run, distinct_names([run.folder for run in runs]), runs)
    compared = compare_sessions(a, b)
    corrected = corrected_changes(*(read_scores(run.folder, Findings).corrected for run in runs))
    news = newly_flagged(a, labelled_sessions(runs[1].folder))
    return structs.replace(compared, newly_flagged=news, corrected=corrected)


def compared_groups(run: OpenRun, by: Grouping, names: tuple[str, str]) -> SessionComparison:
    """Two groups of one run's sessions compared, such as two weeks, or two spans `2026-W05..2026-W08` of them."""
    opened = _run(run.name, run)
    groups = dict.fromkeys(group_of(session, by) for session, _ in opened.sessions)
    chosen = [_chosen(groups, by, name) for name in names]
    if both := sorted(chosen[0] & chosen[1]):
        raise UsageError(f"--compare takes {by} {both[0]} twice", f"Name two {by}s that are apart.")
    a, b = (
        structs.replace(
            opened, name=name, sessions=tuple(one for one in opened.sessions if group_of(one[0], by) in own)
        )
        for name, own in zip(names, chosen, strict=True)
    )
    after = (one for one in labelled_sessions(run.folder) if group_of(one.session, by) in chosen[1])
    return structs.replace(compare_sessions(a, b), newly_flagged=newly_flagged(a, after))


def _chosen(groups: Iterable[str], by: Grouping, name: str) -> set[str]:
    first, _, last = name.partition("..")
    matches = {group for group in groups if group == name or (by == "week" and last and first <= group <= last)}
    if not matches:
        message = f"no session of the run is of the {by} {name!r}"
        raise UsageError(message, f"The {by}s are: {', '.join(sorted(groups))}.")
    return matches


def changes_of(compared: SessionComparison) -> dict[str, Estimate]:
    """Return the figures that a limit may name: the difference of each category, in the second run less the first."""
    return {f"{change.category}.change": change.difference for change in compared.changes}


def comparison_page(compared: SessionComparison, runs: Sequence[OpenRun], command: str) -> str:
    """Return a comparison as one self-contained page."""
    source = f"{'runs' if len(runs) > 1 else 'a run'} of classify: {compared.a}, {compared.b}"
    table = of_evidence(comparison_table(compared, source), compared.evidence)
    tables = (
        table,
        *([of_evidence(corrected_table(compared, source), compared.evidence)] if compared.corrected else []),
    )
    sections = []
    if compared.newly_flagged:
        news = of_evidence(newly_flagged_table(compared, source), compared.evidence)
        sections.append(Section(news.title, (news,), folded=len(news.rows) > _MOST_LINES_OPEN))
    return page(
        f"{compared.a} and {compared.b} compared",
        comparison_finding(compared),
        tables,
        _figures(table),
        notes=_versions(compared, runs),
        sections=sections,
        foot=Foot(command, inputs=tuple(map(_input, runs))),
    )


def rates_page(run: OpenRun, by: Grouping, command: str) -> str:
    """Return the shares of one run's sessions in each group as a page; `command` makes it again."""
    opened = _run(run.name, run)
    rates = rates_by(opened.categories, opened.sessions, by)
    evidence = together(session.evidence for session, _ in opened.sessions)
    table = session_rates_table(rates, by, source=f"the run {opened.name}", evidence=evidence)
    return page(table.title, table.finding, (table,), foot=Foot(command, inputs=(_input(run),)))


def rates_json(run: OpenRun, by: Grouping) -> str:
    """Return the counts and shares of one run's sessions in each group as JSON."""
    opened = _run(run.name, run)
    return _json({"by": by, "groups": rates_by(opened.categories, opened.sessions, by)})


def comparison_json(compared: SessionComparison) -> str:
    """Return a comparison as JSON."""
    return _json(compared)


def _run(name: str, run: OpenRun) -> SessionRun:
    """Return a run without what its page shows of a session, which may be long."""
    require_finished(run)
    sessions = ((structs.replace(one.session, shown=""), one.labels) for one in labelled_sessions(run.folder))
    return SessionRun(name, tuple(run.manifest.settings["categories"]), tuple(sessions))


def _versions(compared: SessionComparison, runs: Sequence[OpenRun]) -> tuple[str, ...]:
    first, *others = (run.manifest.misstep for run in runs)
    if others in ([], [first]):
        return ()
    return (
        f"{compared.a} was classified by Misstep {first} and {compared.b} by {others[0]}: rules may have changed "
        "between them, so that a difference need not be one of the sessions. Classify both again to be sure.",
    )


def _figures(table: Table) -> Sequence[str]:
    if find_spec("matplotlib") is None or not table.drawn:
        return ()
    drawing = forest(table.drawn, "Change of each category", reference=0.0)
    return (figure_html(drawing, "The change of each share in percentage points, with its 95% interval."),)


def _input(run: OpenRun) -> str:
    source = run.manifest
    return f"{run.folder}: classify {shlex.join(source.arguments)}, by Misstep {source.misstep}, begun {source.started}"


def _json(document: object) -> str:
    return msgspec.json.format(encode(document), indent=2).decode() + "\n"
