"""Options of `misstep reflect run`, and the agents of a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from misstep.options.common import refuse_given
from misstep.options.groups import OptionGroup
from misstep.options.model import MODEL_OPTIONS, ModelOptions, client_settings, with_local_model
from misstep_harness.errors import UsageError

if TYPE_CHECKING:
    from misstep_harness.reflexive import protocols
    from misstep_harness.reflexive.records import LoopSettings
    from misstep_harness.reflexive.runs.running import ChosenAgents

Skill = Annotated[
    str, typer.Argument(metavar="[SKILL]", help="Skill: simulated, repair, command, or package.module:name.")
]
_LOCAL_REPLY, _LOCAL_ROOM = 64, 1_200
"""The tokens of a reply and of a context for the local model, which sees 4,096 in all."""


class OwnWork(OptionGroup, frozen=True):
    """The user's own work, for the skills that need some."""

    panel = "Work of your own"
    cases: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of repair cases, for the skill `repair`.")
    ] = None
    target: Annotated[
        Path | None, typer.Option(metavar="FILE.toml", help="Checkout, items and checks, for the skill `command`.")
    ] = None


class ItemBudget(OptionGroup, frozen=True):
    """What one item may take."""

    panel = "Budget of an item"
    item_seconds: Annotated[
        float,
        typer.Option(min=1, metavar="S", help="Time limit per item, in seconds on the run's clock."),
    ] = 1200.0
    attempts: Annotated[int, typer.Option(min=1, metavar="N", help="Limit of attempts per item.")] = 100
    tokens: Annotated[int | None, typer.Option(min=1, metavar="N", help="Limit of tokens per item.")] = None
    usd: Annotated[float | None, typer.Option(min=0, metavar="X", help="Cost limit per item, in US dollars.")] = None
    strategist_seconds: Annotated[
        float, typer.Option(min=0, metavar="S", help="Time an item must have left for the strategist to be asked.")
    ] = 120.0
    failures_between: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of failures in a row after which the strategist is asked.")
    ] = 3

    def settings(self, plateau: str, without: frozenset[str]) -> "LoopSettings":
        """Return the settings of a loop in which each item may take so much."""
        from misstep_harness.reflexive.records import ItemLimits, LoopSettings

        return LoopSettings(
            item=ItemLimits(self.item_seconds, self.attempts, self.tokens, self.usd),
            failures_between=self.failures_between,
            least_seconds_to_re_engage=self.strategist_seconds,
            plateau=plateau,
            without=without,
        )


def separate(option: str, named: list[str] | None) -> list[str]:
    """Return the names that were given one by one, or several with commas between."""
    names = [name for one in named or () for part in one.split(",") if (name := part.strip())]
    if named and not names:
        raise UsageError(f"{option} names nothing", "Name something, or leave the option out.")
    return names


def refuse_ignored(context: typer.Context, skill: str, *, asks_model: bool, unsafe: bool = False) -> None:
    """Refuse the options that the skill, or agents that ask no model, would not read."""
    if skill == "simulated":
        refuse_given(context, {"cases", "target"}, "the skill simulated has items of its own")
    if skill in ("repair", "command"):
        refuse_given(context, {"target" if skill == "repair" else "cases"}, f"the skill {skill} has no use for it")
    if skill == "simulated":
        refuse_given(context, {"sandbox", "unsafe_no_sandbox"}, "the skill simulated runs no commands")
    if unsafe:
        refuse_given(context, {"sandbox"}, "--unsafe-no-sandbox uses none")
    if not asks_model:
        refuse_given(context, MODEL_OPTIONS, "the agents ask no model")


@contextmanager
def chosen(
    skill: "protocols.Skill",
    name: str,
    seed: int,
    temperature: float | None,
    asking: ModelOptions,
    settings: "LoopSettings",
    spent: float,
) -> "Iterator[tuple[ChosenAgents, LoopSettings]]":
    """Return the agents by their name and the dials that fit them; the local model runs inside the block.

    What the run has `spent` already counts towards the cost limit.
    """
    from misstep_harness.agent.protocols import ModelSettings
    from misstep_harness.clients.recording import open_replay
    from misstep_harness.reflexive.runs.running import MODEL, agents_of_model, agents_of_skill

    has_model = bool(asking.model or asking.local or asking.replay is not None)
    if has_model and name not in ("", MODEL):
        raise UsageError(f"--agents {name} asks no model", "Leave out --agents, or the options of the model.")
    if name == MODEL and not has_model:
        message = "the agents `model` need a model"
        raise UsageError(message, "Name one with --model, or --local for a test of the set-up.")
    if asking.replay is not None and not (asking.model or asking.local):
        message = "--replay finds the answers of a model by its name"
        raise UsageError(message, "Name the model that was recorded with --model.")
    if not has_model:
        yield agents_of_skill(skill, name, seed), settings
        return
    with with_local_model(asking) as known:
        options = ModelSettings(known.model, temperature, max_tokens=1_024, seed=seed)
        if asking.local:
            options = replace(options, max_tokens=_LOCAL_REPLY)
            settings = replace(settings, context_tokens=dict.fromkeys(settings.context_tokens, _LOCAL_ROOM))
        client = replace(client_settings(known), spent_usd=spent)
        if client.replay is not None:
            open_replay(client)  # a recording that cannot be read is told before a run begins
        yield agents_of_model(options, client), settings
