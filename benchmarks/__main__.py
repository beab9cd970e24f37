"""Run every benchmark in this folder: `python -m benchmarks [NAME…]`."""

import pkgutil
import subprocess
import sys

import benchmarks


def main(asked: list[str]) -> None:
    """Run the benchmarks of these names, all where none is named."""
    known = list(pkgutil.iter_modules(benchmarks.__path__))
    runnable = [module.name for module in known if module.ispkg or module.name.endswith("_speed")]
    unknown = sorted(set(asked) - set(runnable))
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}. Known: {', '.join(runnable)}.")
    for name in asked or runnable:
        print(f"\n== {name}", flush=True)
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
