"""Run benchmarks of this folder: `python -m benchmarks [NAME…]`, or one with options: `… fuzz --n 100000 --seed 0`."""

import pkgutil
import subprocess
import sys
from itertools import takewhile

import benchmarks

ONLY_WHEN_ASKED = frozenset({"flags", "rates"})
"""The benchmarks that wait on something for long."""


def main(arguments: list[str]) -> None:
    """Run the benchmarks of these names, all if none is named; options go to each of them."""
    known = list(pkgutil.iter_modules(benchmarks.__path__))
    runnable = [module.name for module in known if module.ispkg or module.name.endswith("_speed")]
    names = list(takewhile(lambda argument: not argument.startswith("-"), arguments))
    options = [
        word for place, word in enumerate(names) if place and any(one.startswith("-") for one in names[: place + 1])
    ]
    names = names[: len(names) - len(options)]
    unknown = sorted(set(names) - set(runnable))
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}. Known: {', '.join(runnable)}.")
    if arguments and not names:
        sys.exit(f"options without a benchmark. Known: {', '.join(runnable)}.")
    for name in names or [name for name in runnable if name not in ONLY_WHEN_ASKED]:
        print(f"\n== {name}", flush=True)
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *arguments[len(names) :]], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
