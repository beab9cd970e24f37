"""Run every benchmark in this folder: `python -m benchmarks [NAME…]`."""

import pkgutil
import sys
from importlib import import_module

import benchmarks


def main(asked: list[str]) -> None:
    """Run the benchmarks of these names, all where none is named."""
    known = [module.name for module in pkgutil.iter_modules(benchmarks.__path__)]
    runnable = [name for name in known if name.endswith(("_speed", "_validity"))]
    unknown = sorted(set(asked) - set(runnable))
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}. Known: {', '.join(runnable)}.")
    for name in asked or runnable:
        print(f"\n== {name}", flush=True)
        import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
