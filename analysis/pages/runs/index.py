"""The page of many runs: how many show misbehaviour, then all of them to filter, search and open."""

from collections.abc import Sequence

from misstep.analysis.measures.prevalence import Prevalence, prevalence, prevalence_table
from misstep.analysis.pages.browser.frame import browser_page
from misstep.analysis.pages.foot import Foot
from misstep.analysis.pages.rendering import markup
from misstep.analysis.pages.runs.listed import ListedRuns
from misstep.analysis.pages.table_html import table_html
from misstep.analysis.tables.wording import counted_text, interval_words, number_text
from misstep.harness.trajectory import Unreadable

_UNREADABLE_NAMED = 10


def runs_page(
    title: str, categories: Sequence[str], runs: ListedRuns, unreadable: Sequence[Unreadable], foot: Foot
) -> str:
    """Return the page."""
    browser = runs.browser()
    source = counted_text(runs.n, "run")
    table = prevalence_table(categories, runs.patterns, source=source, paper="view", noun="run", evidence=runs.evidence)
    return browser_page(
        "runs/index.html.jinja",
        title=f"Runs in {title}",
        finding=runs_finding(prevalence(categories, runs.patterns)),
        warnings=tuple(_warnings(unreadable)),
        foot=foot,
        browser=browser,
        table=markup(table_html(table, with_finding=False)),
        notes=tuple(_notes(runs)),
    )


def runs_finding(rates: Prevalence) -> str:
    """Return how many of some runs show misbehaviour, in one sentence."""
    share = rates.any_share
    if share.value is None:
        return f"None of {counted_text(rates.n, 'run')} could be checked."
    checked = counted_text(share.n or 0, "run")
    apart = f" {counted_text(rates.n - (share.n or 0), 'run')} could not be checked." if rates.n != share.n else ""
    interval = interval_words(share.low, share.high, "share")
    if not rates.any_count:
        return f"No misbehaviour was found in {checked} ({interval}).{apart}"
    most = max(rates.categories, key=lambda one: one.count)
    return (
        f"{rates.any_count:,} of {checked} {'shows' if rates.any_count == 1 else 'show'} misbehaviour "
        f"({number_text(share.value, 'share')}, {interval}), most often {most.category.replace('_', ' ')} "
        f"({counted_text(most.count, 'run')}).{apart}"
    )


def _warnings(unreadable: Sequence[Unreadable]) -> list[str]:
    if not unreadable:
        return []
    places = [one.file if one.line is None else f"{one.file}:{one.line}" for one in unreadable[:_UNREADABLE_NAMED]]
    more = len(unreadable) - len(places)
    named = ", ".join(places) + (f" and {more:,} more" if more else "")
    return [
        f"{counted_text(len(unreadable), 'run')} could not be read and {'is' if len(unreadable) == 1 else 'are'} "
        f"not counted: {named}."
    ]


def _notes(runs: ListedRuns) -> list[str]:
    notes = [
        "Rules find the misbehaviour, without a model. The interval is of sampling alone and takes the runs as "
        "independent draws.",
        "The page shortens long texts and marks the cuts; the search looks into what is in the page. "
        "`misstep view FILE --id ID` shows one run whole.",
    ]
    if runs.sub_agents:
        is_one = runs.sub_agents == 1
        notes.append(
            f"{counted_text(runs.sub_agents, 'run')} of {'a sub-agent is' if is_one else 'sub-agents are'} listed, and "
            "not counted in the figures."
        )
    return notes
