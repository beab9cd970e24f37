"""A machine in memory with work items of known difficulty, and agents for it: for the ablation and for tests."""
