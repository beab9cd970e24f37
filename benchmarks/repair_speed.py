"""Measure building 40 planted cases and repairing them without a model: `python -m benchmarks repair_speed`.

Packages that are not available are downloaded, and two cores have to be free.
"""

import json
import tempfile

from benchmarks.measuring import measure, misstep, verdict

CASES, BOUND_SECONDS = 40, 480.0


def main() -> None:
    """Print what building and repairing take."""
    with tempfile.TemporaryDirectory() as folder:
        cases, run = f"{folder}/cases", f"{folder}/run"
        built = measure(misstep("repair", "build", "--set", "tf", "--n", CASES, "--out", cases))
        print(f"{CASES} cases built in {built.seconds:.0f} s")
        usage = measure(misstep("repair", "run", cases, "--out", run, "--workers", 2, "--json"))
    rate = json.loads(usage.output)["solve_rate"]
    print(f"{CASES} cases repaired in {usage.seconds:.0f} s {verdict(usage.seconds, BOUND_SECONDS)}")
    print(f"solved {rate['value']:.1%} (95% interval {rate['low']:.1%} to {rate['high']:.1%})")
