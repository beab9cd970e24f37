"""What an agent sees in a turn: named parts under a budget of tokens, made anew for each turn."""

from misstep_harness.reflexive.context.accumulated import accumulated
from misstep_harness.reflexive.context.assembling import assembled

__all__ = ["accumulated", "assembled"]
