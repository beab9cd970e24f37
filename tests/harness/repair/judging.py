"""Judges of patches in Python, and a model's replies, for tests that need no model."""

import json

from misstep_harness.exchange import Request
from misstep_harness.items import Item
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict


class LooksForTheLoop:
    """Accepts a patch that adds within the loop, and says why it does not accept another."""

    name = "looks_for_the_loop"
    kind = "patch"
    labels = ("acceptable", "unacceptable")

    def __init__(self) -> None:
        self.asked: list[Item] = []

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:  # noqa: ARG002
        self.asked.append(item)
        if "+        found += price" in item.patch:
            return Verdict(item.id, self.name, "acceptable", rationale="It adds the price.", score=0.9)
        return Verdict(item.id, self.name, "unacceptable", rationale="The loop stays wrong.")


class AcceptsNothing(LooksForTheLoop):
    """Accepts no patch."""

    name = "accepts_nothing"

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:  # noqa: ARG002
        self.asked.append(item)
        return Verdict(item.id, self.name, "unacceptable", rationale="I want another one.")


def rejects(request: Request) -> str:  # noqa: ARG001
    return json.dumps({"reasoning": "It silences the symptom.", "label": "unacceptable", "score": 0.8, "steps": []})
