"""Run `python -m benchmarks fuzz [--n N] [--seed S] [--only NUMBER]`: mutated recordings through everything."""

_SHOWN = 40
_EVERY = 2_000
