"""Two judges of pairs without a model: one prefers the longer output, one the first unless it is much shorter.

misstep judge run examples.longer_output:Longer --benchmark pairs --out longer
"""

from misstep import Ask, Item, Trajectory, Verdict


class Longer:
    """The longer output is better."""

    name = "longer"
    kind = "pair"
    labels = ("a", "b", "tie")
    lead = 0
    """How many characters the first output may be shorter and still be preferred."""

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:  # noqa: ARG002
        """The verdict on a pair; which output is A and which is B changes with the order."""
        ahead = len(item.output_a) + self.lead - len(item.output_b)
        label = "a" if ahead > 0 else "b" if ahead < 0 else "tie"
        return Verdict(item.id, self.name, label, rationale=f"{len(item.output_a)} and {len(item.output_b)} characters")


class FirstUnlessShort(Longer):
    """A planted preference for the first place."""

    name = "first_unless_short"
    lead = 40
