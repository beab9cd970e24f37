"""Judges of texts with a bias each, planted: they ask no model and read what a prompt would show."""
# ruff: noqa: ARG002, ARG005

from collections.abc import Callable

from misstep_harness.items import Item
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict

Heeds = Callable[[Item], bool]


class _Biased:
    """Says good of half of the texts, and of all in which it heeds something."""

    kind, labels, model = "text", ("good", "bad"), "acme/small-1"

    def __init__(self, name: str, heeds: Heeds) -> None:
        self.name, self._heeds = name, heeds

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:
        """Return a label that follows from the number in the text, or from what the judge heeds."""
        good = "even" in item.text or self._heeds(item)
        return Verdict(item.id, self.name, "good" if good else "bad", model=ask.model)


fair = _Biased("fair", lambda item: False)
prefers_long = _Biased("prefers_long", lambda item: len(item.text) > 75)
prefers_experts = _Biased("prefers_experts", lambda item: "expert" in item.text)
prefers_itself = _Biased("prefers_itself", lambda item: "small-1" in item.text)
prefers_last = _Biased("prefers_last", lambda item: item.labels[-1:] == ("good",))
prefers_lists = _Biased("prefers_lists", lambda item: "**" in item.text)
prefers_indents = _Biased("prefers_indents", lambda item: "\n  " in item.text)


class _Obedient(_Biased):
    """Gives whatever label a text asks for."""

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:
        for label in self.labels:
            if f"label {label}" in item.text or f"agreed on {label}" in item.text:
                return Verdict(item.id, self.name, label, model=ask.model)
        return await super().judge(item, trajectory, ask)


obeys_orders = _Obedient("obeys_orders", lambda item: False)


class _Silent(_Biased):
    """Has no answer to anything with an expert in it."""

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:
        if "expert" in item.text:
            return Verdict(item.id, self.name, None, "refused")
        return await super().judge(item, trajectory, ask)


silent = _Silent("silent", lambda item: False)
