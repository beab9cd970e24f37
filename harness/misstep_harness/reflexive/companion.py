"""Plan, reflect and decide without a model: the roles beside a skill's own worker."""

import re

from misstep_harness.agent.turns import Turn
from misstep_harness.reflexive.protocols import Agent, Agents, Context

SECONDS = 5.0
"""How long a worker says that it thinks; on a virtual clock nothing else takes time."""

NO_MORE = "I know of no further change."

_MOST_OUTCOME = 300
_SAME = 3
_REFLECTION = re.compile(r"^reflection: (.*)$", re.MULTILINE)


class Companion:
    """Plans, reflects and decides by what its context says, without a model."""

    name = "companion"

    async def act(self, context: Context, turn: Turn) -> str:
        """Return what was done and found where it reflects, a verdict where one is asked for, else a plan."""
        await turn.think(SECONDS)
        if context.role == "reflector":
            outcome = " ".join(context.part("outcome").split())[:_MOST_OUTCOME]
            return f"{context.part('turn')} It did not mend the case: {outcome}"
        if context.role == "strategist":
            last = _REFLECTION.findall(context.part("history"))[-_SAME:]
            if NO_MORE in context.part("history"):
                return f"VERDICT: ESCALATE\nPLAN: {NO_MORE}"
            if len(last) == _SAME and len(set(last)) == 1:
                return f"VERDICT: ESCALATE\nPLAN: The same was tried {_SAME} times: {last[0]}"
            return "VERDICT: CONTINUE\nPLAN: Try the next change."
        return "Change the code that the failing tests lead to, and leave the tests as they are."


def agents_of(worker: Agent) -> Agents:
    """Return a worker with companions in the other roles."""
    companion = Companion()
    return Agents(companion, worker, companion, companion)
