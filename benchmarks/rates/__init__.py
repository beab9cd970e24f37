"""How well a client keeps to a limit on rates that moves: `python -m benchmarks rates`."""
