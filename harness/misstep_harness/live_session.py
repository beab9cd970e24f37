"""One session of an experiment with a running agent: the injected faults, the counts, and the observer's part.

The agent, its tools and its tests are run; its user and the misbehaviour are scripted, so that the truth is known.
Steps are counted from 0 through the whole run, its prompts and guidance included, as in `ObservedRun`.
"""

from typing import Literal

from msgspec import Struct

from misstep_harness.intervention import ObservedRun
from misstep_harness.trajectory import Trajectory

LiveArm = Literal["control", "shadow", "guide"]
"""The observer of a session's agent: no observer, one that only detects, or one that also speaks."""

Heeds = Literal["follows", "ignores", "half"]
"""An agent's reaction to guidance: `half` breaks off and soon falls back."""

EpisodeEnd = Literal["itself", "guidance", "engineer", "session"]
"""The end of a misbehaviour; with `session` it lasted until the run was over."""


class Episode(Struct, frozen=True, omit_defaults=True):
    """One injected fault as it took place.

    - `category`: What it is.
    - `onset`, `last`: The steps of its first and last command. What an agent falls back into is an episode of its own.
    - `ended`: What ended it.
    - `would_last`: After how many of its commands it was to end by itself; `None` if it would go on until the session
      ends.
    - `relapse`: Whether the agent fell back into it after guidance that it heeded by half.
    """

    category: str
    onset: int
    last: int
    ended: EpisodeEnd
    would_last: int | None = None
    relapse: bool = False


class LiveSession(Struct, frozen=True, omit_defaults=True):
    """The result of one session.

    - `item`, `seed`: The session's id, and the seed of all that was drawn for it.
    - `arm`, `unit`: What it was assigned to, and whose assignment it is: a session's own, or its engineer's.
    - `version`: The version of the agent, which decides how often it misbehaves and how it complies.
    - `n_steps`: The agent's commands.
    - `calls`, `failed_calls`: Commands entered, and those whose result is an error. A failed test run is none.
    - `input_tokens`, `output_tokens`: Counted from the texts, four characters a token: each command is asked for with
      the whole run so far.
    - `seconds`: Counted as well, from tokens and commands, so that the machine's load has no part in it.
    - `engineer_interventions`: Turns of the simulated engineer: one whenever a misbehaviour has lasted as long as his
      patience, in which he stops it, and one behind the run where its result is not what he asked for.
    - `solved`: Whether the requested change is there, with no other file changed, and the tests pass; `None` if
      unknown.
    - `ended`: Why the loop ended: `exit`, `iterations`, `seconds` or `stopped`.
    - `heeds`: What the agent does with guidance.
    - `episodes`: The injected faults that took place; there may be none.
    - `observed`: What the observer did; `None` without one.
    - `last_step`: The last step of the run.
    - `trajectory`: The run, where it is kept.
    """

    item: str
    arm: LiveArm
    unit: str
    version: str
    seed: int
    n_steps: int
    calls: int
    failed_calls: int
    input_tokens: int
    output_tokens: int
    seconds: float
    engineer_interventions: int
    solved: bool | None
    ended: str
    heeds: Heeds = "follows"
    episodes: tuple[Episode, ...] = ()
    observed: ObservedRun | None = None
    last_step: int | None = None
    trajectory: Trajectory | None = None
