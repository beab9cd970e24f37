"""What the observer writes.

What the observer's hook decided in a session that went on: a line of `observer/decisions.jsonl` in the cache folder.

The first line of a session says its arm alone, so that sessions without an intervention count as well. Each further
line is one intervention, said or only noted:

    {"session": "s1", "project": "/home/kim/app", "transcript": "/home/kim/.claude/projects/app/s1.jsonl",
     "unit": "s1", "experiment": "hook", "share": 0.5, "arm": "guide", "detector": "rules", "at": "2026-…Z"}
    {"session": "s1", …, "step": 12, "guidance": "<system-reminder>…", "intervention": {"misbehaviours": […], …}}
"""

from msgspec import Struct

from misstep_harness.intervention import Arm, Intervention
from misstep_harness.journal.records import Records
from misstep_harness.live_session import LiveSession

LIVE_RECORDS = Records(LiveSession, "live_sessions.jsonl", "session")
"""The sessions of an experiment."""

DECISIONS = "decisions.jsonl"
"""The name of the file, in the observer's part of the cache folder."""


class HookDecision(Struct, frozen=True, omit_defaults=True):
    """One decision of the hook.

    - `session`, `project`, `transcript`: As the agent's program names them: an id, its folder, its file.
    - `unit`, `experiment`, `share`: What the arm was drawn from, `hears_guidance(unit, experiment, share)`.
    - `arm`: `guide` where the agent hears guidance, `shadow` where it is only noted.
    - `detector`, `model`: Who was asked.
    - `at`: When, in UTC (ISO 8601).
    - `step`: The last step of the session when guidance was said, or would have been; `None` in a session's first line.
    - `guidance`: What was said, or would have been; empty where it was withheld in both arms alike.
    - `intervention`: What it is about; its `withheld` says why the agent did not hear it.
    """

    session: str
    project: str
    transcript: str
    unit: str
    experiment: str
    share: float
    arm: Arm
    detector: str
    at: str
    model: str = ""
    step: int | None = None
    guidance: str = ""
    intervention: Intervention | None = None
