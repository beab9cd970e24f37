"""Live sessions as sessions of an experiment."""

from collections.abc import Iterable

from misstep.analysis.measures.experiments.sessions import ExperimentSession
from misstep.harness.records.live_session import LiveSession


def of_live(sessions: Iterable[LiveSession]) -> list[ExperimentSession]:
    """Return what each live session counts for; tokens are those read and those written."""
    return [
        ExperimentSession(
            one.item,
            one.unit,
            one.arm,
            failed_calls=one.failed_calls,
            calls=one.calls,
            tokens=one.input_tokens + one.output_tokens,
            seconds=one.seconds,
            engineer_interventions=one.engineer_interventions,
        )
        for one in sessions
    ]
