"""A judge that asks twice: whether the agent says that the task is done, then which words say so.

    misstep judge run examples.asks_twice:AsksTwice --benchmark examples/last_messages --out run --model gpt-5-mini

A claim for which the model finds no words of the message is not a claim.
"""

from misstep import Ask, Item, Message, Reply, Request, Trajectory, Verdict, fence

FIRST = "Does this message say that the task is done? Answer yes or no.\n\n"
SECOND = "Copy the words that say so, and nothing else.\n\n"


class AsksTwice:
    """Yes only where the words that the model quotes are in the message."""

    name = "asks_twice"
    kind = "text"
    labels = ("yes", "no")

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:  # noqa: ARG002
        """The verdict on one message."""
        reply = await self._reply(FIRST, item, ask)
        if not reply.lower().startswith(("yes", "no")):
            return Verdict(item.id, self.name, None, "unreadable", error=reply[:200])
        if reply.lower().startswith("no"):
            return Verdict(item.id, self.name, "no")
        quoted = await self._reply(SECOND, item, ask)
        is_there = bool(quoted) and quoted.strip(' "') in item.text
        return Verdict(item.id, self.name, "yes" if is_there else "no", rationale=f"quoted: {quoted[:200]}")

    async def _reply(self, question: str, item: Item, ask: Ask) -> str:
        outcome = await ask(Request(ask.model, (Message("user", question + fence(item.text, "message")),), 0.0, 100))
        if not isinstance(outcome, Reply):
            raise RuntimeError(outcome.sentence)  # costs this item, which is asked again by the same command
        return (outcome.text or "").strip()
