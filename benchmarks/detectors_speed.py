"""Measure our rules and OpenHands' stuck detector on the same generated runs: alarms, delay, milliseconds a step."""

from misstep.analysis.measures.alarms import alarms, alarms_table
from misstep.analysis.pages import table_text
from misstep.studies.sessions.watching import STUCK, watched_generated

NUMBER, SEED = 2000, 1


def main() -> None:
    """Print the table."""
    runs, milliseconds = watched_generated(NUMBER, SEED)
    table = alarms_table(
        "detectors",
        "Detectors of stuck agents on the same generated runs",
        alarms(runs),
        sources=dict.fromkeys(STUCK.values(), f"generated, seed {SEED}, n {NUMBER}"),
        evidence="generated",
        milliseconds=milliseconds,
    )
    print(table_text(table))
