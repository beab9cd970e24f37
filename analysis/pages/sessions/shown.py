"""A flagged session as the page opens it, made while the session is in memory."""

from collections.abc import Collection

from misstep.analysis.pages.browser.embedding import embedded
from misstep.analysis.pages.browser.shown_run import EVIDENCE_SHOWN, shown_run
from misstep.harness.trajectory import Trajectory

SESSION_CHARACTERS = 24_000
"""How many characters of the texts of a session that are not evidence are shown."""

_EVIDENCE_CHARACTERS = 96_000
"""How many characters of evidence are shown at most if every step of it has one long text."""


def show_session(session: Trajectory, evidence: Collection[int]) -> str:
    """Return a session with its evidence in full and the rest shortened, as the content of a script element."""
    most = min(EVIDENCE_SHOWN, _EVIDENCE_CHARACTERS // max(len(evidence), 1))
    return embedded(shown_run(session, evidence, SESSION_CHARACTERS, evidence_shown=most))
