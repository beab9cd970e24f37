"""Say what the answer of a search for a change rests on, and what it assumes."""

from collections.abc import Mapping, Sequence

from misstep_harness.repair.failure_bot.change_search import Bisection
from misstep_harness.repair.failure_bot.repository import Commit

NO_TIME = "no change is blamed: the tests do not end within their time at several commits"
_UNSHALLOW = "The clone is shallow: `git fetch --unshallow` brings the commits before."
_LONGEST = 160


def note_of(answer: Bisection, history: Sequence[Commit], message: str, messages: Mapping[str, str]) -> str:
    """Return what an answer assumes, or why it blames nobody; `messages` are of commits that fail otherwise."""
    parts = _blamed(answer) if answer.change else [_nobody(answer, history)]
    if answer.change and answer.earlier:
        commits = _names(answer.earlier)
        other = next((messages[commit.id] for commit in answer.earlier[::-1] if commit.id in messages), "")
        said = f": {_short(other)} there, {_short(message)} today" if other else ""
        parts.append(f"The test has failed since {commits}, but the messages differ{said}.")
    if history[0].is_cut and not answer.passes:
        parts.append(_UNSHALLOW)
    return " ".join(parts)


def _blamed(answer: Bisection) -> list[str]:
    before = answer.before
    there = "the last commit that was seen to pass" if answer.passes else "where today's failure was not seen"
    since = f" after {before.short}, {there}" if before else ""
    parts = [
        f"It assumes a single change from passing to this failure{since}, and independent runs:"
        " one rate of failing before the change, a higher one from it on."
    ]
    count, run = answer.later
    if count:
        parts.append(f"Of {count} later commit{'s' * (count > 1)} {run} {'was' if run == 1 else 'were'} run.")
    return parts


def _nobody(answer: Bisection, history: Sequence[Commit]) -> str:
    if not answer.decided:
        return f"no change is blamed: {answer.runs} runs do not tell which (the likeliest has {answer.posterior:.0%})."
    if answer.changes:
        names = _names(answer.changes)
        why = "No run tells which, as the tests cannot be run there."
        return f"one of {len(answer.changes)} changes is to blame: {names}. {why}"
    began = answer.began
    if began is not None and began != history[0]:
        return f"no change is to blame: the test never passed. It has failed so since {_names([began])}."
    ends = history[0].is_cut or bool(history[0].parents)
    where = f"in the {len(history)} commits that were searched" if ends else "in the history"
    return f"no change is to blame: the test never passed {where}."


def _names(commits: Sequence[Commit]) -> str:
    return ", ".join(f"{commit.short} ({commit.subject}, by {commit.author})" for commit in commits)


def _short(message: str) -> str:
    line = next((line.strip() for line in message.splitlines() if line.strip()), "")
    return f"`{line[:_LONGEST]}`"
