"""Run benchmarks of this folder: `python -m benchmarks [NAME…]`, or one with options: `… fuzz --n 100000 --seed 0`.

A benchmark of speed is a module with `main`, which measures and prints; a package is run as it is.
"""

import pkgutil
import subprocess
import sys
from itertools import takewhile

import benchmarks

_MEASURE = """
from benchmarks.measuring import machine
from benchmarks.{} import main
print(machine(), flush=True)
main()
"""


def main(arguments: list[str]) -> None:
    """Run the benchmarks of these names, all if none is named; options go to each of them."""
    known = list(pkgutil.iter_modules(benchmarks.__path__))
    runnable = [module.name for module in known if module.ispkg or module.name.endswith("_speed")]
    names = list(takewhile(lambda argument: not argument.startswith("-"), arguments))
    if unknown := sorted(set(names) - set(runnable)):
        sys.exit(f"no benchmark {', '.join(unknown)}. Known: {', '.join(runnable)}.")
    if arguments and not names:
        sys.exit(f"options without a benchmark. Known: {', '.join(runnable)}.")
    for name in names or runnable:
        print(f"\n== {name}", flush=True)
        started = ["-c", _MEASURE.format(name)] if name.endswith("_speed") else ["-m", f"benchmarks.{name}"]
        subprocess.run([sys.executable, *started, *arguments[len(names) :]], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
