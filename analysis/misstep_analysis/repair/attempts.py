"""Choose the attempts that count, group them by case, and count what became of their patches in review (table V).

An attempt at a case that was not affirmed, or whose oracle is flaky, counts nowhere. An attempt that broke before its
patch was scored has no label: the solve rate takes it as unsolved, and a second rate leaves it out.

An attempt counts once an event. One that was accepted, rejected or sent back was reviewed; what was reviewed or landed
was published, and what was published was generated, also where the log does not say so.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from misstep_analysis.stats.diagnostic import Confusion, precision, recall
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import Row, Table, TableHead, made_by_this, measured_on, rows_in
from misstep_analysis.tables.wording import counted_text, in_words, with_interval
from misstep_harness.escaping import plain
from misstep_harness.repair.records import EVENTS, FLAKY, NOT_AFFIRMED, PATCH_JUDGE, RepairAttempt, ReviewEvent

_SOURCE = "review log"
_MOST_NAMED = 10
_REJECTED = TableHead(
    "passing_but_rejected",
    "repair",
    "Patches that pass their tests and were rejected",
    ("The tests call every one of these patches right: what reviewers rejected is told by people alone.",),
)


def judge_against_oracle(attempts: Iterable[RepairAttempt]) -> Confusion:
    """Return how often the judge of patches calls a patch unacceptable, by whether the oracle's tests refuse it."""
    scored = (one for one in counted(attempts) if one.patched and one.solved is not None)
    return _judged(scored, lambda one: not one.solved)


def _judged(attempts: Iterable[RepairAttempt], is_bad: Callable[[RepairAttempt], bool]) -> Confusion:
    cells: Counter[tuple[bool, bool]] = Counter()
    for attempt in attempts:
        passed = next((signal.passed for signal in attempt.signals if signal.validator == PATCH_JUDGE), None)
        if passed is not None:
            cells[is_bad(attempt), not passed] += 1
    return Confusion(tp=cells[True, True], fp=cells[False, True], fn=cells[True, False], tn=cells[False, False])


class ReviewedPatches(Struct, frozen=True):
    """The patches that pass their tests and were decided on; `judge` compares the judge with the reviewers."""

    accepted: tuple[str, ...]
    rejected: tuple[str, ...]
    judge: Confusion

    @property
    def share_rejected(self) -> Estimate:
        """Return how many of them reviewers rejected, with Wilson's interval."""
        return wilson(len(self.rejected), len(self.accepted) + len(self.rejected))


class ReviewFunnel(Struct, frozen=True):
    """Which attempts came to which event, what follows from others added."""

    reached: dict[str, frozenset[str]]

    def count(self, event: str) -> int:
        """Return how many attempts came to an event."""
        return len(self.reached[event])

    def rate(self, event: str, of: str) -> Estimate:
        """Return how many of the attempts that came to `of` came to `event` as well, with Wilson's interval."""
        return wilson(len(self.reached[event] & self.reached[of]), self.count(of))


def reviewed_patches(attempts: Iterable[RepairAttempt], funnel: ReviewFunnel) -> ReviewedPatches:
    """Return the patches that pass their tests by what reviewers decided; a rejection ends a review."""
    refused = funnel.reached["rejected"]
    approvals = (funnel.reached["accepted"] | funnel.reached["landed"]) - refused
    decided = [attempt for attempt in counted(attempts) if attempt.solved and attempt.id in refused | approvals]
    accepted, rejected = (tuple(one.id for one in decided if one.id in names) for names in (approvals, refused))
    return ReviewedPatches(accepted, rejected, _judged(decided, lambda one: one.id in refused))


def reviewed_document(patches: ReviewedPatches) -> dict[str, Any]:
    """Return the same for scripts: counts, the names of the rejected, and the judge against the reviewers."""
    return {
        "accepted": len(patches.accepted),
        "rejected": len(patches.rejected),
        "share_rejected": patches.share_rejected,
        "attempts_rejected": list(patches.rejected),
        "judge": patches.judge,
        "judge_precision_unacceptable": precision(patches.judge),
        "judge_recall_unacceptable": recall(patches.judge),
    }


@made_by_this
def reviewed_table(patches: ReviewedPatches) -> Table:
    """Return how many passing patches reviewers rejected, and how many of either the judge would have held."""
    judge, rejected = patches.judge, patches.rejected
    counts = {"accepted": len(patches.accepted), "rejected": len(rejected)}
    shares = {
        "calls unacceptable, of those rejected": recall(judge),
        "calls unacceptable, of those accepted": wilson(judge.fp, judge.fp + judge.tn),
        "rejected, of those that it calls unacceptable": precision(judge),
    }
    rows = rows_in("count", counts, "Patches that pass their tests", _SOURCE)
    rows += rows_in("share", shares, "The judge of patches", _SOURCE) if judge.n else []
    named = ", ".join(rejected[:_MOST_NAMED]) + (", …" if len(rejected) > _MOST_NAMED else "")
    notes = [f"Rejected: {named}."] if rejected else []
    notes += [] if judge.n else ["No judge of patches was asked about them."]
    share, finding = patches.share_rejected, "Reviewers have decided on no patch that passes its tests."
    if share.n:
        noun = "patch that passes" if share.n == 1 else "patches that pass"
        finding = f"Reviewers rejected {with_interval(share, 'share')} of {share.n:,} {noun} the tests."
    return _REJECTED.table(finding, rows, notes)


_COMPARED = ("solved", "patched", "iterations", "ended")
"""What an attempt made again has in common with the first; its seconds are another machine's."""

_REPEATED = TableHead(
    "repeated_repairs",
    "engineering_agent",
    "Recorded repairs made again",
    (
        "Of each recording the case that took least time is repaired again. Compared are whether it was "
        "solved, whether there was a patch, the number of commands and how the attempt ended.",
    ),
)


class Repeat(Struct, frozen=True):
    """An attempt made again, and what is on record of it in the recording of a name."""

    again: RepairAttempt
    recorded: RepairAttempt | None
    name: str

    @property
    def differences(self) -> list[str]:
        """In what it differs from the recording, a sentence each."""
        text = plain(self.again.id)
        if self.recorded is None:
            return [f"{text} is not in the recording {plain(self.name)}."]
        pairs = [(name, getattr(self.again, name), getattr(self.recorded, name)) for name in _COMPARED]
        return [f"{text}: {name} is {now}, and {was} in the recording." for name, now, was in pairs if now != was]


Evidence = Literal["generated", "real"]


class RepairArm(Struct, frozen=True):
    """The attempts of one policy in one setting and edit format on one set of cases.

    - `attempts`: All of them, also those that do not count; of two with one id the last.
    - `version`: What tells the cases' contents from others.
    - `instructions`: How the cases say what to do (`high-level`, `detailed`); empty if they do not differ in it.
    - `instructions_by`: The model and prompt that wrote these from the fixes; empty for texts that the cases came with.
    """

    name: str
    policy: str
    setting: str
    format: str
    attempts: tuple[RepairAttempt, ...]
    benchmark: str = ""
    version: str = ""
    instructions: str = ""
    evidence: Evidence = "real"
    dataset: str = ""
    instructions_by: str = ""
    model: str = ""

    @property
    def author(self) -> str:
        """Return the policy, with the model that it asks."""
        return f"{self.policy} with {self.model}" if self.model else self.policy

    @property
    def instructions_author(self) -> str:
        """Return who wrote the instructions: a model, the templates of planted faults, or the cases' maker."""
        if not self.instructions:
            return ""
        own = "templates" if self.evidence == "generated" else "the cases' maker"
        return self.instructions_by.partition(",")[0] or own


def repeats(recorded: RepairArm, again: RepairArm) -> list[Repeat]:
    """Return the attempts of a run made again, of which the recording may have more."""
    before = {attempt.id: attempt for attempt in recorded.attempts}
    return [Repeat(attempt, before.get(attempt.id), recorded.name) for attempt in again.attempts]


@made_by_this
def repeated_table(runs: Sequence[tuple[RepairArm, RepairArm]], absent: str = "") -> Table:
    """Return what came of each attempt when it was recorded and when it was made again."""
    pairs = [(recorded, repeat) for recorded, again in runs for repeat in repeats(recorded, again)]
    same = sum(not repeat.differences for _, repeat in pairs)
    finding = f"{same} of {counted_text(len(pairs), 'recorded attempt')} made again came out as recorded."
    return _REPEATED.table(
        finding if pairs else f"No recorded repair was made again. {absent}".rstrip(),
        (row for arm, repeat in pairs for row in _rows(arm, repeat)),
        (sentence for _, repeat in pairs for sentence in repeat.differences),
        datasets=(arm.dataset for arm, _ in pairs if arm.dataset),
    )


def _rows(arm: RepairArm, repeat: Repeat) -> list[Row]:
    group = f"{arm.policy} on {arm.benchmark}, {arm.setting}"
    rows = [
        row
        for source, attempt in (("recorded", repeat.recorded), ("made again", repeat.again))
        if attempt is not None
        for row in rows_in("text", {repeat.again.case: _attempt_text(attempt)}, group, source, arm.evidence)
    ]
    return measured_on(arm.dataset, rows) if arm.dataset else rows


def _attempt_text(attempt: RepairAttempt) -> str:
    came = "solved" if attempt.solved else "patched" if attempt.patched else "no patch"
    ended = "" if attempt.ended == "exit" else f", ended by {attempt.ended or 'an error'}"
    return f"{came} in {counted_text(attempt.iterations, 'command')}{ended}"


_ANSWERS = ("accepted", "changes_requested", "rejected")
_SOURCE_of_attempts = "review log"

RATES = (
    ("published", "generated"),
    ("reviewed", "published"),
    ("accepted", "reviewed"),
    ("landed", "generated"),
    ("landed", "published"),
    ("landed", "reviewed"),
)
"""What is a share of what: both bases of a rate that papers print without saying which."""

_REVIEWS = TableHead(
    "reviews",
    "repair",
    "From generated to landed",
    (
        "An attempt counts once an event; of several answers to one patch each counts.",
        "Accepted, rejected and sent back imply reviewed; reviewed and landed imply published.",
    ),
)


def review_funnel(events: Iterable[ReviewEvent], generated: Iterable[str] = ()) -> ReviewFunnel:
    """Return the funnel of a review log."""
    reached: dict[str, set[str]] = {event: set() for event in EVENTS}
    reached["generated"].update(generated)
    for one in events:
        reached[one.event].add(one.attempt)
    reached["reviewed"].update(*(reached[event] for event in _ANSWERS))
    reached["published"] |= reached["reviewed"] | reached["landed"]
    reached["generated"] |= reached["published"]
    return ReviewFunnel({event: frozenset(attempts) for event, attempts in reached.items()})


def review_document(funnel: ReviewFunnel) -> dict[str, Any]:
    """Return the counts and rates for scripts: `counts` by event, `rates` as a list with what each is a share of."""
    return {
        "counts": {event: funnel.count(event) for event in EVENTS},
        "rates": [{"event": event, "of": of, "rate": funnel.rate(event, of)} for event, of in RATES],
    }


@made_by_this
def review_table(funnel: ReviewFunnel) -> Table:
    """Return counts from generated to landed, and rates with the base of each."""
    unreviewed = len(funnel.reached["landed"] - funnel.reached["reviewed"])
    notes = [f"Landed without a review on record: {unreviewed:,}."] if unreviewed else []
    return _REVIEWS.table(review_finding(funnel), _rows_of_reviews(funnel), notes, drawn=_steps(funnel))


def review_finding(funnel: ReviewFunnel) -> str:
    """Return what share landed, on both bases, in one sentence."""
    if not funnel.count("published"):
        return "No patch was published."
    of_published, of_reviewed = (with_interval(funnel.rate("landed", of), "share") for of in ("published", "reviewed"))
    return f"{of_published} of {funnel.count('published'):,} patches published landed, {of_reviewed} of those reviewed."


def _rows_of_reviews(funnel: ReviewFunnel, group: str = "") -> list[Row]:
    counts = {in_words(event): funnel.count(event) for event in EVENTS}
    rates = {f"{event} of {of}": funnel.rate(event, of) for event, of in RATES}
    return [
        *rows_in("count", counts, group or "Patches", _SOURCE_of_attempts),
        *rows_in("share", rates, group or "Rates", _SOURCE_of_attempts),
    ]


def _steps(funnel: ReviewFunnel) -> list[Row]:
    """Return the rows of a figure: each a part of the one before it."""
    steps = {event: funnel.count(event) for event in ("generated", "published", "reviewed")}
    steps["landed after a review"] = len(funnel.reached["landed"] & funnel.reached["reviewed"])
    return rows_in("count", steps, "", _SOURCE_of_attempts)


CUT_OFF = frozenset({"iterations", "seconds"})
_WITHOUT_ERROR = CUT_OFF | {"", "exit"}


def counted(attempts: Iterable[RepairAttempt]) -> list[RepairAttempt]:
    """Return the attempts at cases that hold, in order of case and number: of two with one id the last."""
    last = in_order(attempts)
    left_out = {attempt.case for attempt in last if attempt.ended in (NOT_AFFIRMED, FLAKY)}
    return [attempt for attempt in last if attempt.case not in left_out]


def in_order(attempts: Iterable[RepairAttempt]) -> list[RepairAttempt]:
    """Return attempts in order of case and number: of two with one id the last."""
    last = {attempt.id: attempt for attempt in attempts}
    return sorted(last.values(), key=lambda attempt: (attempt.case, attempt.sample, attempt.id))


def by_case(attempts: Iterable[RepairAttempt]) -> dict[str, list[RepairAttempt]]:
    """Case → its attempts, in order."""
    cases: dict[str, list[RepairAttempt]] = {}
    for attempt in attempts:
        cases.setdefault(attempt.case, []).append(attempt)
    return cases


def ended_as(end: str, attempts: Iterable[RepairAttempt]) -> list[RepairAttempt]:
    """Return the attempts that ended in one way, of two with one id the last."""
    last = {attempt.id: attempt for attempt in attempts}
    return [attempt for attempt in last.values() if attempt.ended == end]


def had_error(attempt: RepairAttempt) -> bool:
    """Return whether the run or its scoring broke, or it was stopped from outside; a limit reached is not an error."""
    return bool(attempt.error) or attempt.ended not in _WITHOUT_ERROR


def was_cut_off(attempt: RepairAttempt) -> bool:
    """Return whether the run reached its limit of iterations or seconds."""
    return attempt.ended in CUT_OFF


def ran(attempt: RepairAttempt) -> bool:
    """Return whether the agent ran at all, so that its iterations say something."""
    return bool(attempt.ended) or attempt.iterations > 0


def noted(attempt: RepairAttempt, name: str) -> int | None:
    """What an attempt's trajectory notes by a name: `test_runs` counted from its calls, others where recorded."""
    run = attempt.trajectory
    if run is None:
        return None
    value = run.extra.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if name == "test_runs" and run.steps:
        return sum(call.name == "run_tests" for step in run.steps for call in step.calls)
    return None


def solved_counts(cases: Mapping[str, Sequence[RepairAttempt]]) -> list[tuple[int, int]]:
    """Each case's number of attempts, and of solved ones."""
    return [(len(tries), sum(attempt.solved is True for attempt in tries)) for tries in cases.values()]
