"""How long 40 planted cases take to build and to repair without a model: `python -m benchmarks repair_speed`.

The cases are a fixed sample of the shipped recipes; packages that are not available are downloaded. The agent is the
policy `search` in the full setting, two cases at a time, for which two cores have to be free.
"""

import json
import tempfile

from benchmarks.measuring import machine, measure, misstep, verdict

CASES, BOUND_SECONDS = 40, 480.0


def main() -> None:
    """Print what building and repairing take."""
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        cases, run = f"{folder}/cases", f"{folder}/run"
        built = measure(misstep("repair", "build", "--set", "tf", "--n", CASES, "--out", cases))
        print(f"{CASES} cases built in {built.seconds:.0f} s")
        taken = measure(misstep("repair", "run", cases, "--out", run, "--workers", 2, "--json"))
    rate = json.loads(taken.output)["solve_rate"]
    print(f"{CASES} cases repaired in {taken.seconds:.0f} s {verdict(taken.seconds, BOUND_SECONDS)}")
    print(f"solved {rate['value']:.1%} (95% interval {rate['low']:.1%} to {rate['high']:.1%})")


if __name__ == "__main__":
    main()
