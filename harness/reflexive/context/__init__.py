"""What an agent sees in a turn: named parts under a budget of tokens, made anew for each turn.

`assembling` makes a context of parts in their order of priority, `accumulated` the one that grows with all that was
said before, and `cutting` shortens texts.
"""

from misstep.harness.reflexive.context.accumulated import accumulated
from misstep.harness.reflexive.context.assembling import assembled

__all__ = ["accumulated", "assembled"]
