"""The reflexive harness's mechanisms: repeated reflections, budgets and categories of rules, by printed figures.

The reflexive harness: the failure modes' figures and the run tables, printed and recomputed.

The document describes failure modes of an agent that hardens a system rule by rule; its project prints each run in a
journal. No log of a run is available: only the agreement of the printed figures can be checked.
"""

from collections.abc import Sequence

from msgspec import structs

from misstep_analysis.audit.tables import CheckedFigure, checked_figure, checked_rows, finding, recomputed_rows
from misstep_analysis.published import Figure, Paper, load_paper, published_row
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.audit import counts_that_print
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import FAILED, Row, Status, Table, TableHead, estimate_row, made_by_this
from misstep_analysis.tables.wording import in_words, number_text, with_interval

RUNS = {
    "before": "Before the time budget",
    "planned": "As planned",
    "v2": "v2",
    "v3": "v3",
    "run1": "Run 1",
    "run2": "Run 2",
    "run3": "Run 3",
    "run4": "Run 4",
    "backfill": "Backfill of lessons",
    "run5": "Run 5",
    "run6": "Run 6",
    "cve_smoke": "Advisories, first trial",
    "cve_stock": "Advisories, stock system",
    "cve_hardened": "Advisories, hardened system",
}
"""Key of a run in the published figures → its name in a table, in the order of time."""

_FIX_RATES = {
    "v2": "remediated.share",
    "v3": "remediated.share",
    "run1": "remediated.share",
    "run2": "fix_rate",
    "run3": "aggregate_fix_rate",
    "run4": "aggregate_fix_rate",
    "run5": "scorecard.fix_rate",
    "run6": "scorecard.fix_rate",
}

FIXED = "Rules fixed"
_SLUG = "reflexive"


_FIX_RATES_TABLE = TableHead(
    "fix_rates",
    _SLUG,
    "Rules fixed, run by run (reflexive harness, run tables)",
    (
        "What a share is of changes from run to run: rules attempted, processed, or fixed and escalated.",
        "Each run is one run, and its rules are not independent of each other: the intervals are too narrow.",
    ),
)


@made_by_this
def fix_rate_table() -> Table:
    """Return the share of rules that each run fixed, as printed and from its counts."""
    paper = load_paper(_SLUG)
    rates = [
        checked_figure(paper, paper[f"runs.{key}.{part}"], FIXED, RUNS[key], with_count=True)
        for key, part in _FIX_RATES.items()
    ]
    fixed = {one.heading: one.share for one in rates if one.share.value is not None}
    least, most = (pick(fixed, key=lambda run: fixed[run].value or 0) for pick in (min, max))
    return _FIX_RATES_TABLE.table(
        (
            f"{finding(rates, 'the shares of rules fixed').rstrip('.')}; the share goes from "
            f"{with_interval(fixed[least], 'share')} in {least} to {with_interval(fixed[most], 'share')} in {most}."
        ),
        checked_rows(rates),
        drawn=recomputed_rows(one for one in rates if one.share.value is not None),
    )


_FAILURE_MODES = TableHead(
    "failure_modes",
    _SLUG,
    "Figures of the six failure modes (Failure Modes in Reflexive Agent Harnesses)",
    ("Only figures that another printed figure says something about are here.",),
)


@made_by_this
def failure_modes_table() -> Table:
    """Return the figures of the document itself that other printed figures give."""
    paper = load_paper(_SLUG)
    figures = [
        checked_figure(paper, figure, heading=figure.place)
        for figure in paper.figure
        if figure.derivations and not figure.id.startswith("runs.")
    ]
    return _FAILURE_MODES.table(finding(figures, "the document's own figures"), checked_rows(figures))


_CONTRADICTIONS = TableHead(
    "contradictions",
    _SLUG,
    "What does not fit together in the run tables (reflexive harness)",
    (
        "Differs: no values inside the rounding of the inputs print so. Impossible: no whole counts do.",
        "A suggestion is a small repair that would make the figures fit; only the authors can know.",
    ),
)


@made_by_this
def contradictions_table() -> Table:
    """Return the figures of the run tables that contradict other printed ones, the worst first."""
    figures = [figure for status in FAILED for figure in _run_figures((status,))]
    return _CONTRADICTIONS.table(finding(figures, "the run tables that failed"), checked_rows(figures))


_RUNS = TableHead(
    "runs",
    _SLUG,
    "What fits together in the run tables, and what cannot be told (reflexive harness)",
    (
        "Places are pages of the project's journal; a figure printed on two pages is compared with itself.",
        "A range comes from the rounding of printed inputs, such as hours with one decimal, not from sampling.",
    ),
)


@made_by_this
def runs_table() -> Table:
    """Return the figures of the run tables that others give or leave open, run by run."""
    figures = _run_figures(("reproduced", "underdetermined"))
    return _RUNS.table(finding(figures, "the run tables that did not fail"), checked_rows(figures))


def _run_figures(statuses: Sequence[Status]) -> list[CheckedFigure]:
    paper = load_paper(_SLUG)
    shown_before = {f"runs.{key}.{part}" for key, part in _FIX_RATES.items()}
    figures = [
        checked_figure(
            paper, figure, f"{_without_run(figure.row)}, {figure.column} ({figure.place})", name, statuses=statuses
        )
        for key, name in RUNS.items()
        for figure in paper.figure
        if figure.id.startswith(f"runs.{key}.") and figure.id not in shown_before and figure.derivations
    ]
    return [one for one in figures if one.checks]


def _without_run(row: str) -> str:
    return row.partition(": ")[2] or row


_SLUG_of_mechanisms = "reflexive"
_REFLECTIONS = "runs.v2.reflections_failure_modes_doc"
_REPEATED = "runs.v2.plateau_rate_real"
_RULES = "runs.v2.rules_completed"

_PLATEAU_SHARES = {
    "runs.v2.plateau_rate_real": "Repeats, by inspection of reflections",
    "runs.v2.plateau_rate_new_detector_replayed": "Rules with three or more reflections that the new detector flags",
    "runs.v2.detector_accuracy_narrative": "Called the detector's accuracy",
    "runs.v2.plateau_rate_real_narrative": "Repeats, told once more",
}
"""Figures that print one number → the quantity that each place names."""

_EQUALITY = {
    "runs.v2.plateau_rate_string_equality": "Flagged by equality of strings, of reflections",
    "runs.v2.plateau_rate_string_equality.journey_14": "Flagged by equality of strings, told as a count",
}
_GUESS = {
    "runs.v2.plateau_rate_real_guess.low": "Repeats, guessed before anybody looked: lower end",
    "runs.v2.plateau_rate_real_guess.high": "Repeats, guessed before anybody looked: upper end",
}

_BUDGETS = {
    "runs.planned.time_budget_per_rule": "Time for a rule",
    "runs.planned.safety_cap_per_rule": "Most attempts at a rule",
    "runs.before.max_retries_per_rule": "Most attempts at a rule, before the time budget",
    "runs.v3.max_attempts_of_a_remediated_rule": "Most attempts that fixed a rule (v3)",
    "runs.v3.remediated_at_exactly_2_attempts": "Rules fixed at the second attempt (v3)",
    "runs.v2.remediations_at_attempt_2_or_later": "Rules fixed after the first attempt (v2)",
}

_WALL = ("wall_time_per_completed", "wall_time_per_escalated", "avg_attempts_on_completed", "avg_attempts_on_escalated")
_SPENT = {
    "v3": ("time_per_remediated_rule", "time_per_escalated_rule", None, None),
    "run3": _WALL,
    "run4": _WALL,
    "run5": (None, None, None, "per_escalated_attempts"),
}
"""Run → its figures of seconds and attempts for a fixed and for an escalated rule."""

_SPENT_NAMES = ("Seconds, fixed", "Seconds, escalated", "Attempts, fixed", "Attempts, escalated")

_OUTCOMES = {
    "run1": {"remediated": "Fixed", "escalated": "Escalated", "skipped": "Skipped"},
    "run5": {"scorecard.remediated": "Fixed", "scorecard.escalated": "Escalated", "scorecard.skipped": "Skipped"},
    "run6": {"scorecard.remediated": "Fixed", "scorecard.escalated": "Escalated", "scorecard.skipped": "Skipped"},
}
"""Complete runs whose three outcomes are printed as counts → the figure of each."""

_STEPS = {
    "runs.planned.stig_rules": "Rules of the standard",
    "runs.run6.scorecard.total_rules": "Attempted",
    "runs.run6.scorecard.remediated": "Fixed",
}

_CATEGORY_RUNS = ("v3", "run1", "run2", "run3")


_PLATEAU = TableHead("plateau", _SLUG_of_mechanisms, "Reflections that repeat themselves (reflexive harness, v2)")


@made_by_this
def plateau_table() -> Table:
    """Return how many reflections repeat earlier ones: the printed shares, with intervals if a count is printed."""
    paper = load_paper(_SLUG_of_mechanisms)
    n = int(paper[_REFLECTIONS].number)
    named = [checked_figure(paper, paper[key], name, _printed_as(paper)) for key, name in _PLATEAU_SHARES.items()]
    unique, sudo = (paper[f"runs.v2.{part}"] for part in ("unique_first_sentences", "reflections_citing_sudo"))
    repeated, group, most = paper[_REPEATED], f"Of {n} reflections", _most_flagged(paper)
    share = paper["blindness.sudo.share"]
    rows = [
        *checked_rows(named),
        # The true one of the counts that print so is not printed.
        *(
            _with_counts(f"If {count} of {n} repeat", count, n, f"prints as {repeated.printed}", _printed_as(paper))
            for count in _possible(repeated, n)
        ),
        *_of_other_units(paper),
        published_row(unique, "First sentences that occur once", group=group),
        _with_counts("Share of first sentences that occur once", int(unique.number), n, unique.place, group),
        *checked_rows([checked_figure(paper, share, "Reflections that cite sudo", group, with_count=True)]),
        *_equality_rows(paper, most),
    ]
    citing = wilson(int(sudo.number), n)
    return _PLATEAU.table(
        (
            f"{repeated.printed} is printed in {len(_PLATEAU_SHARES)} places, not of the same thing; of {n} "
            f"reflections it is {_ends(_possible(repeated, n))}, while {unique.printed} first sentences are "
            f"unique and {with_interval(citing, 'share')} of the reflections cite sudo. Equality of three in a row "
            f"could flag {number_text(most / n, 'share')} at most, in whatever order they came."
        ),
        rows,
        (
            f"Unique first sentences leave at most {n - int(unique.number)} of {n} reflections that open like another; "
            "one reader judged by inspection which ones repeat, and the rule is not printed.",
            f"At most {most}: of {unique.printed} different sentences one occurs {most + 2} times, all in a row, and "
            f"its first two have no two equal ones before them; if {unique.printed} occur once, it is {most - 1}.",
            f"How many rules have three or more reflections is not printed; the run completed "
            f"{paper[_RULES].printed} rules. The whole of an accuracy is not printed either.",
            "Intervals are Wilson's; reflections on one rule are not independent, so they are too narrow.",
        ),
    )


def _of_other_units(paper: Paper) -> list[Row]:
    repeated, rules, group = paper[_REPEATED], paper[_RULES], _printed_as(paper)
    pairs = [f"{x} of {n}" for n in range(1, int(rules.number) + 1) for x in _possible(repeated, n)]
    counted = _text_row(
        f"Counts that print so of rules, of which there are {rules.printed} at most",
        ", ".join(pairs),
        group,
        f"prints as {repeated.printed}",
    )
    accuracy = Row(
        "Counts that print so of an accuracy",
        None,
        evidence="recomputed",
        status="underdetermined",
        reason="An accuracy needs what was judged and the truth of it, of which neither is printed.",
        unit="share",
        group=group,
    )
    return [counted, accuracy, *(published_row(paper[key], name, group="Guessed") for key, name in _GUESS.items())]


def _most_flagged(paper: Paper) -> int:
    """Return how many reflections equality could flag at most: all repeats are of one sentence, in a row."""
    n, unique = (int(paper[key].number) for key in (_REFLECTIONS, "runs.v2.unique_first_sentences"))
    return max(0, n - unique + 1 - (int(paper["novelty.window"].number) - 1))


def _equality_rows(paper: Paper, most: int) -> list[Row]:
    n, group = int(paper[_REFLECTIONS].number), "Flagged by equality of three in a row"
    none = paper["runs.v2.plateau_rate_string_equality"]
    source = f"{most} / {n}, from the unique first sentences"
    return [
        *(published_row(paper[key], name, group=group) for key, name in _EQUALITY.items()),
        _text_row(f"Counts of {n} that print as {none.printed}", _ends(_possible(none, n)), group, none.place),
        estimate_row("Most that it could flag", Estimate(most / n, n=n), "share", group, source, "recomputed"),
    ]


def _text_row(quantity: str, counts: str, group: str, source: str) -> Row:
    return Row(quantity, counts, evidence="recomputed", source=source, unit="text", group=group)


def _possible(figure: Figure, n: int) -> range:
    return counts_that_print(figure.digits, n)


def _ends(counts: Sequence[int]) -> str:
    return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _printed_as(paper: Paper) -> str:
    return f"Printed as {paper[_REPEATED].printed}"


def _with_counts(quantity: str, count: int, n: int, place: str, group: str) -> Row:
    return estimate_row(quantity, wilson(count, n), "share", group, f"{count} / {n}, {place}", evidence="recomputed")


_BUDGETS_TABLE = TableHead(
    "budgets",
    _SLUG_of_mechanisms,
    "Budgets, and what rules took of them (reflexive harness)",
    (
        "The budget is tested before an attempt, never within one: a rule may take longer.",
        "Mean attempts of escalated rules may be one short where the architect gave up before an attempt.",
    ),
)


@made_by_this
def budget_table() -> Table:
    """Return the time and attempts that a rule may take and those that fixed and escalated rules took."""
    paper = load_paper(_SLUG_of_mechanisms)
    rows = [published_row(paper[key], name, group="What a rule may take") for key, name in _BUDGETS.items()]
    rows += [
        published_row(paper[f"runs.{run}.{part}"], name, group=RUNS[run])
        for run, parts in _SPENT.items()
        for part, name in zip(parts, _SPENT_NAMES, strict=True)
        if part is not None
    ]
    ratios = {name: _ratios(paper, places) for name, places in _RATIOS.items()}
    seconds = ratios["Seconds, escalated over fixed"]
    least, most = (pick(seconds, key=lambda run: seconds[run]) for pick in (min, max))
    return _BUDGETS_TABLE.table(
        (
            f"A rule that was given up took {seconds[least]:.1f} ({RUNS[least]}) to "
            f"{seconds[most]:.1f} ({RUNS[most]}) times as long as one that was fixed, of a budget of "
            f"{number_text(paper['runs.planned.time_budget_per_rule'].number, 'seconds')}; only means are printed, and "
            "no interval follows from them."
        ),
        (
            *rows,
            *(
                Row(
                    name, ratios[name][run], evidence="recomputed", source=_spent(paper, run, at).place, group=RUNS[run]
                )
                for run in _SPENT
                for name, (at, _) in _RATIOS.items()
                if run in ratios[name]
            ),
        ),
    )


_RATIOS = {"Seconds, escalated over fixed": (0, 1), "Attempts, escalated over fixed": (2, 3)}
"""Ratio of escalated to fixed rules → their places in `_SPENT`."""


def _ratios(paper: Paper, places: tuple[int, int]) -> dict[str, float]:
    return {
        run: _spent(paper, run, places[1]).number / _spent(paper, run, places[0]).number
        for run, parts in _SPENT.items()
        if all(parts[place] is not None for place in places)
    }


def _spent(paper: Paper, run: str, place: int) -> Figure:
    return paper[f"runs.{run}.{_SPENT[run][place]}"]


_OUTCOMES_TABLE = TableHead(
    "outcomes",
    _SLUG_of_mechanisms,
    "What became of the rules, run by run (reflexive harness)",
    (
        "A rule that was skipped was not fixed: out of all rules the shares are below the printed ones.",
        "Each run is one run, and its rules are not independent of each other: the intervals are too narrow.",
    ),
)


@made_by_this
def outcome_table() -> Table:
    """Return the outcomes of the rules of each complete run that prints them: counts, and the share fixed of all."""
    paper = load_paper(_SLUG_of_mechanisms)
    n = int(paper["runs.planned.stig_rules"].number)
    rows: list[Row] = []
    counts: list[Row] = []
    shares: dict[str, Estimate] = {}
    for run, parts in _OUTCOMES.items():
        figures = {name: paper[f"runs.{run}.{part}"] for part, name in parts.items()}
        printed = [published_row(figure, name, group=RUNS[run]) for name, figure in figures.items()]
        rows += printed
        counts += printed
        count, place = int(figures["Fixed"].number), figures["Fixed"].place
        rows.append(_with_counts("Fixed, of all rules of the standard", count, n, place, RUNS[run]))
        shares[RUNS[run]] = wilson(count, n)
    first, *_, last = shares
    return _OUTCOMES_TABLE.table(
        (
            f"Of all {n} rules, {first} fixed {with_interval(shares[first], 'share')} and {last} fixed "
            f"{with_interval(shares[last], 'share')}."
        ),
        rows,
        drawn=counts,
    )


def last_run_steps() -> list[Row]:
    """Return the last complete run's rules: all, attempted, fixed; for a funnel."""
    paper = load_paper(_SLUG_of_mechanisms)
    return [published_row(paper[key], name) for key, name in _STEPS.items()]


_CATEGORIES = TableHead("categories", _SLUG_of_mechanisms, "Rules fixed, by category and run (reflexive harness)")


@made_by_this
def category_table() -> Table:
    """Rules fixed by category and run, as printed, with intervals where counts are printed."""
    paper = load_paper(_SLUG_of_mechanisms)
    rows: list[Row] = []
    counted: dict[tuple[str, str], Estimate] = {}
    for run in _CATEGORY_RUNS:
        for category in _categories(paper):
            share, count, n = (_maybe(paper, run, category, part) for part in ("share", "count", "n"))
            if share is not None:
                rows.append(published_row(share, category, group=RUNS[run]))
            if share is not None and count is not None and n is not None:
                row = _with_counts(category, int(count.number), int(n.number), count.place, RUNS[run])
                rows.append(structs.replace(row, figures=count.named))
                counted[category, RUNS[run]] = wilson(int(count.number), int(n.number))
    least, most = (
        f"{with_interval(counted[place], 'share')} ({', '.join(place)})"
        for place in (pick(counted, key=lambda place: counted[place].value or 0) for pick in (min, max))
    )
    return _CATEGORIES.table(
        (
            f"Where counts are printed, the share of rules fixed goes from {least} to {most}; "
            "the same category differs between runs as well."
        ),
        rows,
        (
            f"Counts are printed for {len(counted)} of {len(rows) - len(counted)} shares; the others have no interval.",
            "v3 tried part of the rules and Runs 1 to 3 all; categories without a printed share are left out.",
        ),
    )


def category_shares() -> tuple[list[list[float | None]], list[str], list[str]]:
    """Return category by run: printed shares of rules fixed, `None` if none is printed; with both lists of names."""
    paper = load_paper(_SLUG_of_mechanisms)
    categories = _categories(paper)
    figures = [[_maybe(paper, run, category, "share") for run in _CATEGORY_RUNS] for category in categories]
    shares = [[None if share is None else share.number for share in row] for row in figures]
    return shares, categories, [RUNS[run] for run in _CATEGORY_RUNS]


def _categories(paper: Paper) -> list[str]:
    openings = tuple(f"runs.{run}.categories." for run in _CATEGORY_RUNS)
    named = [figure.id.split(".")[3] for figure in paper.figure if figure.id.startswith(openings)]
    return [in_words(name) for name in dict.fromkeys(named)]


def _maybe(paper: Paper, run: str, category: str, part: str) -> Figure | None:
    wanted = f"runs.{run}.categories.{category.replace(' ', '_')}.{part}"
    return next((figure for figure in paper.figure if figure.id == wanted), None)


_MEMORY = {
    "runs.run1.lessons_stored": "Lessons stored",
    "runs.run1.lessons_surfaced_in_prompt": "Lessons shown at once",
}


@made_by_this
def memory_table() -> Table:
    """Return how many lessons the original stored and showed, as printed."""
    paper = load_paper(_SLUG_of_mechanisms)
    stored, shown = (paper[key].printed for key in _MEMORY)
    return TableHead("memory", _SLUG_of_mechanisms, "Lessons that are stored, and those that are shown").table(
        f"The original stored {stored} lessons and showed {shown} at once.",
        (published_row(paper[key], name, group="As printed") for key, name in _MEMORY.items()),
    )
