"""Make repairers by the names of their policies, from the case as its setting allows it to be seen."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.agent.protocols import ModelSettings
from misstep_harness.edits import instructions
from misstep_harness.registry import Registry
from misstep_harness.repair.attempt import CaseWorkspace, MakeRepairer, Repairer
from misstep_harness.repair.case import instruction_of
from misstep_harness.repair.search.policy import search_repairer

if TYPE_CHECKING:
    from misstep_harness.agent.model_policy import ModelPatcher


class RepairerOptions(Struct, frozen=True):
    """What a policy is given.

    - `patcher_model`: The model of the patching sub-agent; by default the same.
    """

    edit_format: str = "search_replace"
    model: ModelSettings = ModelSettings()
    seed: int = 0
    patcher_model: str = ""


POLICIES: Registry[Callable[[RepairerOptions], MakeRepairer]] = Registry(
    "misstep.policies",
    {
        "direct": "misstep_harness.repair.repairers:direct",
        "model": "misstep_harness.repair.repairers:model",
        "search": "misstep_harness.repair.repairers:search",
    },
)
"""Name → dotted path of what makes repairers from options; entry points in the group add to it."""

ASK_NO_MODEL = frozenset({"search"})


def model(options: RepairerOptions) -> MakeRepairer:
    """Return a model that decides, and a model that writes the edits."""
    from misstep_harness.agent.model_policy import ModelPolicy

    return lambda place: Repairer(ModelPolicy(replace(options.model, sample=place.sample)), _patcher(options, place))


def direct(options: RepairerOptions) -> MakeRepairer:
    """Return the patching sub-agent alone, asked once with the instruction of a case."""
    from misstep_harness.agent.model_policy import DirectPolicy

    return lambda place: Repairer(DirectPolicy(*instruction_of(place.case)), _patcher(options, place))


def _patcher(options: RepairerOptions, place: CaseWorkspace) -> "ModelPatcher":
    from misstep_harness.agent.model_policy import ModelPatcher

    name = options.patcher_model or options.model.name
    settings = replace(options.model, name=name, sample=place.sample)
    return ModelPatcher(partial(instructions, options.edit_format), settings)


def search(options: RepairerOptions) -> MakeRepairer:
    """Return small changes where the failure leads, without a model."""
    return search_repairer(options.edit_format)
