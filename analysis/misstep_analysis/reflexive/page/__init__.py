"""Pages of runs of the reflexive loop: items over time, and what happened in each attempt."""
