"""Open what `misstep repair run` asks of models: the policy, the judge of patches, and their client."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

from misstep.options.common import refuse_given
from misstep.options.groups import OptionGroup
from misstep.options.model import MODEL_OPTIONS, ModelOptions, client_settings, with_local_model
from misstep.options.sandbox import ObserveOptions
from misstep_harness.errors import UsageError

if TYPE_CHECKING:
    from misstep_harness.clients import ClientSettings
    from misstep_harness.judges.runnable import RunnableJudge
    from misstep_harness.observer.observer import LiveObservation
    from misstep_harness.repair.repairers import RepairerOptions


class AgentOptions(OptionGroup, frozen=True):
    """The options of the policy."""

    panel = "Agent"
    policy: Annotated[
        str,
        typer.Option(
            help="Policy that chooses commands: search (no model), model, direct (one edit, no loop), "
            "or package.module:name."
        ),
    ] = "search"
    edit_format: Annotated[
        str, typer.Option("--format", help="Edit format: search_replace, unified_diff, line_diff or patch_envelope.")
    ] = "search_replace"
    temperature: Annotated[float | None, typer.Option(min=0, help="Temperature of the model.")] = None
    functions: Annotated[
        bool, typer.Option("--functions", help="Offer the commands to the model as functions, not as text.")
    ] = False
    change_tests: Annotated[
        bool,
        typer.Option("--change-tests", help="Let the agent change tests; its patch is scored with them, and flagged."),
    ] = False
    patcher_model: Annotated[
        str, typer.Option(metavar="M", help="Model that writes the edits of the policy `model`; by default --model.")
    ] = ""
    instructions_from: Annotated[
        Path | None, typer.Option(metavar="RUN", help="Run of `repair instructions` with the texts for --instructions.")
    ] = None
    seed: int = 0


def refuse_ignored(
    context: typer.Context, policy: str, patch_judge: str, observe: str, instructions: str | None, *, unsafe: bool
) -> None:
    """Refuse the options that nothing would read: of a model where none is asked, of another policy, of a sandbox."""
    from misstep_harness.repair.repairers import ASK_NO_MODEL

    if policy in ASK_NO_MODEL:
        others_ask = patch_judge or _asks_a_model(observe)
        ignored = {"temperature", "functions"} if others_ask else MODEL_OPTIONS
        refuse_given(context, ignored, f"the policy {policy} asks no model")
    if policy == "search":
        refuse_given(context, {"change_tests"}, "the policy `search` changes no test")
    if policy == "direct":
        ignored = {"setting", "iterations", "functions"}
        refuse_given(context, ignored, "the policy `direct` writes one edit and is told nothing back")
        if instructions is None:
            advice = "Name their kind: --instructions high-level or detailed."
            raise UsageError("the policy `direct` needs instructions", advice)
    if policy in {*ASK_NO_MODEL, "direct"}:
        refuse_given(context, {"patcher_model"}, "the policy `model` alone has a model beside that of its edits")
    if unsafe:
        refuse_given(context, {"sandbox"}, "--unsafe-no-sandbox uses none")


def _asks_a_model(detector: str) -> bool:
    if not detector:
        return False
    from misstep_harness.observer.detectors import asks_a_model

    return asks_a_model(detector)


class PatchJudgeOptions(OptionGroup, frozen=True):
    """The judge of patches and its model."""

    panel = "Patch judge"
    patch_judge: Annotated[
        str,
        typer.Option(metavar="JUDGE", help="Judge of the patches, as in `judge run`; patch_judge is the shipped one."),
    ] = ""
    judge_model: Annotated[
        str, typer.Option(metavar="M", help="Model of the patch judge; by default its own, then --model.")
    ] = ""

    def judge(self, known: ModelOptions, *, alone: bool) -> "tuple[RunnableJudge | None, str | None]":
        """Return the judge of patches, and the address of its model; `alone` says that nothing else asks one."""
        if not self.patch_judge:
            if self.judge_model:
                raise UsageError("--judge-model without a judge", "Name the judge with --patch-judge.")
            return None, None
        from misstep_harness.repair.patch_judge import fitted_to_patches
        from misstep_harness.runs.judging.known_judges import known_judge

        if known.local and self.judge_model:
            raise UsageError("--local has its own model", "Leave out --judge-model.")
        model = self.judge_model or (known.model if known.local else "")
        judge = known_judge(self.patch_judge, model=model, base_url=known.base_url)
        if not judge.model:
            judge = known_judge(self.patch_judge, model=known.model, base_url=known.base_url)
        address = judge.base_url
        if address and address != known.base_url and not alone:
            advice = "One server answers the agent and the judge: name it with --base-url."
            raise UsageError(f"the judge {judge.name} names a server of its own, {address}", advice)
        return fitted_to_patches(judge), address


class OpenAgent(Struct, frozen=True):
    """The options of the policy, the judge of patches, the observer, and the client of all three."""

    options: "RepairerOptions"
    client: "ClientSettings"
    patch_judge: "RunnableJudge | None"
    observation: "LiveObservation | None"


@contextmanager
def opened(
    agent: AgentOptions, asking: ModelOptions, patches: PatchJudgeOptions, observing: ObserveOptions
) -> Iterator[OpenAgent]:
    """Open all that asks a model; the local model runs inside the block."""
    from misstep_harness.agent.protocols import Form, ModelSettings
    from misstep_harness.repair.repairers import ASK_NO_MODEL, RepairerOptions

    if agent.policy in ("model", "direct") and not (asking.model or asking.local):
        advice = "Name one with --model, or --local for a test of the set-up."
        raise UsageError(f"the policy `{agent.policy}` needs a model", advice)
    if asking.local and agent.patcher_model:
        raise UsageError("--local has its own model", "Leave out --patcher-model.")
    with with_local_model(asking) as known:
        form: Form = "functions" if agent.functions else "text"
        name = "" if agent.policy in ASK_NO_MODEL else known.model
        settings = ModelSettings(name, agent.temperature, seed=agent.seed, form=form)
        options = RepairerOptions(agent.edit_format, settings, agent.seed, agent.patcher_model)
        observation = observing.observation(known.model)
        judge, address = patches.judge(known, alone=not name and not (observation and observation.model))
        yield OpenAgent(options, client_settings(known, address), judge, observation)
