"""What came of one attempt to repair one case: the noun that repair runs record and analysis reads."""

from msgspec import Struct

from misstep.harness.records.intervention import ObservedRun
from misstep.harness.trajectory import Trajectory

NOT_AFFIRMED, FLAKY = "not_affirmed", "flaky"
"""How an attempt ended whose case does not hold, or whose oracle does not answer alike each time."""

SUITE, HELD_OUT_TESTS = "suite", "held_out"
"""The validators that ask tests beside the oracle's: those of the tree, and those that no agent sees."""

UNCHANGED_TESTS = "unchanged_tests"
"""The validator that asks the oracle's tests as they were, of a patch that changes them."""

PATCH_JUDGE = "patch_judge"
"""The validator that is a judge of patches."""

REVERT = "revert"
"""The validator that compares a patch with the blamed change: a remark to a reviewer, as a right patch may undo it."""


class Signal(Struct, frozen=True, omit_defaults=True):
    """What one validator says of a patch.

    `passed` is `None` where it could not tell; `score` is between 0 and 1 where it measures; `text` says why.
    """

    validator: str
    passed: bool | None
    text: str = ""
    score: float | None = None

    @property
    def answer(self) -> str:
        """Return the answer in words."""
        if self.passed is None:
            return "could not tell"
        return "passed" if self.passed else failed_word(self.validator)


def failed_word(validator: str) -> str:
    """Return what a validator that does not pass a patch says of it."""
    return "undoes the change" if validator == REVERT else "failed"


def signal_line(signal: Signal, most: int = 2_000) -> str:
    """Return a signal on one line: the validator, its answer, its score, and at most so many characters of its text."""
    text = " ".join(signal.text.split())
    said = f" ({text if len(text) <= most else f'{text[:most]}…'})" if text else ""
    score = "" if signal.score is None else f", {signal.score:.2f}"
    return f"{signal.validator}: {signal.answer}{score}{said}"


class RepairAttempt(Struct, frozen=True, omit_defaults=True):
    """What came of one attempt.

    - `case`, `policy`, `setting`, `format`, `sample`: Which case, who decided, with which feedback, in which edit
      format, and which of several runs it is.
    - `solved`: Whether the oracle's tests pass with the patch each time; `None` where the case could not be affirmed or
      scored.
    - `patched`: Whether the agent wrote a patch at all, applied or not (the paper's patch generation rate).
    - `error`: Why the run or the scoring broke; empty where it did not.
    - `iterations`, `seconds`, `input_tokens`, `output_tokens`, `cost_usd`: What it took; tokens are `None` where no
      model was asked.
    - `ended`: How the run ended: `exit`, `iterations`, `seconds`, `stopped`; `not_affirmed` and `flaky` are of its
      case.
    - `patch`: The change as a unified diff.
    - `rules`: By which rule each edit was applied; `refused` is how many were not.
    - `signals`: What the validators say.
    - `observed`: What an observer beside the agent did; `None` where there was none.
    """

    case: str
    policy: str
    setting: str
    format: str
    sample: int = 0
    solved: bool | None = None
    patched: bool = False
    error: str = ""
    iterations: int = 0
    seconds: float = 0.0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    ended: str = ""
    patch: str = ""
    rules: tuple[str, ...] = ()
    refused: int = 0
    signals: tuple[Signal, ...] = ()
    trajectory: Trajectory | None = None
    observed: ObservedRun | None = None

    @property
    def id(self) -> str:
        """Return the name of the attempt in a run."""
        return attempt_id(self.case, self.policy, self.setting, self.format, self.sample)


def attempt_id(case: str, policy: str, setting: str, edit_format: str, sample: int) -> str:
    """Return the name of an attempt: what it is of, and which of several it is."""
    return f"{case}/{policy}/{setting}/{edit_format}/{sample}"
