"""Our rules and OpenHands' stuck detector on the same generated runs: alarms, delay, and milliseconds a step.

A step's time is that of the replay: the detector's answer where it is asked, and the observer's own work.
"""

from benchmarks.measuring import machine
from misstep.analysis.measures.alarms import alarms, alarms_table
from misstep.analysis.pages import table_text
from misstep.studies.sessions.watching import STUCK, watched_generated

NUMBER, SEED = 2000, 1


def main() -> None:
    """Generate, watch, print the table."""
    runs, milliseconds = watched_generated(NUMBER, SEED)
    table = alarms_table(
        "detectors",
        "Detectors of stuck agents on the same generated runs",
        alarms(runs),
        sources=dict.fromkeys(STUCK.values(), f"generated, seed {SEED}, n {NUMBER}"),
        evidence="generated",
        milliseconds=milliseconds,
    )
    print(machine())
    print(table_text(table))


if __name__ == "__main__":
    main()
