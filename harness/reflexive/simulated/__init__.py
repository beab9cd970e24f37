"""A machine in memory with work items of known difficulty, and agents that work on it: for the ablation and for tests.

Nothing here is measured on anything real. What the machine forbids is drawn from a seed; what the agents do follows
from their seed and from what they are shown, never from what was drawn.
"""
