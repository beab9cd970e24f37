"""Table 6, why agents recover and why not: printed, coded and planted shares."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from misstep_analysis.observer.recovery import heard_words
from misstep_analysis.observer.recovery_codes import OUTCOMES, Coded, Outcome, OutcomeCodes, code_book, outcome_codes
from misstep_analysis.published import load_paper, published_row
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import Row, Table, TableHead, estimate_row, made_by_this
from misstep_analysis.tables.wording import counted_text, with_interval
from misstep_harness.live_session import LiveSession

TITLES: dict[Outcome, str] = {"recovered": "Recovered", "not_recovered": "Not recovered"}

_BY_CATEGORY = {
    "infinite_loop": "recover_from_infinite_loops",
    "did_not_follow_instructions": "remind_original_task",
    "unrequested_changes": "ask_not_to_overdo",
    "tool_call_failure": "provide_right_tool_arguments",
}
"""Category → the effect of its guidance if the agent recovers."""


def planted_reasons(sessions: Iterable[LiveSession]) -> dict[Outcome, Counter[str]]:
    """Return outcome → code → interventions of live sessions, by the planted reason; no code is an empty one.

    A recovery has the code of its category. An agent that does not recover ignored guidance, or ended the task before
    the work was done.
    """
    reasons: dict[Outcome, Counter[str]] = {outcome: Counter() for outcome in OUTCOMES}
    for session in sessions:
        if session.observed is None:
            continue
        for number, recovered in heard_words(session).items():
            categories = session.observed.interventions[number].categories
            if recovered:
                # A change that was ruled out is of two categories: it is the change that the guidance takes back.
                known = [name for name in reversed(_BY_CATEGORY) if name in categories]
                reasons["recovered"][_BY_CATEGORY[known[0]] if known else ""] += 1
            else:
                reasons["not_recovered"][_why_not(session)] += 1
    return reasons


def _why_not(session: LiveSession) -> str:
    if session.heeds == "follows":
        return ""
    gave_up = session.ended == "exit" and any(one.ended == "session" for one in session.episodes)
    return "premature_termination" if gave_up else "ignored_instructions"


_RECOVERY_REASONS = TableHead("recovery_reasons", "wink", "Why agents recover after an intervention, and why not")


@made_by_this
def reasons_table(coded: Coded | None = None, live: Sequence[LiveSession] = (), source: str = "") -> Table:
    """Return table 6 in its kinds of evidence."""
    paper = load_paper("wink")
    planted = planted_reasons(live)
    by_people = {one.outcome: one for one in outcome_codes(coded)} if coded is not None else {}
    rows: list[Row] = []
    for outcome, codes in code_book().items():
        total = planted[outcome].total() - planted[outcome][""]
        for code, known in codes.items():
            printed = paper[known.printed]
            rows.append(published_row(printed, printed.row, group=TITLES[outcome]))
            shares = {"coded by people": by_people[outcome].shares[code]} if outcome in by_people else {}
            shares |= {source: wilson(planted[outcome][code], total)} if total else {}
            rows += [
                estimate_row(printed.row, share, "share", TITLES[outcome], of, "generated")
                for of, share in shares.items()
            ]
    return _RECOVERY_REASONS.table(_finding(by_people), rows, tuple(_notes(by_people, planted)))


def _finding(by_people: Mapping[Outcome, OutcomeCodes]) -> str:
    paper, sentences = load_paper("wink"), []
    for outcome, codes in code_book().items():
        most = max((paper[code.printed] for code in codes.values()), key=lambda figure: figure.number)
        sentence = f"{TITLES[outcome]}: the paper's most frequent reason is “{most.row}” ({most.printed}%)"
        coded = by_people.get(outcome)
        if coded is not None and coded.n:
            code, share = max(coded.shares.items(), key=lambda one: one[1].value or 0.0)
            name = paper[codes[code].printed].row
            sentence += f"; coded here most often is “{name}”: {with_interval(share, 'share')} of {coded.n:,}"
        sentences.append(sentence)
    return ". ".join(sentences) + "."


def _notes(by_people: Mapping[Outcome, OutcomeCodes], planted: Mapping[Outcome, Counter[str]]) -> Iterator[str]:
    yield "The paper prints no number of trajectories, so that its shares have no interval."
    for outcome, one in by_people.items():
        if one.agreement is not None:
            alpha = one.agreement.krippendorff_alpha
            known = with_interval(alpha, "coefficient") if alpha.value is not None else f"undefined: {alpha.reason}"
            left = f"; {counted_text(one.open, 'item')} left open" if one.open else ""
            yield f"{TITLES[outcome]}: Krippendorff's alpha of the coders before they settled is {known}{left}."
    if any(planted.values()):
        without = sum(counts[""] for counts in planted.values())
        fits = f" {counted_text(without, 'intervention')} fit no code." if without else ""
        yield (
            "Generated: interventions in live sessions of a scripted agent, whose reasons are known by construction; "
            f"they follow from what was planted, and confirm nothing of the paper.{fits}"
        )
