"""A judge that is a prompt: one request a vote, all of an item's votes at once."""

import asyncio
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec
from msgspec import Struct

from misstep_harness.errors import UsageError
from misstep_harness.items import CATEGORY, Item, Kind, Question
from misstep_harness.judges.fit import fitted_to
from misstep_harness.judges.judge_file import JudgeSpec
from misstep_harness.judges.prompted import ask as requests_of
from misstep_harness.judges.prompted import verdict
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict

_DEFAULTS = (("api", "chat"), ("scores", "stated"))
"""What a run does not write down, so that runs of older versions go on."""


class PromptedJudge(Struct, frozen=True):
    """The judge of a TOML file, as the runner asks any judge."""

    spec: JudgeSpec
    uses_model: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """Return the name in the judge's file."""
        return self.spec.name

    @property
    def kind(self) -> Kind | Literal["any"]:
        """Return the kind of items that it is for."""
        return self.spec.kind

    @property
    def labels(self) -> Mapping[str, str]:
        """Return its labels, or those of the benchmark that it is fitted to."""
        return self.spec.labels

    @property
    def category(self) -> str:
        """Return the only category that it judges; empty where its file declares none."""
        return self.spec.category

    @property
    def prompt_name(self) -> str:
        """Return the name of the prompt alone."""
        return self.spec.prompt.name

    @property
    def sees_category(self) -> bool:
        """Return whether its prompt shows which category an item asks about."""
        return not self.spec.prompt.placeholders.isdisjoint(("item", CATEGORY))

    @property
    def votes(self) -> int:
        """Return how many requests an item takes."""
        return self.spec.votes

    @property
    def model(self) -> str:
        """Return the model that is asked."""
        return self.spec.model.name

    @property
    def base_url(self) -> str | None:
        """Return where its model is asked, where its file or the command line says so."""
        return self.spec.model.base_url

    @property
    def prompt(self) -> str:
        """Return the prompt by name, version and digest."""
        return self.spec.prompt.label

    def settings(self) -> dict[str, Any]:
        """Return the judge's digest, its prompt, its model and settings, its votes."""
        settings = msgspec.to_builtins(msgspec.structs.replace(self.spec.model, base_url=None))
        encoded = msgspec.json.encode(self.spec.examples)
        examples = {"examples": hashlib.sha256(encoded).hexdigest()[:12]} if self.spec.examples else {}
        return {
            "judge": self.spec.name,
            "judge_digest": self.spec.digest,
            "prompt": self.spec.prompt.label,
            "model": self.spec.model.name,
            "settings": {
                name: value for name, value in settings.items() if value is not None and (name, value) not in _DEFAULTS
            },
            "votes": self.spec.votes,
            "aggregate": self.spec.aggregate,
            **examples,
        }

    def reads_run(self, item: Item) -> bool:  # noqa: ARG002
        """Return that it looks at runs."""
        return True

    def skip_reason(self, item: Item) -> str:
        """Return an item with nothing to show is not asked about."""
        return item.skip_reason

    def fitted(self, question: Question, folder: Path) -> "PromptedJudge":
        """Return the judge with the labels and the question of a benchmark."""
        if not self.spec.model.name:
            raise UsageError(f"the judge {self.spec.name} names no model", "Name a model with --model.")
        return PromptedJudge(fitted_to(self.spec, question, folder))

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:
        """Ask for every vote, and take together what they say."""
        item_requests = requests_of(self.spec, item, trajectory)
        if len(item_requests.requests) == 1:
            outcomes = [await ask(item_requests.requests[0])]
        else:
            outcomes = await asyncio.gather(*map(ask, item_requests.requests))
        return verdict(self.spec, item_requests, outcomes)
